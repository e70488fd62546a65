//! Tokens and merges as bytes, for pickles and fingerprints.
//!
//! The format is little-endian: flags, the number of tokens, the id and the length of each by ascending id, then
//! their bytes; then the number of merges (0 under rank semantics) and the two ids of each. At its end, the state of
//! a vocabulary of characters has three more lists of ids: of the 256 bytes, of the unknown token, and of the tokens
//! that take no part in merging.

use super::build::SpecialSpec;
use super::vocabulary::{CharacterTokens, Semantics, Vocab};
use crate::error::{Error, Result};
use crate::room;

/// The flag for merges semantics.
const MERGES_FLAG: u32 = 1;
/// The flag for a vocabulary that ignores merges in a pretoken that is a token.
const WHOLE_TOKENS_FLAG: u32 = 2;
/// The flag for a vocabulary of characters.
const CHARACTERS_FLAG: u32 = 4;

impl Vocab {
    /// The most bytes of memory that [`Vocab::state`] takes.
    #[cfg(feature = "python")]
    pub(crate) fn state_bytes(&self) -> usize {
        let bytes: usize = self.tokens.iter().map(|(_, token)| token.len()).sum();
        // Twice the bytes, since a list may have twice the memory it needs while it grows.
        2 * (16 + 8 * self.tokens.len() + bytes + 16 * self.merges.len() + (1 << 12) + 8 * self.tokens.len())
    }

    /// The tokens and merges as bytes for [`Vocab::from_state`].
    pub fn state(&self) -> Vec<u8> {
        let mut state = Vec::new();
        let (merges, whole) = (self.semantics == Semantics::Merges, self.whole);
        let mut flags = if merges { MERGES_FLAG | if whole { WHOLE_TOKENS_FLAG } else { 0 } } else { 0 };
        if self.characters.is_some() {
            flags |= CHARACTERS_FLAG;
        }
        put(&mut state, flags);
        put(&mut state, self.tokens.len() as u32);
        for (id, bytes) in self.tokens.iter() {
            put(&mut state, id);
            put(&mut state, bytes.len() as u32);
        }
        for (_, bytes) in self.tokens.iter() {
            state.extend_from_slice(bytes);
        }
        let merges = if self.semantics == Semantics::Merges { self.merges() } else { Vec::new() };
        put(&mut state, merges.len() as u32);
        for (left, right) in merges {
            put(&mut state, left);
            put(&mut state, right);
        }
        if let Some(CharacterTokens { bytes, unknown, outside }) = &self.characters {
            for ids in [bytes, &Vec::from_iter(*unknown), &outside.iter().copied().collect()] {
                put(&mut state, ids.len() as u32);
                ids.iter().for_each(|&id| put(&mut state, id));
            }
        }
        state
    }

    /// Makes the vocabulary of [`Vocab::state`] again; the special tokens must have their ids.
    ///
    /// # Errors
    /// [`Error::BrokenState`], and the errors of [`Vocab::new`].
    pub fn from_state(state: &[u8], specials: &[SpecialSpec]) -> Result<Self> {
        let mut rest = StateReader(state);
        let semantics = rest.number()?;
        if semantics & !(MERGES_FLAG | WHOLE_TOKENS_FLAG | CHARACTERS_FLAG) != 0 {
            return Err(Error::BrokenState);
        }
        let count = rest.number()?;
        let mut sizes = Vec::new();
        for _ in 0..count {
            room::push(&mut sizes, (rest.number()?, rest.number()?))?;
        }
        let mut tokens = room::for_items(sizes.len())?;
        for (id, len) in sizes {
            tokens.push((id, rest.take(len as usize)?));
        }
        if semantics & CHARACTERS_FLAG != 0 {
            return rest.of_characters(tokens, specials);
        }
        let bytes_of = |id: u32| {
            let index = tokens.binary_search_by_key(&id, |(id, _)| *id).map_err(|_| Error::BrokenState)?;
            Ok(tokens[index].1)
        };
        let mut merges: Vec<(&[u8], &[u8])> = Vec::new();
        for _ in 0..rest.number()? {
            room::push(&mut merges, (bytes_of(rest.number()?)?, bytes_of(rest.number()?)?))?;
        }
        if !rest.0.is_empty() {
            return Err(Error::BrokenState);
        }
        let vocab = Vocab::of_views(tokens, (semantics & MERGES_FLAG != 0).then_some(merges), specials)?;
        Ok(if semantics & WHOLE_TOKENS_FLAG != 0 { vocab.ignoring_merges() } else { vocab })
    }
}

fn put(state: &mut Vec<u8>, number: u32) {
    state.extend_from_slice(&number.to_le_bytes());
}

/// Reads the parts of a state from its front.
struct StateReader<'a>(&'a [u8]);

impl<'a> StateReader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len).ok_or(Error::BrokenState)?;
        self.0 = rest;
        Ok(head)
    }

    fn numbers(&mut self) -> Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for _ in 0..self.number()? {
            room::push(&mut numbers, self.number()?)?;
        }
        Ok(numbers)
    }

    /// The vocabulary of characters with these tokens.
    fn of_characters(mut self, tokens: Vec<(u32, &[u8])>, specials: &[SpecialSpec]) -> Result<Vocab> {
        let mut merges = Vec::new();
        for _ in 0..self.number()? {
            room::push(&mut merges, (self.number()?, self.number()?))?;
        }
        let (bytes, unknown) = (self.numbers()?, self.numbers()?.first().copied());
        let outside = self.numbers()?.into_iter().collect();
        if !self.0.is_empty() {
            return Err(Error::BrokenState);
        }
        Vocab::of_characters(tokens, &merges, CharacterTokens { bytes, unknown, outside }, specials)
    }

    fn number(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        bytes.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes)).ok_or(Error::BrokenState)
    }
}
