//! A validated vocabulary, and what it is asked for.

use super::ordinary::Ordinary;
use super::tokens::TokenBytes;
use crate::error::{Error, Result};
use crate::merge::Pairs;
use crate::once::Once;
use crate::special::Specials;

/// What may be merged with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Only the pairs of a merges list, in its order (CS336, GPT-2's files, Hugging Face).
    Merges,
    /// Any adjacent pair whose bytes are a token, the lowest id first; a pretoken that is a token
    /// stands for itself (tiktoken's rank files).
    Ranks,
}

/// A validated vocabulary.
///
/// Every byte value has a token, no two ordinary tokens have the same bytes, every merge is made of
/// known tokens: so encoding cannot fail for want of a token.
#[derive(Clone, Debug)]
pub struct Vocab {
    pub(super) tokens: TokenBytes,
    /// Ordinary tokens by their bytes.
    pub(super) ordinary: Once<Ordinary>,
    pub(super) pairs: Once<Pairs>,
    /// Where a training made all merges of the bytes alone: the index of the first of the tokens that they make one
    /// after the other. What is known of such a vocabulary need not be checked, and is made when it is asked for.
    pub(super) trained: Option<u32>,
    pub(super) semantics: Semantics,
    /// Whether a pretoken that is a token stands for itself.
    pub(super) whole: bool,
    /// The merges list, as indices; under rank semantics, what lower ranks reach.
    pub(super) merges: Vec<(u32, u32)>,
    /// Ordinary tokens that merging their own bytes does not make, by ascending index.
    pub(super) unreachable: Vec<u32>,
    pub(super) specials: Specials,
    pub(super) special_ids: Vec<u32>,
}

impl Vocab {
    /// The bytes of a token, ordinary or special.
    ///
    /// # Errors
    /// [`Error::UnknownId`].
    pub fn token_bytes(&self, id: u32) -> Result<&[u8]> {
        self.tokens.get(id).ok_or(Error::UnknownId { id: i128::from(id), index: None })
    }

    /// Ids and bytes of all tokens, by ascending id.
    pub fn tokens(&self) -> &TokenBytes {
        &self.tokens
    }

    /// The id of an ordinary token.
    pub fn ordinary_id(&self, bytes: &[u8]) -> Option<u32> {
        self.ordinary_index(bytes).map(|index| self.tokens.id_at(index))
    }

    /// The index of an ordinary token.
    #[inline]
    pub(crate) fn ordinary_index(&self, bytes: &[u8]) -> Option<u32> {
        self.ordinary().get(&self.tokens, bytes)
    }

    /// The id of a special token.
    pub fn special_id(&self, bytes: &[u8]) -> Option<u32> {
        let index = self.specials.tokens().iter().position(|token| token == bytes)?;
        Some(self.special_ids[index])
    }

    /// Bytes that what is still to be made of a training's vocabulary takes, about: its pairs and its ordinary tokens.
    pub(crate) fn memory_of_pairs(&self) -> usize {
        memory_of_pairs(self.tokens.len(), self.merges.len())
    }

    /// Which pairs merge, by index.
    #[inline]
    pub(crate) fn pairs(&self) -> &Pairs {
        self.pairs.get_or_make(|| trained_pairs(self))
    }

    #[inline]
    fn ordinary(&self) -> &Ordinary {
        self.ordinary.get_or_make(|| trained_tokens(self))
    }

    /// Whether there are ordinary tokens that merging their own bytes does not make.
    #[inline]
    pub(crate) fn has_unreachable(&self) -> bool {
        !self.unreachable.is_empty()
    }

    /// Whether this is one of them.
    #[inline]
    pub(crate) fn is_unreachable(&self, index: u32) -> bool {
        self.unreachable.binary_search(&index).is_ok()
    }

