//! The model of a byte-level `tokenizer.json`: tokens that are spelled with a character for each byte, and merges of
//! spelled tokens.
//!
//! Printable bytes are spelled as themselves, the others as the characters from U+0100 on (GPT-2's release,
//! src/encoder.py).

use rustc_hash::{FxHashMap, FxHashSet};

use super::build::SpecialSpec;
use super::vocabulary::Vocab;
use crate::error::Result;
use crate::room;

/// Bytes of tables for each token while a model is read. Chosen without measurement.
const BYTES_PER_TOKEN: usize = 96;

/// Whether a byte is spelled as the character of its own number.
const fn is_printable(byte: u8) -> bool {
    matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF)
}

/// For each character below U+0144 the byte that it spells, or `NO_BYTE`.
const BYTES: [u16; 0x144] = {
    let mut bytes = [NO_BYTE; 0x144];
    let (mut byte, mut next) = (0, 0x100);
    while byte < 256 {
        if is_printable(byte as u8) {
            bytes[byte] = byte as u16;
        } else {
            bytes[next] = byte as u16;
            next += 1;
        }
        byte += 1;
    }
    bytes
};
const NO_BYTE: u16 = 0x100;

/// Appends the bytes that `text` spells. Returns `None`, with some bytes appended, if a character spells no byte.
fn unspell(text: &str, bytes: &mut Vec<u8>) -> Option<()> {
    for character in text.chars() {
        let byte = BYTES.get(character as usize).copied().filter(|&byte| byte != NO_BYTE)?;
        bytes.push(byte as u8);
    }
    Some(())
}

/// A model that was read.
#[derive(Default)]
pub struct SpelledModel {
    ids: Vec<u32>,
    /// The bytes of all tokens, one behind the other; those of token `i` end at `ends[i]`.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// For each token whether all its characters spell bytes; a token that is not spelled has no bytes here.
    is_spelled: Vec<bool>,
    /// For each token whether a merge takes or makes it.
    is_needed: Vec<bool>,
    /// Pairs of positions in `ids`.
    merges: Vec<(u32, u32)>,
}

/// Reads a model.
pub struct SpelledReader<'a> {
    model: SpelledModel,
    positions: FxHashMap<&'a str, u32>,
    seen: FxHashSet<(u32, u32)>,
    joined: String,
}

impl<'a> SpelledReader<'a> {
    /// Takes the tokens with their ids; all tokens are different. `merges` is about how many merges will follow.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub fn new(tokens: impl ExactSizeIterator<Item = (&'a str, u32)> + Clone, merges: usize) -> Result<Self> {
        let size: usize = tokens.clone().map(|(token, _)| token.len()).sum();
        room::check_available(size + BYTES_PER_TOKEN * (tokens.len() + merges))?;
        let mut model = SpelledModel::default();
        let mut positions = FxHashMap::with_capacity_and_hasher(tokens.len(), Default::default());
        for (position, (token, id)) in tokens.enumerate() {
            positions.insert(token, position as u32);
            let start = model.bytes.len();
            let is_spelled = unspell(token, &mut model.bytes).is_some();
            if !is_spelled {
                model.bytes.truncate(start);
            }
            model.ids.push(id);
            model.ends.push(model.bytes.len());
            model.is_spelled.push(is_spelled);
            model.is_needed.push(false);
        }
        let seen = FxHashSet::with_capacity_and_hasher(merges, Default::default());
        Ok(SpelledReader { model, positions, seen, joined: String::new() })
    }

    /// Adds the next merge. Returns false, and adds nothing, if a token of the merge is unknown or not spelled, or if
    /// the merge was added before.
    pub fn merge(&mut self, left: &str, right: &str) -> bool {
        self.joined.clear();
        self.joined.push_str(left);
        self.joined.push_str(right);
        let position = |token: &str| {
            self.positions.get(token).copied().filter(|&position| self.model.is_spelled[position as usize])
        };
        let Some(((left, right), made)) = position(left).zip(position(right)).zip(position(&self.joined))
        else {
            return false;
        };
        for needed in [left, right, made] {
            self.model.is_needed[needed as usize] = true;
        }
        self.model.merges.push((left, right));
        self.seen.insert((left, right))
    }

    /// The model.
    pub fn finish(self) -> SpelledModel {
        self.model
    }
}

impl SpelledModel {
    /// The ids of the tokens that hold a character that spells no byte.
    pub fn unspelled(&self) -> impl Iterator<Item = u32> + '_ {
        self.ids.iter().zip(&self.is_spelled).filter(|(_, is_spelled)| !**is_spelled).map(|(&id, _)| id)
    }

    /// Of the given ids, those whose tokens a merge takes or makes.
    pub fn needed(&self, ids: &[u32]) -> Vec<u32> {
        let asked: FxHashSet<u32> = ids.iter().copied().collect();
        let found = self.ids.iter().zip(&self.is_needed);
        found.filter(|&(id, &is_needed)| is_needed && asked.contains(id)).map(|(&id, _)| id).collect()
    }

    fn token(&self, position: usize) -> &[u8] {
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[position]]
    }

    /// The vocabulary of the special tokens and of all tokens but those whose ids are in `left_out`, which no merge may
    /// take or make.
    ///
    /// # Errors
    /// Those of [`Vocab::new`]; [`crate::Error::OutOfMemory`].
    pub fn vocab(&self, left_out: &[u32], specials: &[SpecialSpec]) -> Result<Vocab> {
        let left_out: FxHashSet<u32> = left_out.iter().copied().collect();
        let kept = (0..self.ids.len()).filter(|&position| !left_out.contains(&self.ids[position]));
        let mut tokens = room::for_items(self.ids.len())?;
        tokens.extend(kept.map(|position| (self.ids[position], self.token(position))));
        let pair = |&(left, right): &(u32, u32)| (self.token(left as usize), self.token(right as usize));
        let merges = room::collected(self.merges.iter().map(pair))?;
        Vocab::of_views(tokens, Some(merges), specials)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_spelled_by_one_character() {
        let mut spelled: Vec<u16> = BYTES.iter().copied().filter(|&byte| byte != NO_BYTE).collect();
        spelled.sort_unstable();
        assert_eq!(spelled, (0..256).collect::<Vec<_>>());
        let mut bytes = Vec::new();
        assert_eq!(unspell("Ġa\u{143}Ċ", &mut bytes), Some(()));
        assert_eq!(bytes, b" a\xad\n");
        assert_eq!(unspell("a b", &mut bytes), None);
    }

    #[test]
    fn merges_that_are_no_merges_are_not_added() {
        let tokens = [("a", 5), ("b", 6), ("ab", 7), ("日", 8), ("日a", 9)];
        let mut reader = SpelledReader::new(tokens.into_iter(), 4).unwrap();
        let added = [("a", "b"), ("a", "b"), ("b", "a"), ("日", "a"), ("x", "a")];
        assert_eq!(added.map(|(left, right)| reader.merge(left, right)), [true, false, false, false, false]);
        let model = reader.finish();
        assert_eq!(model.needed(&[7, 8, 5]), [5, 7]);
        assert_eq!(model.unspelled().collect::<Vec<_>>(), [8, 9]);
    }
}
