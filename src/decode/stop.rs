//! Strings that end a text, found in text that arrives in pieces.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, Result};
use crate::room;

/// The maximum number of bytes of a stop string.
const MAX_BYTES: usize = 4096;

/// Strings of which the first to be complete ends a text; of several that are complete at the same place, the
/// longest.
pub struct StopStrings {
    strings: Vec<String>,
    search: AhoCorasick,
    max_len: usize,
}

impl StopStrings {
    /// Prepares a search; `None` for no strings.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an empty or too long one.
    pub fn new(strings: Vec<String>) -> Result<Option<Self>> {
        if let Some(index) = strings.iter().position(|string| !(1..=MAX_BYTES).contains(&string.len())) {
            let bytes = strings[index].len();
            return Err(Error::Invalid(format!(
                "a stop string has 1 to 4,096 bytes, but stop[{index}] has {bytes}"
            )));
        }
        let Some(max_len) = strings.iter().map(String::len).max() else { return Ok(None) };
        let search = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&strings);
        let search = search.map_err(|_| room::out_of_memory(strings.iter().map(String::len).sum()))?;
        Ok(Some(StopStrings { strings, search, max_len }))
    }

    /// Adds `more` to the text that is held back in `pending`, and appends to `text` what no stop string can
    /// take any more. Returns the stop string that ends the text, by its index; what comes after its
    /// beginning is lost.
    pub fn push(
        &self,
        pending: &mut Vec<u8>,
        more: &[u8],
        is_last: bool,
        text: &mut Vec<u8>,
    ) -> Result<Option<usize>> {
        room::extend(pending, more)?;
        if let Some(stop) = self.search.find(&pending) {
            room::extend(text, &pending[..stop.start()])?;
            pending.clear();
            return Ok(Some(stop.pattern().as_usize()));
        }
        let free = pending.len() - if is_last { 0 } else { self.begun(pending) };
        room::extend(text, &pending[..free])?;
        pending.drain(..free);
        Ok(None)
    }

    /// Bytes at the end of a text with which a stop string begins.
    fn begun(&self, text: &[u8]) -> usize {
        let from = text.len().saturating_sub(self.max_len - 1);
        let begins = |end: &[u8]| {
            self.strings.iter().any(|string| string.len() > end.len() && string.as_bytes().starts_with(end))
        };
        (from..text.len()).find(|&at| begins(&text[at..])).map_or(0, |at| text.len() - at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_beginning_of_a_stop_string_is_held_back() {
        let search = StopStrings::new(vec!["abc".into(), "bd".into()]).unwrap().unwrap();
        let (mut pending, mut text) = (Vec::new(), Vec::new());
        for (piece, shown) in [("xa", "x"), ("b", ""), ("b", "ab"), ("x", "bx")] {
            text.clear();
            assert_eq!(search.push(&mut pending, piece.as_bytes(), false, &mut text).unwrap(), None);
            assert_eq!(text, shown.as_bytes());
        }
    }
}