    /// Makes a pretoken that is a token stand for itself, before any merge, under a merges list too (`ignore_merges`
    /// of Hugging Face's files). Under rank semantics it always does.
    #[must_use]
    pub fn ignoring_merges(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Whether a pretoken that is a token stands for itself.
    #[inline]
    pub fn ignores_merges(&self) -> bool {
        self.whole
    }

    /// What may be merged with what.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// The special tokens, to search for.
    pub fn specials(&self) -> &Specials {
        &self.specials
    }

    /// Ids of the special tokens, in the order of [`Vocab::specials`].
    pub fn special_ids(&self) -> &[u32] {
        &self.special_ids
    }

    /// The merges list as pairs of ids. Under rank semantics: for each token, by ascending id, the
    /// pair that its bytes reach under lower ranks; a token that no pair reaches has none.
    pub fn merges(&self) -> Vec<(u32, u32)> {
        let id = |index| self.tokens.id_at(index);
        self.merges.iter().map(|&(left, right)| (id(left), id(right))).collect()
    }

    /// The merges list as pairs of indices.
    pub(crate) fn merges_by_index(&self) -> &[(u32, u32)] {
        &self.merges
    }

    /// Whether these bytes are the beginning or the end of a longer token that merging does not make.
    pub(crate) fn ends_an_unreachable(&self, bytes: &[u8]) -> bool {
        self.unreachable.iter().any(|&index| {
            let token = self.tokens.bytes_at(index);
            token.len() > bytes.len() && (token.starts_with(bytes) || token.ends_with(bytes))
        })
    }

    /// The ordinary tokens that merging their own bytes makes, by ascending index.
    pub(crate) fn made_by_merging(&self) -> impl Iterator<Item = u32> + '_ {
        let mut others: Vec<u32> =
            self.special_ids.iter().filter_map(|&id| self.tokens.index_of(id)).collect();
        others.extend_from_slice(&self.unreachable);
        others.sort_unstable();
        others.dedup();
        let mut others = others.into_iter().peekable();
        (0..self.tokens.len() as u32).filter(move |index| others.next_if_eq(index).is_none())
    }

    /// The lowest id of an ordinary token that merging its own bytes does not make.
    pub fn first_unreachable(&self) -> Option<u32> {
        self.unreachable.first().map(|&index| self.tokens.id_at(index))
    }
}

/// Bytes of the pairs and the ordinary tokens of a vocabulary, about.
pub(super) fn memory_of_pairs(tokens: usize, merges: usize) -> usize {
    let slots = (tokens.max(merges) * 5 / 4 + 1).next_power_of_two();
    9 * slots + 16 * (tokens + merges) + (1 << 20)
}

/// The ordinary tokens of a training, no two of the same bytes.
fn trained_tokens(vocab: &Vocab) -> Ordinary {
    let tokens = &vocab.tokens;
    let mut special = special_indices(tokens, &vocab.special_ids).into_iter().peekable();
    let mut ordinary = Ordinary::with_room(tokens.len());
    for index in 0..tokens.len() as u32 {
        if special.next_if_eq(&index).is_none() {
            let _ = ordinary.insert(tokens, index);
        }
    }
    ordinary
}

/// The pairs of a training, no two of the same tokens.
fn trained_pairs(vocab: &Vocab) -> Pairs {
    let token = |byte: u8| vocab.ordinary_index(&[byte]).unwrap_or_default();
    let mut pairs = Pairs::new(std::array::from_fn(|byte| token(byte as u8)), vocab.merges.len());
    for (rank, &(left, right)) in (0..).zip(&vocab.merges) {
        let _ = pairs.insert(left, right, rank, vocab.trained.unwrap_or_default() + rank);
    }
    pairs
}

/// The special tokens by index, in ascending order.
pub(super) fn special_indices(tokens: &TokenBytes, special_ids: &[u32]) -> Vec<u32> {
    let mut indices: Vec<u32> = special_ids.iter().filter_map(|&id| tokens.index_of(id)).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}
