//! A pretoken that is not in the cache: in stretches between junctions that no token crosses, if there are any.
//!
//! A stretch is encoded as if it stood alone, and is in the cache as if it did. So a sentence of Chinese, which comes
//! once, is a run of characters and words that come all the time.

use super::Sink;
use super::lookup::{Lookup, Missed};
use super::output::Output;
use super::run::{Ranges, Run};
use crate::error::Result;
use crate::pretokenize::ENDS;

/// Working memory for the stretches of one pretoken.
pub(super) struct Stretches {
    run: Run,
    ends: [usize; ENDS],
}

impl Default for Stretches {
    fn default() -> Self {
        Stretches { run: Run::default(), ends: [0; ENDS] }
    }
}

impl Stretches {
    /// Adds the ids of a pretoken that is not in the cache, and remembers them.
    ///
    /// # Errors
    /// What merging fails with.
    #[cold]
    #[inline(never)]
    pub(super) fn encode<S: Sink>(
        &mut self,
        lookup: &mut Lookup<'_>,
        missed: &Missed<'_>,
        output: &mut Output<'_, S>,
    ) -> Result<()> {
        let pretoken = missed.pretoken();
        if let Some(id) = lookup.stands_for_itself(pretoken) {
            return output.add([id].as_slice().into());
        }
        let end = if pretoken.is_ascii() { pretoken.len() } else { lookup.junctions.next(pretoken, 0) };
        if end == pretoken.len() {
            return lookup.whole(missed, output);
        }
        if !S::LOOKS || !lookup.wants(missed) {
            return self.encode_from(lookup, missed, end, output);
        }
        // It is remembered whole, too: the ids that it adds are still at hand.
        output.hold()?;
        self.encode_from(lookup, missed, end, output)?;
        lookup.remember(missed, output.held());
        Ok(())
    }

    /// Adds the ids of all stretches; the first one is so long.
    fn encode_from<S: Sink>(
        &mut self,
        lookup: &mut Lookup<'_>,
        missed: &Missed<'_>,
        first: usize,
        output: &mut Output<'_, S>,
    ) -> Result<()> {
        let pretoken = missed.pretoken();
        let (mut start, mut end, mut count) = (missed.start, first, 0);
        loop {
            self.ends[count] = missed.start + end;
            count += 1;
            if end == pretoken.len() || count == ENDS {
                // In the text, and not in the pretoken: what follows makes keys quicker to make.
                let ranges = Ranges { text: missed.text, start, ends: &self.ends[..count] };
                self.run
                    .encode(lookup, ranges, output, |lookup, missed, output| lookup.whole(missed, output))?;
                if end == pretoken.len() {
                    return Ok(());
                }
                lookup.control.check()?;
                (start, count) = (missed.start + end, 0);
            }
            end = lookup.junctions.next(pretoken, end);
        }
    }
}
