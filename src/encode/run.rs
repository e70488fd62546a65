//! Runs of pretokens → ids: the hot loop.
//!
//! Three passes over up to [`ENDS`] pretokens. First their keys are made and the cache lines they belong to are asked
//! for, then the lines are read, and what is not there is left open; then those gaps are filled, in turn, with their
//! memory asked for beforehand, too. What the first two do is compiled for the instruction set at hand; a gap burdens
//! neither.

use super::Sink;
use super::cache::{Cache, Hint, Lines};
use super::line::FEW;
use super::lookup::{Lookup, Missed};
use super::output::Output;
use crate::error::Result;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::Key;
use crate::simd::{self, Job, Leaf};

/// Ids that the hits of a run have, at most.
const HITS: usize = FEW * ENDS;

/// Keys of a run, the lines that they belong to, and what was found there.
pub(super) struct Run {
    keys: [Key; ENDS],
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

impl<'a> Ranges<'a> {
    #[inline]
    fn get(&self, at: usize) -> &'a [u8] {
        let from = if at == 0 { self.start } else { self.ends[at - 1] };
        &self.text[from..self.ends[at]]
    }
}

impl Run {
    /// Adds the ids of all ranges; of those that are not in their line of the cache, `missed` does.
    ///
    /// # Errors
    /// What `missed` fails with.
    #[inline]
    pub(super) fn encode<'a, S: Sink>(
        &mut self,
        lookup: &mut Lookup<'a>,
        ranges: Ranges<'_>,
        output: &mut Output<'_, S>,
        mut missed: impl FnMut(&mut Lookup<'a>, Missed<'_>, &mut Output<'_, S>) -> Result<()>,
    ) -> Result<()> {
        let isa = lookup.isa;
        let cache = lookup.cache();
        isa.run(Prepare { run: self, ranges, lines: cache.lines() });
        let found = Find { run: self, ranges, cache };
        let (gap_count, len) = if S::LOOKS { isa.run(found) } else { isa.run(Count(found)) };
        let Run { keys, lines, ids, gaps, hints } = self;
        let gaps = &gaps[..gap_count];
        for &hint in &hints[..gap_count] {
            cache.seek(hint);
        }
        let mut done = 0;
        for (gap, &hint) in gaps.iter().zip(hints.iter()) {
            let (at, len) = (usize::from(gap.at), usize::from(gap.len));
            output.hits(ids, done, len);
            done = len;
            let pretoken = ranges.get(at);
            missed(lookup, Missed { pretoken, key: keys[at], home: lines[at], hint }, output)?;
        }
        output.hits(ids, done, len);
        Ok(())
    }
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
        let Prepare { run, ranges: Ranges { text, mut start, ends }, lines } = self;
        for ((&end, key), line) in ends.iter().zip(&mut run.keys).zip(&mut run.lines) {
            (*key, *line) = lines.ask(leaf, text, start, end);
            start = end;
        }
    }
}

/// The second pass: how many gaps there are, and how many ids.
struct Find<'a> {
    run: &'a mut Run,
    ranges: Ranges<'a>,
    cache: &'a Cache,
}

impl Find<'_> {
    /// `IDS`: whether ids are wanted, and not their number alone.
    #[inline(always)]
    fn find<const IDS: bool>(self) -> (usize, usize) {
        let Find { run: Run { keys, lines: homes, ids, gaps, hints }, ranges, cache } = self;
        let count = ranges.ends.len();
        let lines = cache.lines();
        let (mut gap_count, mut len) = (0, 0);
        for (at, (&key, &home)) in keys[..count].iter().zip(&homes[..count]).enumerate() {
            let Some((few, count)) = lines.find(key, home) else {
                gaps[gap_count % ENDS] = Gap { at: at as u16, len: len as u16 };
                hints[gap_count % ENDS] = cache.ask(key, home);
                gap_count += 1;
                continue;
            };
            if IDS {
                // All are written, since a copy of fixed size is one store; the next go over what is too much.
                simd::put(ids, len, few);
            }
            len += count;
        }
        (gap_count, len)
    }
}

impl Job for Find<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Leaf>(self, _: L) -> (usize, usize) {
        self.find::<true>()
    }
}

/// [`Find`] without the ids.
struct Count<'a>(Find<'a>);

impl Job for Count<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Leaf>(self, _: L) -> (usize, usize) {
        self.0.find::<false>()
    }
}
