//! Encodes pretokens that are not in the cache in fragments: the parts between places that no token crosses
//! ([`super::safe_splits`]).
//!
//! A fragment is encoded, and cached, as if it were a pretoken. So a sentence of Chinese, which is one
//! pretoken and rarely occurs twice, is encoded as a run of characters and words that occur all the time.

use super::cache::Gap;
use super::hot_loop::{HotLoop, PretokenRun};
use super::lookup::Lookup;
use super::output::StagedOutput;
use crate::error::Result;
use crate::pretokenize::ENDS;

/// Working memory for the fragments of one pretoken.
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
    /// Adds the ids of a pretoken that is not in the cache, and caches them.
    #[cold]
    #[inline(never)]
    pub(super) fn encode<const READS_IDS: bool>(
        &mut self,
        lookup: &mut Lookup<'_>,
        miss: &Gap<'_>,
        output: &mut StagedOutput<'_, READS_IDS>,
    ) -> Result<()> {
        let pretoken = miss.pretoken();
        if let Some(id) = lookup.whole_token_id(pretoken) {
            return output.add([id].as_slice().into());
        }
        let end = if pretoken.is_ascii() { pretoken.len() } else { lookup.safe_splits.next(pretoken, 0) };
        if end == pretoken.len() {
            return lookup.merge_fragment(miss, output);
        }
        if !READS_IDS || !lookup.should_cache(miss, true) {
            return self.encode_from(lookup, miss, end, output);
        }
        // The whole pretoken is cached too: the output still holds the ids that were added.
        output.hold()?;
        self.encode_from(lookup, miss, end, output)?;
        lookup.cache_ids(miss, output.take_gathered());
        Ok(())
    }

    /// Adds the ids of all fragments; the first one ends at `first`.
    fn encode_from<const READS_IDS: bool>(
        &mut self,
        lookup: &mut Lookup<'_>,
        miss: &Gap<'_>,
        first: usize,
        output: &mut StagedOutput<'_, READS_IDS>,
    ) -> Result<()> {
        let pretoken = miss.pretoken();
        let (mut start, mut end, mut count) = (miss.start, first, 0);
        loop {
            self.ends[count] = miss.start + end;
            count += 1;
            if end == pretoken.len() || count == ENDS {
                // Ranges of the whole text, not of the pretoken: a key is made fastest where 16 bytes can be
                // read.
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
