//! Tokens and merges as bytes, for pickles and fingerprints.
//!
//! The format is little-endian: flags, the number of tokens, the id and the length of each by ascending id,
//! then their bytes; then the number of merges (0 under rank semantics) and the two ids of each. At its end,
//! the state of a vocabulary of characters has three more lists of ids: of the 256 bytes, of the unknown
//! token, and of the tokens that take no part in merging. Where merges have the rank of the one before, their
//! places follow.

mod spelled;

use spelled::{StateReader, put, put_list, put_spelled, read_spelled};

use crate::error::{Error, Result};
use crate::room;
use crate::vocab::{CharacterTokens, Model, SpecialSpec, Vocab};

/// The flag for merges semantics.
const MERGES_FLAG: u32 = 1;
/// The flag for a vocabulary that ignores merges in a pretoken that is a token.
const WHOLE_TOKENS_FLAG: u32 = 2;
const CHARACTERS_FLAG: u32 = 4;
/// The flag for a vocabulary that merges by names; it stands alone.
const SPELLED_FLAG: u32 = 8;
/// The flag for a vocabulary of characters with merges of one rank.
const TIES_FLAG: u32 = 16;

impl Vocab {
    /// The maximum number of bytes of memory that [`Vocab::state`] takes.
    pub(crate) fn state_bytes(&self) -> usize {
        let mut bytes: usize = self.tokens().iter().map(|(_, token)| token.len()).sum();
        let merges = self.merges_by_index().len();
        if let Some(bpe) = self.spelled() {
            bytes += bpe.names().map(|(name, _)| name.len() + 8).sum::<usize>() + 4 * merges;
        }
        // Twice the bytes, since a list may have twice the memory it needs while it grows.
        2 * ((1 << 12) + bytes + 16 * self.tokens().len() + 16 * merges + 4 * self.ties().len())
    }

    /// The tokens and merges as bytes for [`Vocab::from_state`].
    pub fn state(&self) -> Vec<u8> {
        let mut state = Vec::new();
        let flags = match self.model() {
            Model::Ranks(_) => 0,
            Model::Merges { ignored: false, .. } => MERGES_FLAG,
            Model::Merges { ignored: true, .. } => MERGES_FLAG | WHOLE_TOKENS_FLAG,
            Model::Characters { tokens, .. } if tokens.ties.is_empty() => MERGES_FLAG | CHARACTERS_FLAG,
            Model::Characters { .. } => MERGES_FLAG | CHARACTERS_FLAG | TIES_FLAG,
            Model::Spelled { .. } => SPELLED_FLAG,
        };
        put(&mut state, flags);
        put(&mut state, self.tokens().len() as u32);
        for (id, bytes) in self.tokens().iter() {
            put(&mut state, id);
            put(&mut state, bytes.len() as u32);
        }
        for (_, bytes) in self.tokens().iter() {
            state.extend_from_slice(bytes);
        }
        match self.model() {
            Model::Ranks(_) => put(&mut state, 0),
            Model::Merges { .. } => put_merges(&mut state, &self.merges()),
            Model::Characters { tokens: CharacterTokens { bytes, unknown, outside, ties }, .. } => {
                put_merges(&mut state, &self.merges());
                let lists = [bytes, &Vec::from_iter(*unknown), &outside.iter().copied().collect()];
                lists.into_iter().for_each(|numbers| put_list(&mut state, numbers));
                if !ties.is_empty() {
                    put_list(&mut state, ties);
                }
            }
            Model::Spelled { bpe, tokens } => put_spelled(&mut state, self, bpe, tokens.as_ref()),
        }
        state
    }

    /// Makes the vocabulary of [`Vocab::state`] again; the special tokens must have their ids.
    pub fn from_state(state: &[u8], specials: &[SpecialSpec]) -> Result<Self> {
        let mut reader = StateReader(state);
        let semantics = reader.number()?;
        if semantics & !(MERGES_FLAG | WHOLE_TOKENS_FLAG | CHARACTERS_FLAG | TIES_FLAG) != 0
            && semantics != SPELLED_FLAG
        {
            return Err(Error::BrokenState);
        }
        let count = reader.number()?;
        let sizes = reader.rows(count)?;
        let mut tokens = room::for_items(sizes.len())?;
        for [id, len] in sizes {
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
        let count = reader.number()?;
        let merges = reader.rows(count)?.into_iter();
        let merges = merges.map(|[left, right]| Ok((bytes_of(left)?, bytes_of(right)?)));
        let merges: Vec<(&[u8], &[u8])> = merges.collect::<Result<_>>()?;
        if !reader.0.is_empty() {
            return Err(Error::BrokenState);
        }
        let vocab = Vocab::new(&tokens, (semantics & MERGES_FLAG != 0).then_some(&merges), specials)?;
        Ok(if semantics & WHOLE_TOKENS_FLAG != 0 { vocab.ignoring_merges() } else { vocab })
    }
}

fn put_merges(state: &mut Vec<u8>, merges: &[(u32, u32)]) {
    put(state, merges.len() as u32);
    merges.iter().for_each(|&(left, right)| [left, right].iter().for_each(|&id| put(state, id)));
}

/// The vocabulary of characters with these tokens.
fn characters_vocab(
    mut reader: StateReader<'_>,
    tokens: Vec<(u32, &[u8])>,
    has_ties: bool,
    specials: &[SpecialSpec],
) -> Result<Vocab> {
    let count = reader.number()?;
    let merges: Vec<(u32, u32)> =
        reader.rows(count)?.into_iter().map(|[left, right]| (left, right)).collect();
    let (bytes, unknown) = (reader.numbers()?, reader.numbers()?.first().copied());
    let outside = reader.numbers()?.into_iter().collect();
    let ties = if has_ties { reader.numbers()? } else { Vec::new() };
    if !reader.0.is_empty() {
        return Err(Error::BrokenState);
    }
    Vocab::of_characters(tokens, &merges, CharacterTokens { bytes, unknown, outside, ties }, specials)
}
