//! Where something is in an encoding: tokens of characters and words, and the other way round.

use std::ops::Range;

use super::encoding::Encoding;
use super::run::Span;
use crate::error::Result;

impl Encoding {
    pub(crate) fn sequences(&self) -> usize {
        self.ranges().len().max(1)
    }

    /// The number of the sequence of each token.
    pub(crate) fn sequence_ids(&self) -> Vec<Option<usize>> {
        let mut ids = vec![None; self.len()];
        for number in 0..self.sequences() {
            for id in ids.get_mut(self.range_of(number)).into_iter().flatten() {
                *id = Some(number);
            }
        }
        ids
    }

    /// The range of the tokens of a sequence: all of them, if it has none of its own.
    fn range_of(&self, sequence: usize) -> Range<usize> {
        let range = self.ranges().iter().find(|(number, _)| *number == sequence);
        range.map_or(0..self.len(), |(_, range)| range.start..range.end.min(self.len()))
    }

    pub(crate) fn token_to_sequence(&self, token: usize) -> Option<usize> {
        if token > self.len() {
            return None;
        }
        if self.ranges().is_empty() {
            return Some(0);
        }
        self.ranges().iter().find(|(_, range)| range.contains(&token)).map(|(number, _)| *number)
    }

    pub(crate) fn token_to_chars(&self, token: usize) -> Result<Option<Span>> {
        let is_known = self.token_to_sequence(token).is_some();
        Ok(if is_known { self.spans()?.get(token).copied() } else { None })
    }

    pub(crate) fn token_to_word(&self, token: usize) -> Result<Option<u32>> {
        let is_known = self.token_to_sequence(token).is_some();
        Ok(if is_known { self.words()?.get(token).copied().flatten() } else { None })
    }

    pub(crate) fn char_to_token(&self, character: usize, sequence: usize) -> Result<Option<usize>> {
        let spans = self.spans()?;
        Ok(self.range_of(sequence).find(|&at| (spans[at].0..spans[at].1).contains(&character)))
    }

    pub(crate) fn char_to_word(&self, character: usize, sequence: usize) -> Result<Option<u32>> {
        match self.char_to_token(character, sequence)? {
            Some(token) => self.token_to_word(token),
            None => Ok(None),
        }
    }

    /// The first token of a word, and the one after its last.
    pub(crate) fn word_to_tokens(&self, word: u32, sequence: usize) -> Result<Option<Span>> {
        let words = self.words()?;
        let until = self.range_of(sequence).take_while(|&at| words[at].is_none_or(|other| other <= word));
        let mut tokens = until.filter(|&at| words[at] == Some(word));
        let first = tokens.next();
        Ok(first.map(|first| (first, tokens.last().unwrap_or(first) + 1)))
    }

    pub(crate) fn word_to_chars(&self, word: u32, sequence: usize) -> Result<Option<Span>> {
        let Some((first, end)) = self.word_to_tokens(word, sequence)? else { return Ok(None) };
        let spans = self.spans()?;
        Ok(Some((spans[first].0, spans[end - 1].1)))
    }
}
