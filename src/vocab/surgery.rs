//! Vocabularies made of another one: some of its tokens, under other ids.
//!
//! The merges of the bytes of a token make shorter tokens only: the two parts of its last merge, the parts of
//! these, and so on down to bytes or characters. If a token stays together with all of them, then merging its
//! bytes goes on as before: each step takes the pair of the lowest rank, which is still there, and pairs that
//! are gone were not taken. So what merging made, it still makes, with the merges among the tokens that stay,
//! in their order.

use super::build::SpecialSpec;
use super::model::{CharacterTokens, Model, Semantics};
use super::vocabulary::Vocab;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::merge::Merger;
use crate::room;
use crate::simd::Isa;

/// A part of a vocabulary, with new ids.
#[derive(Debug)]
pub struct Pruned {
    /// The vocabulary. Its ids are 0, 1, 2, …
    pub vocab: Vocab,
    /// The old id of each token, by ascending new id. They ascend as well.
    pub old_ids: Vec<u32>,
    /// The old ids of the tokens that stay though they were not to be kept, ascending.
    pub needed: Vec<u32>,
    /// The places of the merges that stay, in the list of merges; none under rank semantics.
    pub merges: Vec<usize>,
}

impl Vocab {
    /// The vocabulary of the tokens `keep` and of what they need. `fixed` are further tokens that stay, such
    /// as special ones. Ids that are not of a token are an error.
    ///
    /// Also kept are the tokens of all bytes and, among characters, that of the space, which no other tokens
    /// spell. Left out are ordinary tokens that no merge makes, unless a pretoken that is a token becomes
    /// that token without merging; and those that end inside a character which no token that stays completes,
    /// unless another token needs them.
    ///
    /// # Errors
    /// [`Error::UnknownId`], [`Error::OutOfMemory`]; [`Error::BrokenState`] for a vocabulary that merges by
    /// names.
    pub fn pruned(&self, keep: &[u32], fixed: &[u32]) -> Result<Pruned> {
        let (mut kept, fixed) = (self.marked(keep)?, self.marked(fixed)?);
        loop {
            let pruned = self.pruned_to(&kept, fixed.clone())?;
            let lone = pruned.vocab.lone()?.into_iter();
            let lone = lone.filter_map(|at| self.tokens.index_of(pruned.old_ids[at as usize]));
            let lone: Vec<usize> = lone.map(|at| at as usize).filter(|&at| kept[at] && !fixed[at]).collect();
            if lone.is_empty() {
                return Ok(pruned);
            }
            lone.into_iter().for_each(|at| kept[at] = false);
        }
    }

    /// [`Vocab::pruned`], with marks of tokens by index, and with tokens that end inside a character.
    fn pruned_to(&self, kept: &[bool], mut fixed: Vec<bool>) -> Result<Pruned> {
        let asked: Vec<bool> = kept.iter().zip(&fixed).map(|(kept, fixed)| kept | fixed).collect();
        self.mark_basic(&mut fixed);
        let mut stays: Vec<bool> = kept.iter().zip(&fixed).map(|(kept, fixed)| kept | fixed).collect();
        self.mark_parts(&mut stays)?;
        loop {
            let old: Vec<u32> = (0..self.tokens.len() as u32).filter(|&at| stays[at as usize]).collect();
            let mut ids = room::filled(None, stays.len())?;
            old.iter().zip(0..).for_each(|(&at, id)| ids[at as usize] = Some(id));
            let (vocab, merges) = self.relabeled(&ids, &[])?;
            let unmade = |id: u32| !vocab.ignores_merges() && vocab.is_unmergeable(id);
            let is_gone = |id: u32| unmade(id) || vocab.tokens.bytes_at(id).is_empty();
            let is_free = |&(&at, id): &(&u32, u32)| !fixed[at as usize] && is_gone(id);
            let gone: Vec<u32> = old.iter().zip(0..).filter(is_free).map(|(&at, _)| at).collect();
            if gone.is_empty() {
                let old_ids = old.iter().map(|&at| self.tokens.id_at(at)).collect();
                let needed = old.iter().filter(|&&at| !asked[at as usize]);
                let needed = needed.map(|&at| self.tokens.id_at(at)).collect();
                return Ok(Pruned { vocab, old_ids, needed, merges });
            }
            gone.into_iter().for_each(|at| stays[at as usize] = false);
        }
    }

