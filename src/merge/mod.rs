//! Exact BPE of one pretoken.
//!
//! It begins with the bytes of the pretoken, or with its characters where the vocabulary has [`first_tokens`]
//! for them. Under both semantics, the pair of adjacent tokens with the lowest rank merges first, of several
//! the leftmost, until no pair merges. [`short`] finds it by a scan, [`long`] with a heap, and [`windows`]
//! handles a long pretoken with both. All give the same tokens; the tests compare them with the definition.
//! [`dropout`] has the choices that leave out merges at random. [`spelled`] is for models whose options allow
//! none of these: they have no table of [`Pairs`].

mod dropout;
mod first_tokens;
mod long;
mod pairs;
mod placed_tokens;
mod short;
mod spelled;
mod windows;

pub(crate) use dropout::Draws;
pub use dropout::Dropout;
pub(crate) use first_tokens::FirstTokens;
pub(crate) use pairs::{NEVER, Pairs};
use placed_tokens::check_length;
pub use spelled::BpeOptions;
pub(crate) use spelled::SpelledBpe;

use crate::control::Control;
use crate::error::Result;
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
    /// [`crate::Error::Interrupted`]; [`crate::Error::Invalid`] for 4 GiB or more.
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
        check_length(pretoken)?;
        self.long.merge(self.isa, pairs, pretoken, out, control)
    }

    /// [`Merger::merge`] with merges left out at random (BPE-dropout, arXiv:1910.13267).
    ///
    /// At each step every merge that is possible is left out with the same probability, each by itself. Of
    /// the others the one of the lowest rank is done, of several the leftmost. Merging ends when a step
    /// leaves out all of them. The choices are drawn in the order of rank and place, and only up to the first
    /// merge that is not left out: the others do not matter.
    ///
    /// Cost: O(n log n) draws for n bytes, divided by the probability that a merge is not left out.
    ///
    /// # Errors
    /// Those of [`Merger::merge`].
    pub(crate) fn merge_randomly(
        &mut self,
        pairs: &Pairs,
        pretoken: &[u8],
        draws: &mut Draws,
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        check_length(pretoken)?;
        self.long.merge_at_once(pairs, pretoken, || draws.leaves_out(), out, control)
    }

    /// Merges two tokens or more further, by the pairs whose ranks are above all that made them. `ranks`,
    /// which is empty afterwards, has the rank of each token with the next one.
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
