//! Exact BPE of one pretoken.
//!
//! It begins with the bytes of the pretoken, or with its characters where the vocabulary has [`first_tokens`] for them.
//! Under both semantics, the pair of adjacent tokens with the lowest rank merges first, of several the
//! leftmost, until no pair merges. [`short`] finds it by a scan, [`long`] with a heap, and [`windows`]
//! handles a long pretoken with both. All give the same tokens; the tests compare them with the definition.
//! [`random`] leaves out merges at random. [`spelled`] is for models whose options allow none of these: they have no
//! table of [`Pairs`].

mod dropout;
mod first_tokens;
mod long;
mod pairs;
mod placed_tokens;
mod random;
mod short;
mod spelled;
mod windows;

pub(crate) use dropout::Draws;
pub use dropout::Dropout;
pub(crate) use first_tokens::FirstTokens;
pub(crate) use pairs::{NEVER, Pairs};
pub(crate) use random::RandomMerger;
pub use spelled::BpeOptions;
pub(crate) use spelled::SpelledBpe;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::simd::Isa;

/// Working memory for merging, reused from pretoken to pretoken.
#[derive(Debug)]
pub(crate) struct Merger {
    isa: Isa,
    long: windows::WindowedMerger,
}

impl Merger {
    /// A merger that uses an instruction set.
    pub(crate) fn new(isa: Isa) -> Self {
        Merger { isa, long: windows::WindowedMerger::default() }
    }

    /// Appends the tokens of `pretoken` to `out`, as indices.
    ///
    /// Cost: quadratic up to 64 bytes, linear for longer pretokens (O(n log n) for text that is made to
    /// prevent that).
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::PretokenTooLong`] for 4 GiB or more.
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

    /// Merges two tokens or more further, by the pairs whose ranks are above all that made them. `ranks`, which is empty
    /// afterwards, has the rank of each token with the next one.
    ///
    /// Cost: quadratic for few tokens, O(n log n) for more.
    #[inline]
    pub(crate) fn merge_tokens(
        &mut self,
        pairs: &Pairs,
        tokens: &mut Vec<u32>,
        ranks: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if tokens.len() <= short::MAX_FEW_TOKENS {
            short::merge_tokens(pairs, tokens, ranks);
            return Ok(());
        }
        ranks.clear();
        self.long.merge_tokens(pairs, tokens, control)
    }
}

#[cfg(test)]
mod tests;
