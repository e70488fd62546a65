//! The validated vocabulary.

use std::sync::Arc;

use once_cell::race::OnceBox;

use super::ordinary::Ordinary;
use super::reach;
use super::tokens::TokenBytes;
use crate::error::{Error, Result};
use crate::merge::Pairs;
use crate::room;
use crate::special::Specials;

/// The rule that decides which pairs merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Only the pairs of a merges list, in its order (CS336, GPT-2's files, Hugging Face).
    Merges,
    /// Any adjacent pair whose bytes are a token, the lowest id first. A pretoken that is a token becomes
    /// that token without merging (tiktoken's rank files).
    Ranks,
}

/// The special cases of a vocabulary of characters: the tokens for characters that are not tokens, and the tokens
/// that no text becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharacterTokens {
    /// The ids of the tokens of the 256 bytes, for characters that are not tokens; empty if they are not all there.
    pub bytes: Vec<u32>,
    /// The id that stands for a character that is not a token, where not all bytes have tokens.
    pub unknown: Option<u32>,
    /// The ids of tokens that take no part in merging.
    pub outside: std::collections::BTreeSet<u32>,
    /// The places in the list of merges, in ascending order, of those that have the rank of the merge before them: of
    /// several the leftmost in the text comes first.
    pub ties: Vec<u32>,
}

impl CharacterTokens {
    /// The same with other ids, as `moved` gives them; tokens without one are left out. The merges stay.
    pub(crate) fn moved(&self, moved: impl Fn(&u32) -> Option<u32>) -> Self {
        CharacterTokens {
            bytes: self.bytes.iter().filter_map(&moved).collect(),
            unknown: self.unknown.as_ref().and_then(&moved),
            outside: self.outside.iter().filter_map(&moved).collect(),
            ties: self.ties.clone(),
        }
    }

    /// The rank of each merge of a list.
    ///
    /// # Errors
    /// [`Error::BrokenState`] if the ties are not places in the list.
    pub(crate) fn ranks(ties: &[u32], merges: usize) -> Result<Vec<u32>> {
        let mut ranks = room::collected(0..merges as u32)?;
        let ascend = ties.is_sorted_by(|tie, next| tie < next);
        for &place in ties {
            let before = (place as usize).checked_sub(1).and_then(|before| ranks.get(before).copied());
            let rank = ranks.get_mut(place as usize).filter(|_| ascend);
            *rank.ok_or(Error::BrokenState)? = before.ok_or(Error::BrokenState)?;
        }
        Ok(ranks)
    }
}

/// A validated vocabulary.
///
/// Every byte value has a token, no two ordinary tokens have the same bytes, and all parts and results of
/// merges are tokens, so encoding always finds a token.
#[derive(Clone, Debug)]
pub struct Vocab {
    pub(super) tokens: TokenBytes,
    /// Ordinary tokens by their bytes.
    pub(super) ordinary: Arc<OnceBox<Ordinary>>,
    /// The table of merges.
    pub(super) pairs: Arc<OnceBox<Pairs>>,
    /// For a vocabulary whose merges were all trained from the bytes: the index of the token that the first
    /// merge makes; later merges make the tokens that follow. Such a vocabulary needs no checks, and
    /// `ordinary` and `pairs` are made when they are first used.
    pub(super) trained: Option<u32>,
    pub(super) semantics: Semantics,
    /// Whether a pretoken that is a token becomes that token without merging.
    pub(super) whole: bool,
    /// The list of merges as indices; under rank semantics, the pairs that make tokens with lower ranks only.
    pub(super) merges: Arc<Vec<(u32, u32)>>,
    /// Tokens that merging their own bytes does not make, by ascending index: the ordinary ones, and in a vocabulary
    /// of characters also the special ones, which can be tokens of merges.
    pub(super) unmergeable: Vec<u32>,
    pub(super) specials: Specials,
    /// The ids of the special tokens, in the order of `specials`.
    pub(super) special_ids: Vec<u32>,
    /// The special cases of a vocabulary of characters; `None` if merging begins with bytes.
    pub(super) characters: Option<CharacterTokens>,
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

    /// About how many bytes `pairs` and `ordinary` take, which a trained vocabulary makes at their first use.
    pub(crate) fn memory_of_pairs(&self) -> usize {
        memory_of_pairs(self.tokens.len(), self.merges.len())
    }

    /// The table of merges, by index.
    #[inline]
    pub(crate) fn pairs(&self) -> &Pairs {
        self.pairs.get_or_init(|| Box::new(trained_pairs(self)))
    }

    #[inline]
    fn ordinary(&self) -> &Ordinary {
        self.ordinary.get_or_init(|| Box::new(trained_tokens(self)))
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

    /// The vocabulary with more special tokens, whose ids must ascend and be above all others; `None` where they are
    /// not. What merging needs is shared.
    ///
    /// Cost: a copy of the table of tokens, and building the search for all special tokens.
    ///
    /// # Errors
    /// Same as [`Specials::new`].
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
        let (mut characters, mut unmergeable) = (self.characters.clone(), self.unmergeable.clone());
        if let Some(characters) = &mut characters {
            characters.outside.extend(ids());
            unmergeable.extend(self.tokens.len() as u32..tokens.len() as u32);
        }
        Ok(Some(Vocab {
            tokens,
            ordinary: self.ordinary.clone(),
            pairs: self.pairs.clone(),
            merges: self.merges.clone(),
            unmergeable,
            specials,
            special_ids: self.special_ids.iter().copied().chain(ids()).collect(),
            characters,
            ..*self
        }))
    }

