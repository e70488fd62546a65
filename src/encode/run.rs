//! Runs of pretokens → ids: the hot loop.
//!
//! Two passes over up to [`ENDS`] pretokens: first their keys are made and the cache lines they belong to are asked
//! for, then the lines are read. So the memory behind a large cache is waited for all at once.

use super::Sink;
use super::cache::Cache;
use super::key::Key;
use super::lookup::Lookup;
use super::output::Output;
use crate::error::Result;
use crate::pretokenize::ENDS;

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

impl Run {
    /// Adds the ids of the pretokens of `text` that end at `ends`; the first starts at `start`.
    ///
    /// # Errors
    /// What a miss fails with.
    #[inline]
    pub(super) fn encode(
        &mut self,
        text: &[u8],
        mut start: usize,
        ends: &[usize],
        lookup: &mut Lookup<'_>,
        output: &mut Output<'_, impl Sink>,
    ) -> Result<()> {
        let ends = &ends[..ends.len().min(ENDS)];
        self.prepare(text, start, ends, lookup.cache());
        for ((&end, &key), &line) in ends.iter().zip(&self.keys).zip(&self.lines) {
            let (ids, count) = lookup.cache().find(key, line);
            if count > 0 {
                output.few(ids, count);
            } else {
                lookup.missed(&text[start..end], key, output)?;
            }
            start = end;
        }
        output.flush();
        Ok(())
    }

    #[inline(always)]
    fn prepare(&mut self, text: &[u8], mut start: usize, ends: &[usize], cache: &Cache) {
        for ((&end, key), line) in ends.iter().zip(&mut self.keys).zip(&mut self.lines) {
            *key = Key::new(text, start, end);
            *line = cache.home(*key);
            cache.prefetch(*line);
            start = end;
        }
    }
}
