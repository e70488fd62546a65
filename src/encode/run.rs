//! Runs of pretokens → ids: the hot loop.
//!
//! Three passes over up to [`ENDS`] pretokens. First their keys are made and the cache lines they belong to are asked
//! for, then the lines are read, and what is not there is left open; then those gaps are filled, in turn, with their
//! memory asked for beforehand, too. What the first two do is compiled for the instruction set at hand; a gap burdens
//! neither.

use super::Sink;
use super::cache::{Cache, Hint, Lines};
use super::line::{Line, MOST, Packing};
use super::lookup::{Lookup, Missed};
use super::output::{Among, Output};
use crate::error::Result;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::{Key, Length};
use crate::simd::{self, Isa, Job, Leaf};

/// Ids that the hits of a run have, at most.
const HITS: usize = MOST * ENDS + 1;

/// Keys of a run, the lines that they belong to, and what was found there.
pub(super) struct Run {
    keys: [Key; ENDS],
    lens: [Length; ENDS],
    lines: [u32; ENDS],
    ids: [u32; HITS],
    gaps: [Gap; ENDS],
    hints: [Hint; ENDS],
}

/// A pretoken that was not found: its number in the run, and how many ids those before it have that were.
#[derive(Clone, Copy, Default)]
struct Gap {
    at: u16,
    len: u16,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            keys: [Key::NONE; ENDS],
            lens: [Length::default(); ENDS],
            lines: [0; ENDS],
            ids: [0; HITS],
            gaps: [Gap::default(); ENDS],
            hints: [Hint::default(); ENDS],
        }
    }
}

/// Neighbouring ranges of a text, at most [`ENDS`]: the first starts at `start`, each goes up to its end.
#[derive(Clone, Copy)]
pub(super) struct Ranges<'a> {
    pub(super) text: &'a [u8],
    pub(super) start: usize,
    pub(super) ends: &'a [usize],
}

impl Ranges<'_> {
    /// Where one of them starts.
    #[inline]
    fn start_of(&self, at: usize) -> usize {
        if at == 0 { self.start } else { self.ends[at - 1] }
    }
}

impl Run {
    /// Adds the ids of all ranges; of those that are not in the cache, `missed` does.
    ///
    /// # Errors
    /// What `missed` fails with.
    #[inline]
    pub(super) fn encode<'a, S: Sink>(
        &mut self,
        lookup: &mut Lookup<'a>,
        ranges: Ranges<'_>,
        output: &mut Output<'_, S>,
        mut missed: impl FnMut(&mut Lookup<'a>, &Missed<'_>, &mut Output<'_, S>) -> Result<()>,
    ) -> Result<()> {
        let isa = lookup.isa;
        let cache = lookup.cache();
        isa.run(Prepare { run: self, ranges, lines: cache.lines() });
        let (gap_count, len) = self.find::<S>(isa, cache, ranges.ends.len());
        let Run { keys, lines, ids, gaps, hints, .. } = self;
        let gaps = &gaps[..gap_count];
        for &hint in &hints[..gap_count] {
            cache.seek(hint);
        }
        let Ranges { text, ends, .. } = ranges;
        let mut done = 0;
        for (gap, &hint) in gaps.iter().zip(hints.iter()) {
            let (at, len) = (usize::from(gap.at), usize::from(gap.len));
            output.add(hits(ids, done, len))?;
            done = len;
            let (start, end) = (ranges.start_of(at), ends[at]);
            let gap = Missed { text, start, end, key: keys[at], home: lines[at], hint };
            if !lookup.remembered(&gap, output)? {
                missed(lookup, &gap, output)?;
            }
        }
        output.add(hits(ids, done, len))
    }

    /// The second pass: how many gaps there are, and how many ids.
    fn find<S: Sink>(&mut self, isa: Isa, cache: &Cache, count: usize) -> (usize, usize) {
        let find = Find { run: self, count, cache };
        match (S::LOOKS, cache.packing()) {
            (false, _) => isa.run(Count(find)),
            (true, Packing::Narrow) => isa.run(Narrow(find)),
            (true, Packing::Wide) => isa.run(Wide(find)),
        }
    }
}

/// The ids of hits, from one place of them up to another.
#[inline(always)]
fn hits(ids: &[u32; HITS], from: usize, to: usize) -> Among<'_> {
    Among::new(ids, from, to - from).unwrap_or((&[][..]).into())
}

/// The first pass.
struct Prepare<'a> {
    run: &'a mut Run,
    ranges: Ranges<'a>,
    lines: Lines<'a>,
}

impl Job for Prepare<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Leaf>(self, leaf: L) {
        let Prepare { run, ranges: Ranges { text, start: first, ends }, lines } = self;
        // In a loop of their own they are made in vectors.
        let mut start = first;
        for (&end, len) in ends.iter().zip(&mut run.lens) {
            *len = Length::new(start, end);
            start = end;
        }
        start = first;
        for (((&end, key), line), &len) in ends.iter().zip(&mut run.keys).zip(&mut run.lines).zip(&run.lens) {
            (*key, *line) = lines.ask(leaf, text, start, end, len);
            start = end;
        }
    }
}

/// What the second pass needs.
struct Find<'a> {
    run: &'a mut Run,
    count: usize,
    cache: &'a Cache,
}

impl Find<'_> {
    /// `put` writes the ids of an entry.
    #[inline(always)]
    fn find(self, leaf: impl Leaf, put: impl Fn(&mut [u32; HITS], usize, &Line, usize)) -> (usize, usize) {
        let Find { run: Run { keys, lines: homes, ids, gaps, hints, .. }, count, cache } = self;
        let lines = cache.lines();
        let (mut gap_count, mut len) = (0, 0);
        for (at, (&key, &home)) in keys[..count].iter().zip(&homes[..count]).enumerate() {
            let (line, way) = lines.find(leaf, key, home);
            if let Some(way) = way
                && !line.has_many(way)
            {
                put(ids, len, line, way);
                len += line.count(way);
            } else {
                gaps[gap_count % ENDS] = Gap { at: at as u16, len: len as u16 };
                cache.ask(key, home, way, &mut hints[gap_count % ENDS]);
                gap_count += 1;
            }
        }
        (gap_count, len)
    }
}

/// [`Find`] with ids that are kept narrow.
struct Narrow<'a>(Find<'a>);

impl Job for Narrow<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Leaf>(self, leaf: L) -> (usize, usize) {
        // All are written, since a copy of fixed size is one store; the next go over what is too much.
        self.0.find(leaf, |ids, len, line, way| simd::put(ids, len, &line.narrow(way)))
    }
}

/// [`Find`] with ids that are kept wide.
struct Wide<'a>(Find<'a>);

impl Job for Wide<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Leaf>(self, leaf: L) -> (usize, usize) {
        self.0.find(leaf, |ids, len, line, way| simd::put(ids, len, line.wide(way)))
    }
}

/// [`Find`] without the ids.
struct Count<'a>(Find<'a>);

impl Job for Count<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Leaf>(self, leaf: L) -> (usize, usize) {
        self.0.find(leaf, |_, _, _, _| ())
    }
}
