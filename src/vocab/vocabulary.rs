//! The validated vocabulary.

use std::sync::Arc;

use once_cell::race::OnceBox;

use super::model::{CharacterTokens, Model, Semantics, Table};
use super::reach;
use super::tokens::{Ordinary, TokenBytes};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::merge::{Merger, Pairs, SpelledBpe};
use crate::room;
use crate::simd::Isa;
use crate::special::Specials;

/// A validated vocabulary.
///
/// Every byte value has a token, no two ordinary tokens have the same bytes, and all parts and results of
/// merges are tokens, so encoding always finds a token.
#[derive(Clone, Debug)]
pub struct Vocab {
    pub(super) tokens: TokenBytes,
    /// Ordinary tokens by their bytes. Those of trained merges are indexed when they are first looked up.
    pub(super) ordinary: Arc<OnceBox<Ordinary>>,
    pub(super) model: Model,
    /// The list of merges as indices; under rank semantics, the pairs that make tokens with lower ranks only.
    pub(super) merges: Arc<Vec<(u32, u32)>>,
    /// Tokens that merging their own bytes does not make, by ascending index: the ordinary ones, and in a
    /// vocabulary of characters also the special ones, which can be tokens of merges.
    pub(super) unmergeable: Vec<u32>,
    pub(super) specials: Specials,
    /// The ids of the special tokens, in the order of `specials`.
    pub(super) special_ids: Vec<u32>,
}

impl Vocab {
    /// The bytes of a token, ordinary or special.
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

    /// About how many bytes `pairs` and `ordinary` take, which a trained vocabulary makes at their first use.
    pub(crate) fn memory_of_pairs(&self) -> usize {
        memory_of_pairs(self.tokens.len(), self.merges.len())
    }

    /// What merging begins with, and which pairs merge.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// The table of merges, by index; `None` for a vocabulary that merges by names.
    #[inline]
    pub(crate) fn pairs(&self) -> Option<&Pairs> {
        match &self.model {
            Model::Ranks(pairs) | Model::Characters { pairs, .. } => Some(pairs),
            Model::Merges { table, .. } => Some(self.listed(table)),
            Model::Spelled { .. } => None,
        }
    }

