//! Tokens and merges as bytes, for pickles and fingerprints.
//!
//! The format is little-endian: flags, the number of tokens, the id and the length of each by ascending id, then
//! their bytes; then the number of merges (0 under rank semantics) and the two ids of each. At its end, the state of
//! a vocabulary of characters has three more lists of ids: of the 256 bytes, of the unknown token, and of the tokens
//! that take no part in merging. Where merges have the rank of the one before, their places follow.

use super::build::SpecialSpec;
use super::spelled_state::{put_spelled, read_spelled};
use super::state_reader::{StateReader, put};
use super::vocabulary::{CharacterTokens, Semantics, Vocab};
use crate::error::{Error, Result};
use crate::room;

/// The flag for merges semantics.
const MERGES_FLAG: u32 = 1;
/// The flag for a vocabulary that ignores merges in a pretoken that is a token.
const WHOLE_TOKENS_FLAG: u32 = 2;
/// The flag for a vocabulary of characters.
const CHARACTERS_FLAG: u32 = 4;
/// The flag for a vocabulary that merges by names; it stands alone.
const SPELLED_FLAG: u32 = 8;
/// The flag for a vocabulary of characters with merges of one rank.
const TIES_FLAG: u32 = 16;

impl Vocab {
    /// The maximum number of bytes of memory that [`Vocab::state`] takes.
    #[cfg(feature = "python")]
    pub(crate) fn state_bytes(&self) -> usize {
        let mut bytes: usize = self.tokens.iter().map(|(_, token)| token.len()).sum();
        if let Some(bpe) = self.spelled() {
            bytes += bpe.names().map(|(name, _)| name.len() + 8).sum::<usize>() + 4 * self.merges.len();
        }
        // Twice the bytes, since a list may have twice the memory it needs while it grows.
        2 * (16
            + 8 * self.tokens.len()
            + bytes
            + 16 * self.merges.len()
            + (1 << 12)
            + 8 * self.tokens.len()
            + 4 * self.ties().len())
    }

    /// The tokens and merges as bytes for [`Vocab::from_state`].
    pub fn state(&self) -> Vec<u8> {
        let mut state = Vec::new();
        let (merges, whole) = (self.semantics == Semantics::Merges, self.whole);
        let mut flags = if merges { MERGES_FLAG | if whole { WHOLE_TOKENS_FLAG } else { 0 } } else { 0 };
        let spelled = self.spelled();
        if spelled.is_some() {
            flags = SPELLED_FLAG;
        } else if self.characters.is_some() {
            flags |= CHARACTERS_FLAG | if self.ties().is_empty() { 0 } else { TIES_FLAG };
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
        if let Some(bpe) = spelled {
            put_spelled(&mut state, self, bpe);
            return state;
        }
        let merges = if self.semantics == Semantics::Merges { self.merges() } else { Vec::new() };
        put(&mut state, merges.len() as u32);
        for (left, right) in merges {
            put(&mut state, left);
            put(&mut state, right);
        }
        if let Some(CharacterTokens { bytes, unknown, outside, ties }) = &self.characters {
            let lists = [bytes, &Vec::from_iter(*unknown), &outside.iter().copied().collect()];
            for numbers in lists.into_iter().chain((!ties.is_empty()).then_some(ties)) {
                put(&mut state, numbers.len() as u32);
                numbers.iter().for_each(|&number| put(&mut state, number));
            }
        }
        state
    }

    /// Makes the vocabulary of [`Vocab::state`] again; the special tokens must have their ids.
    ///
    /// # Errors
    /// [`Error::BrokenState`], and the errors of [`Vocab::new`].
    pub fn from_state(state: &[u8], specials: &[SpecialSpec]) -> Result<Self> {
        let mut reader = StateReader::new(state);
        let semantics = reader.number()?;
        if semantics & !(MERGES_FLAG | WHOLE_TOKENS_FLAG | CHARACTERS_FLAG | TIES_FLAG) != 0
            && semantics != SPELLED_FLAG
        {
            return Err(Error::BrokenState);
        }
        let count = reader.number()?;
        let mut sizes = Vec::new();
        for _ in 0..count {
            room::push(&mut sizes, (reader.number()?, reader.number()?))?;
        }
        let mut tokens = room::for_items(sizes.len())?;
        for (id, len) in sizes {
            tokens.push((id, reader.take(len as usize)?));
        }
        if semantics == SPELLED_FLAG {
            return read_spelled(reader, tokens, specials);
        }
        if semantics & CHARACTERS_FLAG != 0 {
            return characters_vocab(reader, tokens, semantics & TIES_FLAG != 0, specials);
        }
        let bytes_of = |id: u32| {
            let index = tokens.binary_search_by_key(&id, |(id, _)| *id).map_err(|_| Error::BrokenState)?;
            Ok(tokens[index].1)
        };
        let mut merges: Vec<(&[u8], &[u8])> = Vec::new();
        for _ in 0..reader.number()? {
            room::push(&mut merges, (bytes_of(reader.number()?)?, bytes_of(reader.number()?)?))?;
        }
        if !reader.is_empty() {
            return Err(Error::BrokenState);
        }
        let vocab = Vocab::of_views(tokens, (semantics & MERGES_FLAG != 0).then_some(merges), specials)?;
        Ok(if semantics & WHOLE_TOKENS_FLAG != 0 { vocab.ignoring_merges() } else { vocab })
    }
}

/// The vocabulary of characters with these tokens.
fn characters_vocab(
    mut reader: StateReader<'_>,
    tokens: Vec<(u32, &[u8])>,
    has_ties: bool,
    specials: &[SpecialSpec],
) -> Result<Vocab> {
    let mut merges = Vec::new();
    for _ in 0..reader.number()? {
        room::push(&mut merges, (reader.number()?, reader.number()?))?;
    }
    let (bytes, unknown) = (reader.numbers()?, reader.numbers()?.first().copied());
    let outside = reader.numbers()?.into_iter().collect();
    let ties = if has_ties { reader.numbers()? } else { Vec::new() };
    if !reader.is_empty() {
        return Err(Error::BrokenState);
    }
    Vocab::of_characters(tokens, &merges, CharacterTokens { bytes, unknown, outside, ties }, specials)
}
