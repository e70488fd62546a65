//! Added tokens, as Hugging Face's tokenizers find them: special ones and others, some with conditions.

use std::ops::Range;

use super::Specials;
use crate::error::Result;

/// How an added token is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Only where no word character stands beside it.
    pub single_word: bool,
    /// Whitespace before it belongs to it.
    pub lstrip: bool,
    /// Whitespace behind it belongs to it.
    pub rstrip: bool,
    /// Whether it can be passed over.
    pub special: bool,
}

/// A stretch of a text: text, or an added token by its place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedSegment {
    /// The token; `None` for text.
    pub token: Option<usize>,
    /// Where it lies, in bytes. A token may reach back into whitespace that the one before took.
    pub range: Range<usize>,
}

/// A list of added tokens, ready to be searched for.
#[derive(Clone, Debug)]
pub struct AddedTokens {
    found: Specials,
    flags: Vec<Flags>,
}

impl AddedTokens {
    /// Prepares a list of texts with their flags.
    ///
    /// # Errors
    /// As [`Specials::new`].
    pub fn new(tokens: Vec<(String, Flags)>) -> Result<Self> {
        let (texts, flags) = tokens.into_iter().map(|(text, flags)| (text.into_bytes(), flags)).unzip();
        Ok(AddedTokens { found: Specials::new(texts)?, flags })
    }

    /// Whether any of the texts stands anywhere, whatever its flags.
    pub fn is_in(&self, text: &str) -> bool {
        self.found.find(text.as_bytes(), 0).is_some()
    }

    /// As [`AddedTokens::segments`], in characters.
    pub fn segments_in_characters(&self, text: &str, special: bool) -> Vec<(Option<usize>, usize, usize)> {
        let (mut bytes, mut characters) = (0, 0);
        let mut at = |byte: usize| {
            // Only a token that reaches back starts before the last place.
            if byte < bytes {
                return characters - text[byte..bytes].chars().count();
            }
            characters += text[bytes..byte].chars().count();
            bytes = byte;
            characters
        };
        let segments = self.segments(text, special).into_iter();
        segments.map(|found| (found.token, at(found.range.start), at(found.range.end))).collect()
    }

    /// The tokens in a text, and all text between them. Without `special`, special ones are text.
    ///
    /// Occurrences are the leftmost, of those the longest, and never overlap; one that its flags refuse, or that is
    /// passed over, hides what overlaps it all the same.
    pub fn segments(&self, text: &str, special: bool) -> Vec<AddedSegment> {
        let (mut segments, mut from, mut end) = (Vec::new(), 0, 0);
        while let Some(found) = self.found.find(text.as_bytes(), from) {
            let Range { mut start, end: mut stop } = found.range;
            from = stop;
            let flags = self.flags[found.index];
            if flags.special && !special {
                continue;
            }
            if flags.single_word && (ends_with_word(&text[..start]) || starts_with_word(&text[stop..])) {
                continue;
            }
            if flags.lstrip {
                start = text[..start].trim_end().len().max(end);
            }
            if flags.rstrip {
                stop = text.len() - text[stop..].trim_start().len();
            }
            if end < start {
                segments.push(AddedSegment { token: None, range: end..start });
            }
            segments.push(AddedSegment { token: Some(found.index), range: start.min(stop)..stop });
            end = stop;
        }
        if end != text.len() {
            segments.push(AddedSegment { token: None, range: end..text.len() });
        }
        segments
    }
}

fn ends_with_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(is_word)
}

fn starts_with_word(text: &str) -> bool {
    text.chars().next().is_some_and(is_word)
}

/// `\w` of the regex crate.
fn is_word(character: char) -> bool {
    // Without its tables this would be an error; they are compiled in.
    regex_syntax::try_is_word_character(character).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(tokens: &[(&str, Flags)], text: &str) -> Vec<(Option<usize>, String)> {
        let tokens = tokens.iter().map(|&(token, flags)| (token.to_owned(), flags)).collect();
        let Ok(tokens) = AddedTokens::new(tokens) else { return Vec::new() };
        let found = tokens.segments(text, true).into_iter();
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
    fn a_word_of_its_own() {
        let single = Flags { single_word: true, ..Flags::default() };
        assert_eq!(segments(&[("ing", single)], "king ing"), [text("king "), token("ing")]);
        assert_eq!(segments(&[("ing", single)], "ing,_ing"), [token("ing"), text(",_ing")]);
        assert!(segments(&[("ing", single)], "").is_empty());
    }
}
