//! Special tokens: found in text before anything else, leftmost and then longest.

mod added;
mod many;

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, Result};
use many::Many;

pub use added::{AddedSegment, AddedTokens, Flags};

/// The special tokens of a tokenizer, ready to be searched for.
///
/// Cost: building is linear in the bytes of the tokens; searching is one pass over the text.
#[derive(Clone, Debug, Default)]
pub struct Specials {
    tokens: Vec<Vec<u8>>,
    finder: Finder,
    inner: Inner,
    max_len: usize,
}

/// How tokens are searched for.
#[derive(Clone, Debug, Default)]
enum Finder {
    #[default]
    None,
    /// The best for few: vector code finds their first bytes.
    Automaton(AhoCorasick),
    Many(Many),
}

/// Tokens in which text could be cut, at any offset.
#[derive(Clone, Debug, Default)]
enum Inner {
    /// There are none.
    #[default]
    None,
    Automaton(AhoCorasick),
    /// The finder says of any place which token starts there.
    Finder,
}

/// From so many tokens on [`Many`] is tried.
const MANY: usize = 64;

impl Finder {
    fn new(tokens: &[Vec<u8>]) -> Result<Self> {
        if tokens.len() >= MANY
            && let Some(many) = Many::new(tokens)
        {
            return Ok(Finder::Many(many));
        }
        let automaton = automaton(MatchKind::LeftmostLongest, tokens)?;
        Ok(automaton.map_or(Finder::None, Finder::Automaton))
    }
}

impl Inner {
    fn new(tokens: &[Vec<u8>], finder: &Finder) -> Result<Self> {
        let inner: Vec<&Vec<u8>> = tokens.iter().filter(|token| has_inner_cut(token)).collect();
        if !inner.is_empty() && matches!(finder, Finder::Many(_)) {
            return Ok(Inner::Finder);
        }
        Ok(automaton(MatchKind::Standard, &inner)?.map_or(Inner::None, Inner::Automaton))
    }
}

/// A special token found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index of the token in the list that [`Specials::new`] was given.
    pub index: usize,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}

impl Specials {
    /// Prepares a list of special tokens.
    ///
    /// # Errors
    /// [`Error::EmptySpecial`] and [`Error::RepeatedSpecial`]; [`Error::TooManySpecials`] when no
    /// automaton can hold them.
    pub fn new(tokens: Vec<Vec<u8>>) -> Result<Self> {
        let mut seen = std::collections::HashMap::new();
        for (index, token) in tokens.iter().enumerate() {
            if token.is_empty() {
                return Err(Error::EmptySpecial { index });
            }
            if let Some(first) = seen.insert(token.as_slice(), index) {
                return Err(Error::RepeatedSpecial { token: token.clone(), first, second: index });
            }
        }
        let finder = Finder::new(&tokens)?;
        Ok(Specials {
            inner: Inner::new(&tokens, &finder)?,
            finder,
            max_len: tokens.iter().map(Vec::len).max().unwrap_or(0),
            tokens,
        })
    }

    /// The tokens, in the order they were given.
    pub fn tokens(&self) -> &[Vec<u8>] {
        &self.tokens
    }

    /// Bytes of the longest one; 0 without any.
    pub fn max_len(&self) -> usize {
        self.max_len
    }

    /// Whether they are so many that searching for them takes hundreds of kilobytes.
    pub(crate) fn are_many(&self) -> bool {
        matches!(self.finder, Finder::Many(_)) && self.tokens.len() >= 1 << 14
    }

    /// The first special token that starts at `from` or later: the leftmost, of those the longest.
    pub fn find(&self, text: &[u8], from: usize) -> Option<Found> {
        match &self.finder {
            Finder::None => None,
            Finder::Automaton(automaton) => {
                let found = automaton.find(aho_corasick::Input::new(text).span(from..text.len()))?;
                Some(Found { index: found.pattern().as_usize(), range: found.start()..found.end() })
            }
            Finder::Many(many) => {
                let (index, start) = many.find(&self.tokens, text, from)?;
                Some(Found { index, range: start..start + self.tokens[index].len() })
            }
        }
    }

