//! Exact BPE of one pretoken.
//!
//! The rule, for both semantics: of all adjacent pairs that merge, the one of the lowest rank is
//! merged, the leftmost of several; until none is left. [`short`] scans for it, [`long`] keeps a
//! heap; both give the same ids, and the tests hold them against the definition.

mod long;
mod short;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::vocab::Vocab;

/// Up to here a scan for the lowest rank beats the heap (measured: the two meet between 40 and 60).
const SHORT: usize = 48;

/// Working memory for merging, to be used again from pretoken to pretoken.
#[derive(Debug, Default)]
pub struct Merger {
    short: short::Parts,
    long: long::Parts,
}

impl Merger {
    /// Appends the ids of `pretoken` to `out`.
    ///
    /// Cost: O(n²) steps of a scan up to 48 bytes, O(n log n) beyond.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::PretokenTooLong`] from 4 GiB on.
    pub fn merge(
        &mut self,
        vocab: &Vocab,
        pretoken: &[u8],
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if pretoken.len() <= SHORT {
            self.short.merge(vocab, pretoken, u32::MAX, out);
            return Ok(());
        }
        if pretoken.len() >= u32::MAX as usize {
            return Err(Error::PretokenTooLong { bytes: pretoken.len() });
        }
        self.long.merge(vocab, pretoken, out, control)
    }

    /// Like [`Merger::merge`], with only the merges of a rank below `limit`, by the scan alone.
    pub(crate) fn merge_below(&mut self, vocab: &Vocab, pretoken: &[u8], limit: u32, out: &mut Vec<u32>) {
        self.short.merge(vocab, pretoken, limit, out);
    }

    /// The heap alone, whatever the length: for tests.
    #[doc(hidden)]
    pub fn merge_by_heap(&mut self, vocab: &Vocab, pretoken: &[u8], out: &mut Vec<u32>) -> Result<()> {
        self.long.merge(vocab, pretoken, out, &Control::none())
    }

    /// The scan alone, whatever the length: for tests.
    #[doc(hidden)]
    pub fn merge_by_scan(&mut self, vocab: &Vocab, pretoken: &[u8], out: &mut Vec<u32>) {
        self.short.merge(vocab, pretoken, u32::MAX, out);
    }
}
