//! Added tokens, found like in Hugging Face's tokenizers: special ones and others, some of them with
//! conditions.

use std::ops::Range;

use super::set::Specials;
use crate::control::Control;
use crate::error::Result;
use crate::room;

/// How an added token is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The token is found only if no word character stands directly before or behind it.
    pub single_word: bool,
    /// Whitespace before the token belongs to it.
    pub lstrip: bool,
    /// Whitespace behind the token belongs to it.
    pub rstrip: bool,
    /// The token is special: a search may be told to read it as text.
    pub special: bool,
}

/// A part of a text: ordinary text, or an added token by its index in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedSegment {
    /// The index of the token; `None` for text.
    pub token: Option<usize>,
    /// The range in bytes. The range of a token may reach back into whitespace that the token before it has
    /// taken.
    pub range: Range<usize>,
}

/// A list of added tokens that can be searched for.
#[derive(Clone, Debug)]
pub struct AddedTokens {
    found: Specials,
    flags: Vec<Flags>,
}

impl AddedTokens {
    /// Builds the search for a list of tokens with their flags.
    ///
    /// # Errors
    /// Same as [`Specials::new`].
    pub fn new(tokens: Vec<(String, Flags)>) -> Result<Self> {
        let (texts, flags) = tokens.into_iter().map(|(text, flags)| (text.into_bytes(), flags)).unzip();
        Ok(AddedTokens { found: Specials::new(texts)?, flags })
    }

    /// Whether any of the tokens occurs in `text`, regardless of its flags.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub fn is_in(&self, text: &str, control: &Control) -> Result<bool> {
        Ok(self.found.matches(text.as_bytes(), 0).next(control)?.is_some())
    }

    /// [`AddedTokens::segments`] with ranges in characters.
    ///
    /// # Errors
    /// Same as [`AddedTokens::segments`].
    pub fn segments_in_characters(
        &self,
        text: &str,
        special: bool,
        control: &Control,
    ) -> Result<Vec<(Option<usize>, usize, usize)>> {
        let segments = self.segments(text, special, control)?.into_iter();
        let before = Characters::new(text);
        let place = |found: AddedSegment| {
            (found.token, before.count(found.range.start), before.count(found.range.end))
        };
        room::collected(segments.map(place))
    }

    /// The added tokens in a text, and all text between them. If `special` is false, special tokens are read
    /// as text.
    ///
    /// The occurrences are leftmost, then longest, and never overlap. An occurrence that its flags rule out,
    /// or that is read as text, still hides other occurrences that overlap it.
    ///
    /// Cost: linear in the text.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`]; [`crate::Error::OutOfMemory`].
    pub fn segments(&self, text: &str, special: bool, control: &Control) -> Result<Vec<AddedSegment>> {
        let (mut segments, mut end) = (Vec::new(), 0);
        let mut blank_to = 0;
        let mut matches = self.found.matches(text.as_bytes(), 0);
        while let Some(found) = matches.next(control)? {
            let Range { mut start, end: mut stop } = found.range;
            let flags = self.flags[found.index];
            if flags.special && !special {
                continue;
            }
            if flags.single_word && (ends_with_word(&text[..start]) || starts_with_word(&text[stop..])) {
                continue;
            }
            if flags.lstrip {
                // Whitespace up to the end of the token before, which may have taken all of it and more.
                start = text.get(end..start).map_or(end, |between| end + between.trim_end().len());
            }
            if flags.rstrip {
                // `blank_to` is the end of the whitespace that was measured last, so that no whitespace is
                // measured twice.
                if stop > blank_to {
                    blank_to = text.len() - text[stop..].trim_start().len();
                }
                stop = blank_to;
            }
            if end < start {
                room::push(&mut segments, AddedSegment { token: None, range: end..start })?;
            }
            room::push(
                &mut segments,
                AddedSegment { token: Some(found.index), range: start.min(stop)..stop },
            )?;
            end = stop;
        }
        if end != text.len() {
            room::push(&mut segments, AddedSegment { token: None, range: end..text.len() })?;
        }
        Ok(segments)
    }
}

/// Converts offsets of a text from bytes to characters.
struct Characters<'t> {
    text: &'t [u8],
    /// The number of characters before every [`STEP_BYTES`]th byte; empty for ASCII text.
    before: Vec<usize>,
}

/// Bytes of text for each stored number of characters: an offset needs a look at fewer than these. Chosen
/// without measurement.
const STEP_BYTES: usize = 64;

impl<'t> Characters<'t> {
    fn new(text: &'t str) -> Self {
        let (text, mut before) = (text.as_bytes(), Vec::new());
        if !text.is_ascii() {
            let mut sum = 0;
            for step in text.chunks(STEP_BYTES) {
                before.push(sum);
                sum += characters(step);
            }
        }
        Characters { text, before }
    }

    fn count(&self, byte: usize) -> usize {
        let step = byte / STEP_BYTES;
        match self.before.get(step) {
            Some(before) => before + characters(&self.text[step * STEP_BYTES..byte]),
            None if self.before.is_empty() => byte,
            None => self.before[step - 1] + characters(&self.text[(step - 1) * STEP_BYTES..byte]),
        }
    }
}

/// The number of characters that begin in `bytes`.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

fn ends_with_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(is_word)
}

fn starts_with_word(text: &str) -> bool {
    text.chars().next().is_some_and(is_word)
}

/// Whether a character is matched by `\w` of the regex crate.
fn is_word(character: char) -> bool {
    // An error would mean that the tables of `regex-syntax` are missing; they are compiled in.
    regex_syntax::try_is_word_character(character).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(tokens: &[(&str, Flags)], text: &str) -> Vec<(Option<usize>, String)> {
        let tokens = tokens.iter().map(|&(token, flags)| (token.to_owned(), flags)).collect();
        let tokens = AddedTokens::new(tokens).unwrap();
        let found = tokens.segments(text, true, &Control::none()).unwrap().into_iter();
        found.map(|segment| (segment.token, text[segment.range].to_owned())).collect()
    }

    fn text(text: &str) -> (Option<usize>, String) {
        (None, text.to_owned())
    }

    fn token(text: &str) -> (Option<usize>, String) {
        (Some(0), text.to_owned())
    }

    #[test]
    fn whitespace_goes_to_the_token() {
        let both = Flags { lstrip: true, rstrip: true, ..Flags::default() };
        assert_eq!(segments(&[("<m>", both)], "a  <m>\n b"), [text("a"), token("  <m>\n "), text("b")]);
        assert_eq!(segments(&[("<m>", both)], " <m> <m>"), [token(" <m> "), token("<m>")]);
        let left = Flags { lstrip: true, ..Flags::default() };
        assert_eq!(
            segments(&[("<m>", left)], "<m>\u{3000}<m> "),
            [token("<m>"), token("\u{3000}<m>"), text(" ")]
        );
    }

    #[test]
    fn single_word_tokens_are_found_between_other_characters_only() {
        let single = Flags { single_word: true, ..Flags::default() };
        assert_eq!(segments(&[("ing", single)], "king ing"), [text("king "), token("ing")]);
        assert_eq!(segments(&[("ing", single)], "ing,_ing"), [token("ing"), text(",_ing")]);
        assert!(segments(&[("ing", single)], "").is_empty());
    }
}
