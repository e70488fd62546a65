//! The words of ids in a vocabulary of characters, which has no pattern that cuts text into pretokens.

use std::ops::Range;

use super::vocabulary::Vocab;
use crate::error::{Error, Result};
use crate::room;
use crate::spelling::META_TEXT;

impl Vocab {
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
}
