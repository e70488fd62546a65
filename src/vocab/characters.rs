//! Vocabularies of characters, as SentencePiece makes them: merging begins with the characters of a text. A
//! character that is not a token falls back to the tokens of its bytes. No pattern cuts text into pretokens.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::build::{SpecialSpec, add_merges, memory_of, placed_as_given, ready, unknown_part};
use super::model::{CharacterTokens, Model};
use super::reach;
use super::tokens::{Ordinary, TokenBytes};
use super::vocabulary::Vocab;
use crate::error::{Error, Result};
use crate::merge::{FirstTokens, Pairs};
use crate::room;
use crate::spelling::META_TEXT;

impl Vocab {
    /// Validates and indexes a vocabulary of characters.
    ///
    /// `tokens` are ids with the bytes of the text that each stands for; a token for a byte has that byte.
    /// `merges` are pairs of ids in order; each makes the token that has the joined bytes of both, at the
    /// rank of its place in the list or, if it is among the ties, at that of the merge before. All special
    /// tokens must have an id, and it must be the id of a token.
    pub fn of_characters(
        tokens: Vec<(u32, &[u8])>,
        merges: &[(u32, u32)],
        characters: CharacterTokens,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        room::check_available(memory_of(&tokens, merges.len()))?;
        let (tokens, specials, special_ids) = placed_as_given(tokens, specials)?;
        let ordinary = ordinary(&tokens, &characters)?;
        let mut pairs = Pairs::of_first_tokens(first_tokens(&tokens, &characters)?, merges.len());
        let index = |id: u32| tokens.index_of(id).ok_or(Error::UnknownId { id: i128::from(id), index: None });
        let merges = merges.iter().map(|&(left, right)| Ok((index(left)?, index(right)?)));
        let merges = add_merges(&mut pairs, merges, &characters.ties, &tokens, &ordinary)?;
        // Added tokens as well: a token of the model can be one. A token that stands for a byte, if a
        // character has that byte.
        let unmergeable = reach::unmade(&tokens, 0..tokens.len() as u32, reach::by_pairs(&pairs))?;
        let (ordinary, merges) = (ready(ordinary), Arc::new(merges));
        let model = Model::Characters { pairs: Arc::new(pairs), tokens: characters };
        Ok(Vocab { tokens, ordinary, model, merges, unmergeable, specials, special_ids })
    }

    /// [`Vocab::of_characters`], where merges are the bytes of their parts.
    pub fn of_character_rows(
        tokens: Vec<(u32, &[u8])>,
        merges: &[(Vec<u8>, Vec<u8>)],
        characters: CharacterTokens,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        room::check_available(48 * tokens.len())?;
        let apart: FxHashSet<u32> = characters.bytes.iter().chain(&characters.outside).copied().collect();
        let merged = tokens.iter().filter(|(id, _)| !apart.contains(id)).map(|&(id, bytes)| (bytes, id));
        let ids: FxHashMap<&[u8], u32> = merged.collect();
        let pair = |(index, (left, right)): (usize, &(Vec<u8>, Vec<u8>))| {
            let id =
                |part: &[u8]| ids.get(part).copied().ok_or_else(|| unknown_part(index, (left, right), part));
            Ok((id(left)?, id(right)?))
        };
        let pairs: Vec<(u32, u32)> = merges.iter().enumerate().map(pair).collect::<Result<_>>()?;
        Self::of_characters(tokens, &pairs, characters, specials)
    }

    /// The words that ids stand for: their bytes, one after the other, and the range of each. A word begins
    /// with a token that begins with a space. Tokens that no merge takes are in no word: those of bytes, and
    /// special ones.
    ///
    /// No merge crossed the ends of a word, so merging its bytes gives its tokens again.
    pub fn words_of(&self, ids: &[u32]) -> Result<(Vec<u8>, Vec<Range<usize>>)> {
        let mut is_apart = room::filled(false, self.tokens.len())?;
        let characters = self.characters().into_iter().flat_map(|characters| {
            characters.bytes.iter().chain(&characters.unknown).chain(&characters.outside)
        });
        for id in characters.chain(&self.special_ids) {
            self.tokens.index_of(*id).into_iter().for_each(|index| is_apart[index as usize] = true);
        }
        let (mut bytes, mut words, mut start) = (Vec::new(), Vec::new(), 0);
        for &id in ids {
            let index = self.tokens.index_of(id);
            let index = index.ok_or(Error::UnknownId { id: i128::from(id), index: None })?;
            let token = self.tokens.bytes_at(index);
            let is_apart = is_apart[index as usize];
            if is_apart || token.starts_with(b" ") || token.starts_with(META_TEXT.as_bytes()) {
                room::push(&mut words, start..bytes.len())?;
                start = bytes.len();
            }
            room::extend(&mut bytes, if is_apart { &[] } else { token })?;
        }
        room::push(&mut words, start..bytes.len())?;
        Ok((bytes, words))
    }

    /// The last byte of the left part and the first byte of the right part of each merge; and of characters
    /// without a token that may become one token.
    pub(crate) fn joined_bytes(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        let merged = self.merges.iter().filter_map(|&(left, right)| {
            Some((*self.tokens.bytes_at(left).last()?, *self.tokens.bytes_at(right).first()?))
        });
        let unknown = self.spelled().into_iter().flat_map(|bpe| {
            let bytes = bpe.unknown_bytes();
            bytes.clone().flat_map(move |before| bytes.clone().map(move |after| (before, after)))
        });
        merged.chain(unknown)
    }
}

/// Indexes the tokens that text can become, by their bytes. A token for a byte is left out if a character has
/// the same bytes.
fn ordinary(tokens: &TokenBytes, characters: &CharacterTokens) -> Result<Ordinary> {
    let bytes: FxHashSet<u32> = characters.bytes.iter().copied().collect();
    let is_apart = |id: u32| bytes.contains(&id) || characters.outside.contains(&id);
    let indices = (0..tokens.len() as u32).filter(|&index| !is_apart(tokens.id_at(index)));
    let mut ordinary = Ordinary::new(tokens, indices)?;
    for &id in &characters.bytes {
        let index = tokens.index_of(id).ok_or(Error::BrokenState)?;
        let _ = ordinary.insert(tokens, index);
    }
    Ok(ordinary)
}

fn first_tokens(tokens: &TokenBytes, characters: &CharacterTokens) -> Result<FirstTokens> {
    let index = |id: u32| tokens.index_of(id).ok_or(Error::BrokenState);
    let count = characters.bytes.len();
    let ids = characters.bytes.first_chunk::<256>();
    let ids = ids.ok_or_else(|| Error::Vocab(format!("the tokens of bytes are {count} ids, not 256")))?;
    let mut bytes = Box::new([0; 256]);
    for (byte, &id) in ids.iter().enumerate() {
        bytes[byte] = index(id)?;
        if tokens.bytes_at(bytes[byte]) != [byte as u8] {
            return Err(Error::BrokenState);
        }
    }
    let is_character = |&index: &u32| {
        let text = std::str::from_utf8(tokens.bytes_at(index)).unwrap_or_default();
        let id = tokens.id_at(index);
        text.chars().count() == 1 && !characters.bytes.contains(&id) && !characters.outside.contains(&id)
    };
    let first_tokens =
        (0..tokens.len() as u32).filter(is_character).map(|index| (tokens.bytes_at(index), index));
    Ok(FirstTokens::new(first_tokens, bytes))
}