    /// The vocabulary of the tokens that have a new id and of the special tokens `added`, and the places of
    /// its merges in the list: those whose parts and result have a new id. `ids` has the new id of each token
    /// by its index.
    ///
    /// Under rank semantics the ids of ordinary tokens must keep their order.
    ///
    /// # Errors
    /// [`Error::BrokenState`] for a vocabulary that merges by names; and the errors of [`Vocab::new`].
    pub fn relabeled(&self, ids: &[Option<u32>], added: &[(u32, Vec<u8>)]) -> Result<(Vocab, Vec<usize>)> {
        let pairs = self.pairs().ok_or(Error::BrokenState)?;
        let id_of = |index: u32| ids.get(index as usize).copied().flatten();
        let moved = |id: &u32| id_of(self.tokens.index_of(*id)?);
        let indices = 0..self.tokens.len() as u32;
        let mut tokens = room::for_items(self.tokens.len() + added.len())?;
        tokens.extend(indices.filter_map(|index| Some((id_of(index)?, self.tokens.bytes_at(index)))));
        tokens.extend(added.iter().map(|(id, name)| (*id, name.as_slice())));
        let names = self.specials.tokens().iter().zip(&self.special_ids);
        let mut specials: Vec<SpecialSpec> =
            names.filter_map(|(name, id)| Some((name.clone(), Some(moved(id)?)))).collect();
        specials.extend(added.iter().map(|(id, name)| (name.clone(), Some(*id))));
        let (mut places, mut merges) = (Vec::new(), Vec::new());
        let listed = if self.semantics() == Semantics::Ranks { &[] } else { &self.merges[..] };
        for (place, &(left, right)) in listed.iter().enumerate() {
            if [left, right, pairs.made((left, right))].iter().all(|&index| id_of(index).is_some()) {
                room::push(&mut places, place)?;
                room::push(&mut merges, (left, right))?;
            }
        }
        let vocab = match self.model() {
            Model::Spelled { .. } => return Err(Error::BrokenState),
            Model::Ranks(_) => Vocab::new(&tokens, None, &specials)?,
            Model::Merges { ignored, .. } => {
                let bytes = |index: u32| self.tokens.bytes_at(index);
                let pair = |&(left, right): &(u32, u32)| (bytes(left), bytes(right));
                let listed = room::collected(merges.iter().map(pair))?;
                let vocab = Vocab::new(&tokens, Some(&listed), &specials)?;
                if *ignored { vocab.ignoring_merges() } else { vocab }
            }
            Model::Characters { tokens: characters, .. } => {
                let mut characters = characters.moved(moved);
                let ranks = CharacterTokens::ranks(&characters.ties, self.merges.len())?;
                let is_tie = |&place: &usize| place > 0 && ranks[places[place]] == ranks[places[place - 1]];
                characters.ties = (0..places.len()).filter(is_tie).map(|place| place as u32).collect();
                characters.outside.extend(added.iter().map(|(id, _)| *id));
                let pair = |&(left, right): &(u32, u32)| Some((id_of(left)?, id_of(right)?));
                let merges: Vec<(u32, u32)> = merges.iter().filter_map(pair).collect();
                Vocab::of_characters(tokens, &merges, characters, &specials)?
            }
        };
        Ok((vocab, places))
    }

    /// The new id of each token by its index, `None` for those that go, in the vocabulary of `size` tokens
    /// that has the first of the merges, or of the ranks. Special tokens above all others follow them; all
    /// other ids stay. More tokens stay where even those that no merge makes are too many.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::BrokenState`] for a vocabulary that merges by names.
    pub fn shrunk_ids(&self, size: usize) -> Result<Vec<Option<u32>>> {
        let pairs = self.pairs().ok_or(Error::BrokenState)?;
        let count = self.tokens.len();
        let special = self.special_indices();
        let ordinary = |index: &u32| special.binary_search(index).is_err();
        let mut gone = room::filled(false, count)?;
        let mut excess = count.saturating_sub(size);
        let mut last: Vec<u32> = match self.model() {
            Model::Ranks(_) => {
                (0..count as u32).filter(ordinary).filter(|&at| self.tokens.bytes_at(at).len() > 1).collect()
            }
            _ => self.merges.iter().map(|&pair| pairs.made(pair)).collect(),
        };
        let mut makers = room::filled(0_u32, count)?;
        last.iter().for_each(|&at| makers[at as usize] += 1);
        while excess > 0
            && let Some(at) = last.pop()
        {
            makers[at as usize] -= 1;
            // Otherwise an earlier merge makes the token too.
            if makers[at as usize] == 0 {
                gone[at as usize] = true;
                excess -= 1;
            }
        }
        let end = (0..count as u32).rev().find(ordinary).map_or(0, |last| last as usize + 1);
        let mut ids = room::filled(None, count)?;
        let mut next = 0;
        for at in (0..count).filter(|&at| !gone[at]) {
            let id = if at < end { self.tokens.id_at(at as u32) } else { next };
            (ids[at], next) = (Some(id), id.wrapping_add(1));
        }
        Ok(ids)
    }