    /// Lets a pretoken that is a token become that token without merging, also under merges semantics
    /// (`ignore_merges` of Hugging Face's files). Under rank semantics that is always so.
    #[must_use]
    pub fn ignoring_merges(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Whether a pretoken that is a token becomes that token without merging.
    #[inline]
    pub fn ignores_merges(&self) -> bool {
        self.whole
    }

    /// The rule that decides which pairs merge.
    pub fn semantics(&self) -> Semantics {
        self.semantics
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
        self.characters.as_ref().map_or(&[], |characters| &characters.ties)
    }

    /// The list of merges as pairs of indices.
    pub(crate) fn merges_by_index(&self) -> &[(u32, u32)] {
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
        let mut others: Vec<u32> =
            self.special_ids.iter().filter_map(|&id| self.tokens.index_of(id)).collect();
        others.extend_from_slice(&self.unmergeable);
        others.sort_unstable();
        others.dedup();
        let mut others = others.into_iter().peekable();
        (0..self.tokens.len() as u32).filter(move |index| others.next_if_eq(index).is_none())
    }

    /// The lowest id of an ordinary token that merging its own bytes does not make.
    pub fn first_unmergeable(&self) -> Option<u32> {
        self.unmergeable.first().map(|&index| self.tokens.id_at(index))
    }

    /// The ordinary tokens that merging their own bytes does not make, by ascending id, with the ids of what merging
    /// makes of them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn unmade(&self) -> Result<Vec<(u32, Vec<u32>)>> {
        let id = |index: u32| self.tokens.id_at(index);
        let bytes: usize = self.unmergeable.iter().map(|&index| self.tokens.bytes_at(index).len()).sum();
        room::check_available(32 * self.unmergeable.len() + 8 * bytes)?;
        let parts = |index: u32| {
            let parts = reach::parts_of(&self.tokens, index, self.pairs())?;
            Ok((id(index), parts.into_iter().map(id).collect()))
        };
        self.unmergeable.iter().map(|&index| parts(index)).collect()
    }

    /// For each token by its index (its place among all ids), the indices of the two tokens that the last merge of its
    /// own bytes joins; `None` for a token that no merge makes.
    ///
    /// Cost: about as much as making the vocabulary; nothing for a trained one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn last_pairs(&self) -> Result<Vec<Option<(u32, u32)>>> {
        room::check_available(
            memory_of_pairs(self.tokens.len(), self.merges.len())
                + 16 * self.merges.len()
                + 12 * self.tokens.len(),
        )?;
        if let Some(spelled) = self.spelled() {
            let mut last = vec![None; self.tokens.len()];
            for ((left, right), made) in spelled.merges() {
                last[made as usize].get_or_insert((left, right));
            }
            return Ok(last);
        }
        if let Some(first) = self.trained {
            let mut last = vec![None; self.tokens.len()];
            for (made, &pair) in last.iter_mut().skip(first as usize).zip(self.merges.iter()) {
                *made = Some(pair);
            }
            return Ok(last);
        }
        let special = match &self.characters {
            None => special_indices(&self.tokens, &self.special_ids),
            // Other special tokens can be results of merges.
            Some(characters) => {
                special_indices(&self.tokens, &characters.outside.iter().copied().collect::<Vec<u32>>())
            }
        };
        let all = self.pairs();
        match self.semantics {
            Semantics::Ranks => {
                reach::last_pairs_of_ranks(&self.tokens, &special, all.without_merges(self.tokens.len()))
            }
            Semantics::Merges => {
                let made = |&pair: &(u32, u32)| (pair, all.result(all.rank_of_symbols(pair.0, pair.1), pair));
                let listed: Vec<_> = self.merges.iter().map(made).collect();
                let pairs = all.without_merges(listed.len());
                reach::last_pairs_of_list(&self.tokens, &special, &listed, pairs, all)
            }
        }
    }
}

/// About how many bytes the table of merges and the index of ordinary tokens take.
pub(super) fn memory_of_pairs(tokens: usize, merges: usize) -> usize {
    let slots = (tokens.max(merges) * 5 / 4 + 1).next_power_of_two();
    9 * slots + 16 * (tokens + merges) + (1 << 20)
}

/// Indexes the ordinary tokens of a trained vocabulary, which are all different.
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

/// Makes the table of merges of a trained vocabulary, in which no pair is listed twice.
fn trained_pairs(vocab: &Vocab) -> Pairs {
    let token = |byte: u8| vocab.ordinary_index(&[byte]).unwrap_or_default();
    let mut pairs = Pairs::new(std::array::from_fn(|byte| token(byte as u8)), vocab.merges.len());
    for (rank, &(left, right)) in (0..).zip(vocab.merges.iter()) {
        let _ = pairs.insert(left, right, rank, vocab.trained.unwrap_or_default() + rank);
    }
    pairs
}

/// The indices of the special tokens, in ascending order.
pub(super) fn special_indices(tokens: &TokenBytes, special_ids: &[u32]) -> Vec<u32> {
    let mut indices: Vec<u32> = special_ids.iter().filter_map(|&id| tokens.index_of(id)).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}
