//! A pretoken that is not in the cache: in stretches between junctions that no token crosses, if there are any.
//!
//! A stretch is encoded as if it stood alone, and is in the cache as if it did. So a sentence of Chinese, which comes
//! once, is a run of characters and words that come all the time.

use super::cache::Miss;
use super::hot_loop::{HotLoop, PretokenRun};
use super::lookup::Lookup;
use super::output::{Sink, StagedOutput};
use crate::error::Result;
use crate::pretokenize::ENDS;

/// Working memory for the stretches of one pretoken.
pub(super) struct Fragments {
    run: HotLoop,
    ends: [usize; ENDS],
}

impl Default for Fragments {
    fn default() -> Self {
        Fragments { run: HotLoop::default(), ends: [0; ENDS] }
    }
}

impl Fragments {
    /// Adds the ids of a pretoken that is not in the cache, and remembers them.
    ///
    /// # Errors
    /// What merging fails with.
    #[cold]
    #[inline(never)]
    pub(super) fn encode<S: Sink>(
        &mut self,
        lookup: &mut Lookup<'_>,
        miss: &Miss<'_>,
        output: &mut StagedOutput<'_, S>,
    ) -> Result<()> {
        let pretoken = miss.pretoken();
        if let Some(id) = lookup.whole_token_id(pretoken) {
            return output.add([id].as_slice().into());
        }
        let end = if pretoken.is_ascii() { pretoken.len() } else { lookup.safe_splits.next(pretoken, 0) };
        if end == pretoken.len() {
            return lookup.merge_fragment(miss, output);
        }
        if !S::READS_IDS || !lookup.should_cache(miss) {
            return self.encode_from(lookup, miss, end, output);
        }
        // It is remembered whole, too: the ids that it adds are still at hand.
        output.hold()?;
        self.encode_from(lookup, miss, end, output)?;
        lookup.cache_ids(miss, output.take_held());
        Ok(())
    }

    /// Adds the ids of all stretches; the first one is so long.
    fn encode_from<S: Sink>(
        &mut self,
        lookup: &mut Lookup<'_>,
        miss: &Miss<'_>,
        first: usize,
        output: &mut StagedOutput<'_, S>,
    ) -> Result<()> {
        let pretoken = miss.pretoken();
        let (mut start, mut end, mut count) = (miss.start, first, 0);
        loop {
            self.ends[count] = miss.start + end;
            count += 1;
            if end == pretoken.len() || count == ENDS {
                // In the text, and not in the pretoken: what follows makes keys quicker to make.
                let ranges = PretokenRun { text: miss.text, start, ends: &self.ends[..count] };
                self.run.encode(lookup, ranges, output, |lookup, miss, output| {
                    lookup.merge_fragment(miss, output)
                })?;
                if end == pretoken.len() {
                    return Ok(());
                }
                lookup.control.check()?;
                (start, count) = (miss.start + end, 0);
            }
            end = lookup.safe_splits.next(pretoken, end);
        }
    }
}