    #[inline]
    fn listed<'a>(&self, table: &'a Table) -> &'a Pairs {
        match table {
            Table::Checked(pairs) => pairs,
            Table::Trained { first, pairs } => pairs.get_or_init(|| Box::new(self.trained_pairs(*first))),
        }
    }

    /// The model that merges by names; `None` for vocabularies of bytes and of characters.
    pub(crate) fn spelled(&self) -> Option<&SpelledBpe> {
        if let Model::Spelled { bpe, .. } = &self.model { Some(bpe) } else { None }
    }

    /// Appends the tokens that a pretoken is merged to, as indices, to `out`.
    #[inline]
    pub(crate) fn merge(
        &self,
        merger: &mut Merger,
        pretoken: &[u8],
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let pairs = match &self.model {
            Model::Ranks(pairs) | Model::Characters { pairs, .. } => pairs,
            Model::Merges { table, .. } => self.listed(table),
            Model::Spelled { bpe, .. } => return bpe.merge(pretoken, out, control),
        };
        merger.merge(pairs, pretoken, out, control)
    }

    #[inline]
    fn ordinary(&self) -> &Ordinary {
        // The ordinary tokens of a trained vocabulary are all different.
        self.ordinary.get_or_init(|| {
            let indices = self.tokens.indices_but(self.special_indices());
            Box::new(Ordinary::new(&self.tokens, indices).unwrap_or_default())
        })
    }

    /// Makes the table of merges of a trained vocabulary, in which no pair is listed twice.
    #[cold]
    fn trained_pairs(&self, first: u32) -> Pairs {
        let token = |byte: usize| self.ordinary_index(&[byte as u8]).unwrap_or_default();
        let mut pairs = Pairs::new(std::array::from_fn(token), self.merges.len());
        for (rank, &(left, right)) in (0..).zip(self.merges.iter()) {
            let _ = pairs.insert(left, right, rank, first + rank);
        }
        pairs
    }

    /// Whether there are ordinary tokens that merging their own bytes does not make.
    #[inline]
    pub(crate) fn has_unmergeable(&self) -> bool {
        !self.unmergeable.is_empty()
    }

    /// Whether merging its own bytes does not make the ordinary token at `index`.
    #[inline]
    pub(crate) fn is_unmergeable(&self, index: u32) -> bool {
        self.unmergeable.binary_search(&index).is_ok()
    }

    /// The vocabulary with more special tokens, whose ids must ascend and be above all others; `None` where
    /// they are not. What merging needs is shared.
    ///
    /// Cost: a copy of the table of tokens, and building the search for all special tokens.
    pub fn with_specials(&self, more: &[(Vec<u8>, u32)]) -> Result<Option<Self>> {
        if !self.covers_text_exactly() {
            return Ok(None);
        }
        room::check_available(self.tokens.memory_with(more.len()))?;
        let tokens: Vec<(u32, &[u8])> = more.iter().map(|(name, id)| (*id, name.as_slice())).collect();
        let Some(tokens) = self.tokens.extended(&tokens) else { return Ok(None) };
        let names = self.specials.tokens().iter().chain(more.iter().map(|(name, _)| name));
        let specials = Specials::new(names.cloned().collect())?;
        let ids = || more.iter().map(|&(_, id)| id);
        let special_ids = self.special_ids.iter().copied().chain(ids()).collect();
        let (mut model, mut unmergeable) = (self.model.clone(), self.unmergeable.clone());
        if let Model::Characters { tokens: characters, .. } = &mut model {
            characters.outside.extend(ids());
            unmergeable.extend(self.tokens.len() as u32..tokens.len() as u32);
        }
        let (ordinary, merges) = (self.ordinary.clone(), self.merges.clone());
        Ok(Some(Vocab { tokens, ordinary, model, merges, unmergeable, specials, special_ids }))
    }

    /// Lets a pretoken that is a token become that token without merging, also under merges semantics
    /// (`ignore_merges` of Hugging Face's files). Under rank semantics that is always so; a vocabulary of
    /// characters, or one that merges by names, stays as it is.
    #[must_use]
    pub fn ignoring_merges(mut self) -> Self {
        if let Model::Merges { ignored, .. } = &mut self.model {
            *ignored = true;
        }
        self
    }

    /// Whether a pretoken that is a token becomes that token without merging. A model that merges by names
    /// looks for such pretokens itself.
    #[inline]
    pub fn ignores_merges(&self) -> bool {
        match self.model {
            Model::Ranks(_) => true,
            Model::Merges { ignored, .. } => ignored,
            Model::Characters { .. } | Model::Spelled { .. } => false,
        }
    }

    /// The rule that decides which pairs merge.
    pub fn semantics(&self) -> Semantics {
        if matches!(self.model, Model::Ranks(_)) { Semantics::Ranks } else { Semantics::Merges }
    }

    /// The special cases of a vocabulary of characters; `None` if merging begins with bytes.
    pub fn characters(&self) -> Option<&CharacterTokens> {
        match &self.model {
            Model::Characters { tokens, .. } => Some(tokens),
            Model::Spelled { tokens, .. } => tokens.as_ref(),
            Model::Ranks(_) | Model::Merges { .. } => None,
        }
    }

    /// The special tokens with their search.
    pub fn specials(&self) -> &Specials {
        &self.specials
    }

    /// The ids of the special tokens, in the order of [`Vocab::specials`].
    pub fn special_ids(&self) -> &[u32] {
        &self.special_ids
    }

    /// The list of merges as pairs of ids. Under rank semantics: for each token, by ascending id, the last
    /// pair that its bytes reach under lower ranks; a token that no such pair makes has none.
    pub fn merges(&self) -> Vec<(u32, u32)> {
        let id = |index| self.tokens.id_at(index);
        self.merges.iter().map(|&(left, right)| (id(left), id(right))).collect()
    }

    /// The places of the merges that have the rank of the merge before them.
    pub fn ties(&self) -> &[u32] {
        self.characters().map_or(&[], |characters| &characters.ties)
    }

    /// The list of merges as pairs of indices.
    pub fn merges_by_index(&self) -> &[(u32, u32)] {
        &self.merges
    }

    /// Whether `bytes` are a proper prefix or suffix of a token that merging does not make.
    pub(crate) fn ends_an_unmergeable(&self, bytes: &[u8]) -> bool {
        self.unmergeable.iter().any(|&index| {
            let token = self.tokens.bytes_at(index);
            token.len() > bytes.len() && (token.starts_with(bytes) || token.ends_with(bytes))
        })
    }

    /// The ordinary tokens that merging their own bytes makes, by ascending index.
    pub(crate) fn made_by_merging(&self) -> impl Iterator<Item = u32> + '_ {
        let mut others = self.special_indices();
        others.extend_from_slice(&self.unmergeable);
        others.sort_unstable();
        others.dedup();
        self.tokens.indices_but(others)
    }

    /// The lowest id of an ordinary token that merging its own bytes does not make.
    pub fn first_unmergeable(&self) -> Option<u32> {
        self.unmergeable.first().map(|&index| self.tokens.id_at(index))
    }

    /// The ordinary tokens that merging their own bytes does not make, by ascending id, with the ids of what
    /// merging makes of them.
    pub fn unmade(&self) -> Result<Vec<(u32, Vec<u32>)>> {
        let id = |index: u32| self.tokens.id_at(index);
        let bytes: usize = self.unmergeable.iter().map(|&index| self.tokens.bytes_at(index).len()).sum();
        room::check_available(32 * self.unmergeable.len() + 8 * bytes)?;
        let mut merger = Merger::new(Isa::best());
        let parts = |&index: &u32| {
            let mut parts = Vec::new();
            self.merge(&mut merger, self.tokens.bytes_at(index), &mut parts, &Control::none())?;
            Ok((id(index), parts.into_iter().map(id).collect()))
        };
        self.unmergeable.iter().map(parts).collect()
    }

    /// For each token by its index (its place among all ids), the indices of the two tokens that the last
    /// merge of its own bytes joins; `None` for a token that no merge makes.
    ///
    /// Cost: about as much as making the vocabulary; nothing for a trained one.
    pub fn last_pairs(&self) -> Result<Vec<Option<(u32, u32)>>> {
        room::check_available(
            memory_of_pairs(self.tokens.len(), self.merges.len())
                + 16 * self.merges.len()
                + 12 * self.tokens.len(),
        )?;
        let mut last = room::filled(None, self.tokens.len())?;
        match &self.model {
            Model::Ranks(pairs) => {
                return reach::last_pairs(&self.tokens, &self.special_indices(), &[], pairs);
            }
            Model::Merges { table: Table::Checked(pairs), .. } => {
                let special = self.special_indices();
                return reach::last_pairs(&self.tokens, &special, &self.merges, pairs);
            }
            Model::Characters { pairs, tokens: characters } => {
                // Other special tokens can be results of merges.
                let outside = indices_of(&self.tokens, &characters.outside);
                return reach::last_pairs(&self.tokens, &outside, &self.merges, pairs);
            }
            Model::Merges { table: Table::Trained { first, .. }, .. } => {
                let made = last.iter_mut().skip(*first as usize);
                made.zip(self.merges.iter()).for_each(|(made, &pair)| *made = Some(pair));
            }
            Model::Spelled { bpe, .. } => {
                for (pair, made) in bpe.merges() {
                    last[made as usize].get_or_insert(pair);
                }
            }
        }
        Ok(last)
    }

    /// The indices of the special tokens, in ascending order.
    pub(crate) fn special_indices(&self) -> Vec<u32> {
        indices_of(&self.tokens, &self.special_ids)
    }
}

/// About how many bytes the table of merges and the index of ordinary tokens take.
pub(super) fn memory_of_pairs(tokens: usize, merges: usize) -> usize {
    let slots = (tokens.max(merges) * 5 / 4 + 1).next_power_of_two();
    9 * slots + 16 * (tokens + merges) + (1 << 20)
}

/// The indices of tokens, in ascending order.
pub(super) fn indices_of<'a>(tokens: &TokenBytes, ids: impl IntoIterator<Item = &'a u32>) -> Vec<u32> {
    let mut indices: Vec<u32> = ids.into_iter().filter_map(|&id| tokens.index_of(id)).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}