    /// Whether an occurrence of a special token lies across `at`, so that a cut there could change
    /// what is found. `at` must stand before a whitespace byte and after a character that is none;
    /// `text` must reach [`Specials::max_len`] bytes to both sides, or end.
    ///
    /// Any occurrence counts, also one that leftmost-longest search would pass over: only then is
    /// searching the two sides alone the same as searching the whole.
    pub fn straddles(&self, text: &[u8], at: usize) -> bool {
        let low = at.saturating_sub(self.max_len);
        match (&self.inner, &self.finder) {
            (Inner::None, _) => false,
            (Inner::Automaton(inner), _) => {
                let high = text.len().min(at + self.max_len);
                let mut found = inner.find_overlapping_iter(&text[low..high]);
                found.any(|m| low + m.start() < at && at < low + m.end())
            }
            // Of those that start at one place the longest reaches furthest.
            (Inner::Finder, Finder::Many(many)) => (low..at).any(|start| {
                let longest = many.longest(&self.tokens, &text[start..]);
                longest.is_some_and(|index| start + self.tokens[index].len() > at)
            }),
            (Inner::Finder, _) => false,
        }
    }

    /// Whether a special token contains both U+FFFD and a place where text could be cut: then a cut
    /// cannot be judged before invalid bytes are replaced.
    pub fn cut_depends_on_replacement(&self) -> bool {
        let replacement = "\u{fffd}".as_bytes();
        let holds = |token: &Vec<u8>| token.windows(3).any(|w| w == replacement);
        self.tokens.iter().any(|token| has_inner_cut(token) && holds(token))
    }
}

fn automaton(kind: MatchKind, tokens: &[impl AsRef<[u8]>]) -> Result<Option<AhoCorasick>> {
    if tokens.is_empty() {
        return Ok(None);
    }
    let built = AhoCorasick::builder().match_kind(kind).build(tokens);
    built.map(Some).map_err(|error| Error::TooManySpecials { reason: error.to_string() })
}

/// Whether some proper inner position has whitespace after it: cuts are made before ASCII whitespace,
/// or after a line end (see [`crate::pretokenize::CutRule`]).
fn has_inner_cut(token: &[u8]) -> bool {
    token
        .windows(2)
        .any(|pair| pair[1].is_ascii_whitespace() || pair[1] == 0x0b || matches!(pair[0], b'\r' | b'\n'))
}

/// A piece of a text: ordinary, or one special token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Ordinary text between special tokens; never empty.
    Text(Range<usize>),
    /// A special token.
    Special(Found),
}

impl Specials {
    /// Cuts `text` at its special tokens, in order, with nothing left out.
    pub fn segments<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Segment> + 'a {
        let mut at = 0;
        let mut pending = None;
        std::iter::from_fn(move || {
            if let Some(found) = pending.take() {
                return Some(Segment::Special(found));
            }
            if at == text.len() {
                return None;
            }
            let start = at;
            match self.find(text, at) {
                None => at = text.len(),
                Some(found) => {
                    at = found.range.end;
                    if found.range.start == start {
                        return Some(Segment::Special(found));
                    }
                    let end = found.range.start;
                    pending = Some(found);
                    return Some(Segment::Text(start..end));
                }
            }
            Some(Segment::Text(start..at))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a token lies across each place of a text, by its definition.
    fn across(tokens: &[Vec<u8>], text: &[u8], at: usize) -> bool {
        tokens.iter().any(|token| {
            let from = (at + 1).saturating_sub(token.len());
            (from..at).any(|start| start + token.len() > at && text[start..].starts_with(token))
        })
    }

    #[test]
    fn many_tokens_lie_across_the_same_places_as_few() {
        let mut state = 1_u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for round in 0..40 {
            let mut tokens: Vec<Vec<u8>> =
                (0..90).map(|_| (0..2 + below(9)).map(|_| b"ab \n"[below(4)]).collect()).collect();
            tokens.sort();
            tokens.dedup();
            tokens.truncate(if round % 2 == 0 { MANY } else { MANY - 1 });
            let specials = Specials::new(tokens.clone()).unwrap();
            assert_eq!(matches!(specials.finder, Finder::Many(_)), tokens.len() == MANY);
            let text: Vec<u8> = (0..200).map(|_| b"ab \n"[below(4)]).collect();
            for at in (1..text.len()).filter(|&at| has_inner_cut(&text[at - 1..=at])) {
                assert_eq!(specials.straddles(&text, at), across(&tokens, &text, at), "{at} in {text:?}");
            }
        }
    }
}
