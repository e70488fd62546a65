//! Runs of pretokens → ids: the hot loop.
//!
//! Two passes over up to [`ENDS`] pretokens: first their keys are made and the cache lines they belong to are asked
//! for, then the lines are read. So the memory behind a large cache is waited for all at once. What both do is
//! compiled for the instruction set at hand, and a miss leaves it: so that nothing of a miss burdens a hit.

use super::Sink;
use super::cache::{FEW, Lines};
use super::lookup::Lookup;
use super::output::{Output, Staged};
use crate::error::Result;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::Key;
use crate::simd::{Job, Leaf};

/// Keys of a run and the lines that they belong to.
pub(super) struct Run {
    keys: [Key; ENDS],
    lines: [u32; ENDS],
}

impl Default for Run {
    fn default() -> Self {
        Run { keys: [Key::NONE; ENDS], lines: [0; ENDS] }
    }
}

/// Neighbouring ranges of a text, at most [`ENDS`]: the first starts at `start`, each goes up to its end.
#[derive(Clone, Copy)]
pub(super) struct Ranges<'a> {
    pub(super) text: &'a [u8],
    pub(super) start: usize,
    pub(super) ends: &'a [usize],
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
        mut missed: impl FnMut(&mut Lookup<'a>, &[u8], Key, &mut Output<'_, S>) -> Result<()>,
    ) -> Result<()> {
        let Ranges { text, start, ends } = ranges;
        let isa = lookup.isa;
        isa.run(Prepare { run: self, ranges, lines: lookup.cache().lines() });
        let mut at = 0;
        loop {
            output.reserve(FEW * ENDS);
            let (keys, homes) = (&self.keys[at..ends.len()], &self.lines[at..ends.len()]);
            let lines = lookup.cache().lines();
            let (hits, len) = if S::LOOKS {
                isa.run(Emit { keys, homes, lines, staged: &mut *output.staged, len: output.len })
            } else {
                isa.run(Count { keys, homes, lines, len: output.len })
            };
            output.len = len;
            at += hits;
            if at == ends.len() {
                return Ok(());
            }
            let from = if at == 0 { start } else { ends[at - 1] };
            missed(lookup, &text[from..ends[at]], self.keys[at], output)?;
            at += 1;
        }
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
    fn run<L: Leaf>(self, _: L) {
        let Prepare { run, ranges: Ranges { text, mut start, ends }, lines } = self;
        for ((&end, key), line) in ends.iter().zip(&mut run.keys).zip(&mut run.lines) {
            *key = Key::new(text, start, end);
            *line = lines.ask(*key);
            start = end;
        }
    }
}

/// The second pass, up to the first miss: how many hits there were, and how many ids wait now.
struct Emit<'a> {
    keys: &'a [Key],
    homes: &'a [u32],
    lines: Lines<'a>,
    staged: &'a mut Staged,
    len: usize,
}

impl Job for Emit<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Leaf>(self, leaf: L) -> (usize, usize) {
        let Emit { keys, homes, lines, staged, mut len } = self;
        for (at, (&key, &home)) in keys.iter().zip(homes).enumerate() {
            let (ids, count) = lines.find(leaf, key, home);
            if count.wrapping_sub(1) < FEW {
                len = staged.few(len, ids, count);
                continue;
            }
            if count == 0 {
                return (at, len);
            }
            match lines.many(ids, count).and_then(|ids| staged.many(len, ids)) {
                Some(end) => len = end,
                None => return (at, len),
            }
        }
        (keys.len(), len)
    }
}

/// [`Emit`] without the ids.
struct Count<'a> {
    keys: &'a [Key],
    homes: &'a [u32],
    lines: Lines<'a>,
    len: usize,
}

impl Job for Count<'_> {
    type Out = (usize, usize);

    #[inline(always)]
    fn run<L: Leaf>(self, leaf: L) -> (usize, usize) {
        let Count { keys, homes, lines, mut len } = self;
        for (at, (&key, &home)) in keys.iter().zip(homes).enumerate() {
            let (ids, count) = lines.find(leaf, key, home);
            if count == 0 || count > FEW && lines.many(ids, count).is_none() {
                return (at, len);
            }
            len += count;
        }
        (keys.len(), len)
    }
}