    /// The tokens, by index, that begin or end inside a character which no other token can complete: no text
    /// has them.
    ///
    /// What two neighbours are merged to alone, they are merged to in every text ([`super::reach`]).
    fn lone(&self) -> Result<Vec<u32>> {
        let special = self.special_indices();
        let bytes = |index: u32| self.tokens.bytes_at(index);
        let is_broken =
            |index: &u32| special.binary_search(index).is_err() && str::from_utf8(bytes(*index)).is_err();
        let mut broken: Vec<u32> = (0..self.tokens.len() as u32).filter(is_broken).collect();
        if self.characters().is_some() {
            broken.clear();
        }
        broken.sort_by_key(|&index| bytes(index).len());
        let (mut merger, mut parts) = (Merger::new(Isa::best()), Vec::new());
        let mut meet = |left: u32, right: u32| -> Result<bool> {
            let both = [bytes(left), bytes(right)].concat();
            parts.clear();
            if is_inside_text(&both) {
                self.merge(&mut merger, &both, &mut parts, &Control::none())?;
            }
            Ok(parts == [left, right])
        };
        let mut lone = Vec::new();
        for &index in broken.iter().filter(|&&index| bytes(index).len() > 1) {
            let whole = behind_continuations(bytes(index));
            let (mut lacks_start, mut lacks_end) =
                (whole.len() < bytes(index).len(), str::from_utf8(whole).is_err());
            for &other in &broken {
                lacks_start = lacks_start && !meet(other, index)?;
            }
            for &other in broken.iter().filter(|_| !lacks_start) {
                lacks_end = lacks_end && !meet(index, other)?;
            }
            if lacks_start || lacks_end {
                lone.push(index);
            }
        }
        Ok(lone)
    }

    fn marked(&self, ids: &[u32]) -> Result<Vec<bool>> {
        let mut marks = room::filled(false, self.tokens.len())?;
        for &id in ids {
            let index =
                self.tokens.index_of(id).ok_or(Error::UnknownId { id: i128::from(id), index: None })?;
            marks[index as usize] = true;
        }
        Ok(marks)
    }

    /// Marks the tokens that no vocabulary is without.
    fn mark_basic(&self, marks: &mut [bool]) {
        let mut basic: Vec<u32> = match self.characters() {
            None => (0..=255).filter_map(|byte| self.ordinary_index(&[byte])).collect(),
            Some(characters) => {
                let ids = characters.bytes.iter().chain(&characters.unknown);
                ids.filter_map(|&id| self.tokens.index_of(id)).collect()
            }
        };
        basic.extend(self.characters().and_then(|_| self.ordinary_index(b" ")));
        basic.into_iter().for_each(|index| marks[index as usize] = true);
    }

    fn mark_parts(&self, marks: &mut [bool]) -> Result<()> {
        let last = self.last_pairs()?;
        let mut waiting: Vec<usize> = (0..marks.len()).filter(|&index| marks[index]).collect();
        while let Some(index) = waiting.pop() {
            for part in last[index].into_iter().flat_map(|(left, right)| [left as usize, right as usize]) {
                if !std::mem::replace(&mut marks[part], true) {
                    waiting.push(part);
                }
            }
        }
        Ok(())
    }
}

/// The bytes from the first one on that may begin a character.
fn behind_continuations(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !(0x80..0xC0).contains(byte));
    &bytes[start.unwrap_or(bytes.len())..]
}

fn is_inside_text(bytes: &[u8]) -> bool {
    let inside = behind_continuations(bytes);
    let is_begun = str::from_utf8(inside).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_begun && bytes.len() - inside.len() <= 3
}
