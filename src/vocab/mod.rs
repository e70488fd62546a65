//! The vocabulary: ids ↔ bytes, pair → merged token, special tokens. Validated once, immutable after.
//!
//! Inside, a token is known by its index: its place among all by ascending id. It is dense where ids are not.

mod build;
mod ordinary;
mod ranks;
mod reach;
mod state;
mod tokens;

pub use build::SpecialSpec;
pub use ranks::RankLines;
pub use tokens::TokenBytes;
pub(crate) use tokens::{SLOT_BYTES, TAG_LENGTH_MASK, TAG_NOT_ASCII, TAG_OFFSET};

use crate::error::{Error, Result};
use crate::merge::Pairs;
use crate::once::Once;
use crate::special::Specials;
use ordinary::Ordinary;

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
    tokens: TokenBytes,
    /// Ordinary tokens by their bytes.
    ordinary: Once<Ordinary>,
    pairs: Once<Pairs>,
    /// Where a training made all merges of the bytes alone: the index of the first of the tokens that they make one
    /// after the other. What is known of such a vocabulary need not be checked, and is made when it is asked for.
    trained: Option<u32>,
    semantics: Semantics,
    /// Whether a pretoken that is a token stands for itself.
    whole: bool,
    /// The merges list, as indices; under rank semantics, what lower ranks reach.
    merges: Vec<(u32, u32)>,
    /// Ordinary tokens that merging their own bytes does not make, by ascending index.
    unreachable: Vec<u32>,
    specials: Specials,
    special_ids: Vec<u32>,
}

impl Vocab {
    /// Validates and indexes a vocabulary.
    ///
    /// `tokens` are ids with their bytes, `merges` the merges list (`None` for rank semantics).
    /// A special token without an id keeps the id that the vocabulary has for its bytes (the lower
    /// of two), unless that is the one ordinary token with these bytes that merging needs; else it
    /// gets the next id above all others.
    ///
    /// # Errors
    /// The vocabulary variants of [`Error`], each naming the token or line.
    pub fn new(
        tokens: &[(u32, Vec<u8>)],
        merges: Option<&[(Vec<u8>, Vec<u8>)]>,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        let tokens = tokens.iter().map(|(id, bytes)| (*id, bytes.as_slice())).collect();
        let merges =
            merges.map(|list| list.iter().map(|(left, right)| (left.as_slice(), right.as_slice())).collect());
        Vocab::of_views(tokens, merges, specials)
    }

    /// [`Vocab::new`], of bytes that lie elsewhere.
    ///
    /// # Errors
    /// As [`Vocab::new`].
    pub fn of_views(
        tokens: Vec<(u32, &[u8])>,
        merges: Option<Vec<(&[u8], &[u8])>>,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        build::build(tokens, merges, specials, false)
    }

    /// [`Vocab::of_views`], of merges that a training made, of the bytes or of a vocabulary whose tokens merging makes.
    ///
    /// Then it makes all others too: two parts of a token stand side by side only where nothing made the token before,
    /// and what is merged last changes nothing of what was merged before it. To look would take long where a training
    /// on one giant pretoken made tokens of a megabyte.
    ///
    /// # Errors
    /// As [`Vocab::new`].
    pub(crate) fn of_extension(
        tokens: Vec<(u32, &[u8])>,
        merges: Vec<(&[u8], &[u8])>,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        build::build(tokens, Some(merges), specials, true)
    }

    /// The same of merges of the bytes alone, as pairs of ids, each of which makes a token that was not there before: the
    /// first one the token of the id `first`, and the others those of the ids behind it.
    ///
    /// # Errors
    /// As [`Vocab::new`].
    pub(crate) fn of_training(
        tokens: Vec<(u32, &[u8])>,
        merges: &[(u32, u32)],
        first: u32,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        build::trained(tokens, merges, first, specials)
    }

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
        build::memory_of_pairs(self.tokens.len(), self.merges.len())
    }

    /// Which pairs merge, by index.
    #[inline]
    pub(crate) fn pairs(&self) -> &Pairs {
        self.pairs.get_or_make(|| build::trained_pairs(self))
    }

    #[inline]
    fn ordinary(&self) -> &Ordinary {
        self.ordinary.get_or_make(|| build::trained_tokens(self))
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

    /// The same as indices.
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
