//! Exact BPE of one pretoken.
//!
//! The rule, for both semantics: of all adjacent pairs that merge, the one of the lowest rank is
//! merged, the leftmost of several; until none is left. [`short`] scans for it, [`long`] keeps a
//! heap, [`windows`] goes through a long pretoken with both; all give the same tokens, and the tests hold them
//! against the definition.

mod long;
mod pairs;
mod placed_tokens;
mod short;
mod windows;

pub(crate) use pairs::{NEVER, Pairs};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::simd::Isa;

/// Working memory for merging, to be used again from pretoken to pretoken.
#[derive(Debug)]
pub(crate) struct Merger {
    isa: Isa,
    long: windows::WindowedMerger,
}

impl Merger {
    /// One that uses an instruction set.
    pub(crate) fn new(isa: Isa) -> Self {
        Merger { isa, long: windows::WindowedMerger::default() }
    }

    /// Appends the tokens of `pretoken` to `out`, by their index.
    ///
    /// Cost: O(n²) steps of a scan up to 64 bytes, linear beyond (O(n log n) where the text is made to be hard).
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::PretokenTooLong`] from 4 GiB on.
    #[inline]
    pub(crate) fn merge(
        &mut self,
        pairs: &Pairs,
        pretoken: &[u8],
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if pretoken.len() <= short::MAX_SHORT_BYTES && pairs.ranks() <= short::MAX_SHORT_RANKS {
            short::merge(self.isa, pairs, pretoken, out);
            return Ok(());
        }
        if pretoken.len() >= u32::MAX as usize {
            return Err(Error::PretokenTooLong { bytes: pretoken.len() });
        }
        self.long.merge(self.isa, pairs, pretoken, out, control)
    }
}

#[cfg(test)]
mod tests;
