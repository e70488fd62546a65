//! A pretoken that is not in the cache: in stretches between junctions that no token crosses, if there are any.
//!
//! A stretch is encoded as if it stood alone, and is in the cache as if it did. So a sentence of Chinese, which comes
//! once, is a run of characters and words that come all the time.

use super::Sink;
use super::lookup::Lookup;
use super::output::Output;
use super::run::{Ranges, Run};
use crate::error::Result;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::Key;

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
    /// Adds the ids of a pretoken that is not in its first place, and remembers them. `key` is its key.
    ///
    /// # Errors
    /// What merging fails with.
    #[cold]
    #[inline(never)]
    pub(super) fn encode<S: Sink>(
        &mut self,
        lookup: &mut Lookup<'_>,
        pretoken: &[u8],
        key: Key,
        output: &mut Output<'_, S>,
    ) -> Result<()> {
        if lookup.remembered(key, output) {
            return Ok(());
        }
        if let Some(id) = lookup.stands_for_itself(pretoken) {
            output.many(&[id]);
            return Ok(());
        }
        let end = if pretoken.is_ascii() { pretoken.len() } else { lookup.junctions.next(pretoken, 0) };
        if end == pretoken.len() {
            return lookup.whole(pretoken, key, output);
        }
        if key == Key::NONE || !S::LOOKS {
            return self.encode_from(lookup, pretoken, end, output);
        }
        // A short one is remembered whole, too: the ids that it adds are still at hand.
        let before = output.hold();
        self.encode_from(lookup, pretoken, end, output)?;
        lookup.remember(key, output.since(before));
        Ok(())
    }

    /// Adds the ids of all stretches; the first one goes up to `end`.
    fn encode_from<S: Sink>(
        &mut self,
        lookup: &mut Lookup<'_>,
        pretoken: &[u8],
        mut end: usize,
        output: &mut Output<'_, S>,
    ) -> Result<()> {
        let (mut start, mut count) = (0, 0);
        loop {
            self.ends[count] = end;
            count += 1;
            if end == pretoken.len() || count == ENDS {
                let ranges = Ranges { text: pretoken, start, ends: &self.ends[..count] };
                self.run.encode(lookup, ranges, output, missed)?;
                if end == pretoken.len() {
                    return Ok(());
                }
                lookup.control.check()?;
                (start, count) = (end, 0);
            }
            end = lookup.junctions.next(pretoken, end);
        }
    }
}

/// A stretch that is not in its first place.
fn missed<S: Sink>(
    lookup: &mut Lookup<'_>,
    stretch: &[u8],
    key: Key,
    output: &mut Output<'_, S>,
) -> Result<()> {
    if lookup.remembered(key, output) { Ok(()) } else { lookup.whole(stretch, key, output) }
}
