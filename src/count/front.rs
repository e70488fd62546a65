//! The hot loop of counting: a small table of a worker's own.
//!
//! A line has room for two pretokens. What stands in its line already is counted; anything else takes the place of the
//! one that occurred less often, which goes on to the tables that all workers share. So the words that every text is
//! made of stay, and the rare ones pass by. Three passes over a run of pretokens: keys and lines; counts, without a
//! branch on what is found; the few others.

use std::ops::Range;

use super::slot::Slot;
use crate::error::Result;
use crate::memory::Table;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::Key;
use crate::simd::{self, Isa, Job, Leaf};

/// log2 of the most lines: eight megabytes. What is not here is two looks at far memory and a lock: of a gigabyte of text
/// a table of half a megabyte had so much of it that counting took twice as long.
const MOST: u32 = 17;
/// The same of a table that stays in a near cache, with room for the text. It is as quick for some megabytes of text, and
/// a larger one has to be cleared.
const NEAR: u32 = 13;

/// Two pretokens with their counts, one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line {
    keys: [[u64; 2]; 2],
    counts: [u64; 2],
    firsts: [u64; 2],
}

/// log2 of the lines that so many bytes of memory have room for.
pub(super) fn bits_of(memory: usize) -> u32 {
    (memory / size_of::<Line>()).max(1).ilog2()
}

/// log2 of the lines for so many bytes of text: a slot for eight of them; from some megabytes on, for 128.
pub(super) fn bits_for(text: u64) -> u32 {
    let near = (text / 16).max(64).ilog2().min(NEAR);
    (text / 256).max(1).ilog2().clamp(near, MOST)
}

impl Line {
    fn slot(&self, way: usize) -> Option<Slot> {
        let [low, high] = self.keys[way];
        (self.counts[way] > 0).then(|| Slot::short(Key { low, high }, self.counts[way], self.firsts[way]))
    }
}

/// See the module.
pub(super) struct Front {
    lines: Table<Line>,
    shift: u32,
    isa: Isa,
    keys: Box<[Key; ENDS]>,
    homes: Box<[u32; ENDS]>,
    missed: Box<[u16; ENDS]>,
}

/// A pretoken that was not in its place.
pub(super) struct Missed {
    /// Its number in the run.
    pub(super) at: usize,
    pub(super) key: Key,
    home: u32,
}

impl Front {
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(super) fn new(bits: u32) -> Result<Self> {
        Ok(Front {
            lines: Table::try_new(Line::default(), 1 << bits)?,
            shift: 64 - bits,
            isa: Isa::best(),
            keys: Box::new([Key::NONE; ENDS]),
            homes: Box::new([0; ENDS]),
            missed: Box::new([0; ENDS]),
        })
    }

    /// Counts a run: `ends` are those of neighbouring pretokens of `text`, the first of which begins at `start`.
    /// Returns how many were not in their place.
    #[inline]
    pub(super) fn count(&mut self, text: &[u8], start: usize, ends: &[usize]) -> usize {
        let Front { lines, shift, isa, keys, homes, missed } = self;
        let shift = *shift;
        isa.run(Prepare { keys, homes, lines, shift, text, start, ends });
        isa.run(Tally { keys: &keys[..ends.len()], homes, lines, missed })
    }

    /// The `number`-th of those.
    #[inline]
    pub(super) fn missed(&self, number: usize) -> Missed {
        let at = usize::from(self.missed[number]);
        Missed { at, key: self.keys[at], home: self.homes[at] }
    }

    /// Counts a pretoken that was not in its place, whose occurrence is at `first`; returns what has to leave for it.
    #[inline]
    pub(super) fn admit(&mut self, missed: &Missed, first: u64) -> Option<Slot> {
        let line = &mut self.lines[missed.home as usize];
        let key = [missed.key.low, missed.key.high];
        if let Some(way) = (0..2).find(|&way| line.keys[way] == key) {
            line.counts[way] += 1; // it came in earlier in the same run
            return None;
        }
        let way = usize::from(line.counts[1] < line.counts[0]);
        let left = line.slot(way);
        (line.keys[way], line.counts[way], line.firsts[way]) = (key, 1, first);
        left
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Empties some lines.
    pub(super) fn drain(&mut self, lines: Range<usize>) -> impl Iterator<Item = Slot> + '_ {
        let end = self.lines.len().min(lines.end);
        self.lines[lines.start..end]
            .iter_mut()
            .map(std::mem::take)
            .flat_map(|line| [line.slot(0), line.slot(1)])
            .flatten()
    }
}

/// The first pass.
struct Prepare<'a> {
    keys: &'a mut [Key; ENDS],
    homes: &'a mut [u32; ENDS],
    lines: &'a [Line],
    shift: u32,
    text: &'a [u8],
    start: usize,
    ends: &'a [usize],
}

impl Job for Prepare<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Leaf>(self, _: L) {
        let Prepare { keys, homes, lines, shift, text, mut start, ends } = self;
        for ((&end, key), home) in ends.iter().zip(keys).zip(homes) {
            *key = Key::new(text, start, end);
            *home = (key.hash() >> shift) as u32;
            simd::prefetch(lines, *home as usize);
            start = end;
        }
    }
}

/// The second: how many were not in their place, and which.
struct Tally<'a> {
    keys: &'a [Key],
    homes: &'a [u32; ENDS],
    lines: &'a mut [Line],
    missed: &'a mut [u16; ENDS],
}

impl Job for Tally<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<L: Leaf>(self, leaf: L) -> usize {
        let Tally { keys, homes, lines, missed } = self;
        let mut count = 0;
        for (at, (&key, &home)) in keys.iter().zip(homes).enumerate() {
            let line = &mut lines[home as usize];
            let way = leaf.which(&line.keys, [key.low, key.high], [u64::MAX; 2]);
            line.counts[way & 1] += u64::from(way < 2);
            missed[count & (ENDS - 1)] = at as u16;
            count += usize::from(way == 2);
        }
        count
    }
}
