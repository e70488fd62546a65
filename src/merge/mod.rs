//! Exact BPE of one pretoken.
//!
//! The rule, for both semantics: of all adjacent pairs that merge, the one of the lowest rank is
//! merged, the leftmost of several; until none is left. [`short`] scans for it, [`long`] keeps a
//! heap; both give the same tokens, and the tests hold them against the definition.

mod long;
mod pairs;
mod short;

pub(crate) use long::by_definition;
pub(crate) use pairs::{NEVER, Pairs};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::simd::Isa;

/// Working memory for merging, to be used again from pretoken to pretoken.
#[derive(Debug)]
pub(crate) struct Merger {
    isa: Isa,
    long: long::Parts,
}

impl Merger {
    /// One that uses an instruction set.
    pub(crate) fn new(isa: Isa) -> Self {
        Merger { isa, long: long::Parts::default() }
    }

    /// Appends the tokens of `pretoken` to `out`, by their index.
    ///
    /// Cost: O(n²) steps of a scan up to 64 bytes, O(n log n) beyond.
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
        self.merge_below(pairs, pretoken, NEVER, out, control)
    }

    /// Like [`Merger::merge`], with only the merges of a rank below `limit`.
    ///
    /// # Errors
    /// As [`Merger::merge`].
    pub(crate) fn merge_below(
        &mut self,
        pairs: &Pairs,
        pretoken: &[u8],
        limit: u32,
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if pretoken.len() <= short::LONGEST && pairs.ranks() <= short::RANKS {
            short::merge(self.isa, pairs, pretoken, limit, out);
            return Ok(());
        }
        if pretoken.len() >= u32::MAX as usize {
            return Err(Error::PretokenTooLong { bytes: pretoken.len() });
        }
        self.long.merge(pairs, pretoken, limit, out, control)
    }
}

#[cfg(test)]
mod tests;
