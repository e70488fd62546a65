//! Added tokens, found like in Hugging Face's tokenizers: special ones and others, some of them with
//! conditions.

use std::ops::Range;

use super::matches::{Segment, SpecialMatch};
use super::set::Specials;
use crate::control::Control;
use crate::error::Result;
use crate::pretokenize::class::{char_start, decode_char};

/// How an added token is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// The token is found only if no word character stands directly before or after it.
    pub single_word: bool,
    /// Whitespace before the token belongs to it.
    pub lstrip: bool,
    /// Whitespace after the token belongs to it.
    pub rstrip: bool,
    /// The token is special: a search may be told to read it as text.
    pub special: bool,
}

/// A list of added tokens that can be searched for.
#[derive(Clone, Debug)]
pub struct AddedTokens {
    search: Specials,
    flags: Vec<Flags>,
}

impl AddedTokens {
    /// Builds the search for a list of tokens with their flags.
    pub fn new(tokens: Vec<(String, Flags)>) -> Result<Self> {
        let (texts, flags) = tokens.into_iter().map(|(text, flags)| (text.into_bytes(), flags)).unzip();
        Ok(AddedTokens { search: Specials::new(texts)?, flags })
    }

    /// Whether a token is special, by its index.
    pub(crate) fn is_special(&self, index: usize) -> bool {
        self.flags[index].special
    }

    /// Calls `f` with the added tokens in a range of a text and with all text between them, in order, until
    /// it returns `false`; returns what it returned last, or `true` if it was not called. Special tokens are
    /// read as text where `accepts` returns `false` for their range.
    ///
    /// The occurrences are leftmost, then longest, and never overlap. An occurrence that its flags rule out,
    /// or that is read as text, still hides other occurrences that overlap it. Whitespace inside the range
    /// belongs to tokens with `lstrip` and `rstrip`; a token with `lstrip` whose own text the token before it
    /// has taken is left out. The range of a token without `lstrip` may reach back into whitespace that the
    /// token before it has taken. For `single_word`, the characters around the range count too. Bytes that
    /// are not UTF-8 are neither whitespace nor word characters.
    ///
    /// Cost: linear in the range.
    pub fn for_each(
        &self,
        text: &[u8],
        range: Range<usize>,
        accepts: &dyn Fn(&Range<usize>) -> bool,
        control: &Control,
        f: &mut dyn FnMut(Segment) -> Result<bool>,
    ) -> Result<bool> {
        // `blank_to` is the end of the whitespace that was measured last, so that no whitespace is measured
        // twice.
        let (mut end, mut blank_to) = (range.start, 0);
        let mut matches = self.search.matches(&text[..range.end], range.start);
        while let Some(special) = matches.next(control)? {
            let Range { mut start, end: mut stop } = special.range;
            let flags = self.flags[special.index];
            if (flags.special && !accepts(&(start..stop)))
                || (flags.single_word && is_inside_word(text, start..stop))
            {
                continue;
            }
            if flags.lstrip {
                // The token before may have taken all of it and more.
                start = blank_start(text, end..start).max(end);
            }
            if flags.rstrip {
                if stop > blank_to {
                    blank_to = blank_end(text, stop..range.end);
                }
                stop = blank_to;
            }
            if start >= stop {
                continue;
            }
            if end < start && !f(Segment::Text(end..start))? {
                return Ok(false);
            }
            if !f(Segment::Special(SpecialMatch { index: special.index, range: start..stop }))? {
                return Ok(false);
            }
            end = stop;
        }
        if end == range.end { Ok(true) } else { f(Segment::Text(end..range.end)) }
    }
}

/// Where the whitespace at the end of a range starts; the end of an empty range.
fn blank_start(text: &[u8], range: Range<usize>) -> usize {
    let mut start = range.end;
    let last = |start| {
        text.get(range.start..start).and_then(last_character).filter(|character| character.is_whitespace())
    };
    while let Some(character) = last(start) {
        start -= character.len_utf8();
    }
    start
}

/// Where the whitespace at the start of a range ends.
fn blank_end(text: &[u8], range: Range<usize>) -> usize {
    let mut end = range.start;
    let first = |end| first_character(&text[end..range.end]).filter(|character| character.is_whitespace());
    while let Some(character) = first(end) {
        end += character.len_utf8();
    }
    end
}

/// Whether a word character stands directly before or after a range.
fn is_inside_word(text: &[u8], range: Range<usize>) -> bool {
    last_character(&text[..range.start]).is_some_and(is_word)
        || first_character(&text[range.end..]).is_some_and(is_word)
}

/// The character that `text` starts with; `None` if it starts with bytes that are not UTF-8.
fn first_character(text: &[u8]) -> Option<char> {
    let len = if text.is_empty() { 0 } else { decode_char(text, 0).1 };
    character(&text[..len])
}

/// The character that `text` ends with; `None` if it ends with bytes that are not UTF-8.
fn last_character(text: &[u8]) -> Option<char> {
    character(&text[char_start(text, text.len())..])
}

fn character(bytes: &[u8]) -> Option<char> {
    std::str::from_utf8(bytes).ok()?.chars().next()
}

/// Whether a character is matched by `\w` of the regex crate.
fn is_word(character: char) -> bool {
    // An error would mean that the tables of `regex-syntax` are missing; they are compiled in.
    regex_syntax::try_is_word_character(character).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_range(flags: Flags, text: &[u8], range: Range<usize>) -> Vec<(bool, Range<usize>)> {
        let tokens = AddedTokens::new(vec![("m".to_owned(), flags)]).unwrap();
        let mut segments = Vec::new();
        let mut push = |segment| {
            segments.push(match segment {
                Segment::Text(range) => (false, range),
                Segment::Special(token) => (true, token.range),
            });
            Ok(segments.len() < 3)
        };
        tokens.for_each(text, range, &|_| true, &Control::none(), &mut push).unwrap();
        segments
    }

    #[test]
    fn bytes_that_are_not_utf8_are_no_word_and_no_whitespace() {
        let flags = Flags { single_word: true, lstrip: true, rstrip: true, ..Flags::default() };
        let in_whole = |text: &[u8]| in_range(flags, text, 0..text.len());
        assert_eq!(in_whole(b"\xffm\xe3\x80"), [(false, 0..1), (true, 1..2), (false, 2..4)]);
        assert_eq!(in_whole(b"\xc3\xc3\xa9m"), [(false, 0..4)]);
        assert_eq!(in_whole(b"\xe3\x80\x80m\xc2\x85"), [(true, 0..6)]);
    }

    #[test]
    fn a_range_has_the_whole_text_around_it() {
        let flags = Flags { single_word: true, rstrip: true, ..Flags::default() };
        assert_eq!(in_range(flags, b"am", 1..2), [(false, 1..2)]);
        assert_eq!(in_range(flags, b" m  m", 1..3), [(true, 1..3)]);
        assert!(in_range(flags, b"m", 1..1).is_empty());
        assert_eq!(in_range(flags, b"m m m m", 0..7), [(true, 0..2), (true, 2..4), (true, 4..6)]);
    }
}
