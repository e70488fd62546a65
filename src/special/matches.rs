//! The special tokens of a text, one after the other.

use std::ops::Range;

use super::search::SearchMethod;
use super::set::Specials;
use crate::control::Control;
use crate::error::Result;

/// A special token found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index of the token in the list that [`Specials::new`] was given.
    pub index: usize,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
}

/// Bytes that are searched between two looks at the control.
const SEARCH_WINDOW_BYTES: usize = if cfg!(test) { 1 << 7 } else { 1 << 20 };
/// The most bytes that are searched at once by [`SearchMethod::Long`], which remembers where tokens start in them.
const LONG_SEARCH_WINDOW_BYTES: usize = if cfg!(test) { 1 << 9 } else { 1 << 16 };

/// The special tokens of a text from left to right: of those that overlap the leftmost, of those the longest.
///
/// Cost: linear in the text. [`Matches::next`] looks at the control about every megabyte.
#[derive(Debug)]
pub struct Matches<'a> {
    specials: &'a Specials,
    text: &'a [u8],
    /// The next one starts here or later.
    from: usize,
    /// The control is looked at when `from` is here.
    check_at: usize,
    /// Bytes that are searched at once.
    window: usize,
    /// Of [`SearchMethod::Long`]: where tokens start before `known`, the last one first.
    starts: Vec<(usize, usize)>,
    known: usize,
}

impl<'a> Matches<'a> {
    pub(super) fn new(specials: &'a Specials, text: &'a [u8], from: usize) -> Self {
        let long = matches!(specials.search, SearchMethod::Long(_));
        // The first one is often all that is asked for.
        let window = if long { specials.max_len / 8 } else { SEARCH_WINDOW_BYTES };
        let check_at = from.saturating_add(SEARCH_WINDOW_BYTES);
        Matches { specials, text, from, check_at, window, starts: Vec::new(), known: 0 }
    }

    /// The next special token.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    #[inline]
    pub fn next(&mut self, control: &Control) -> Result<Option<Found>> {
        while self.from < self.text.len() {
            if self.from >= self.check_at {
                control.check()?;
                self.check_at = self.from.saturating_add(SEARCH_WINDOW_BYTES);
            }
            let end = if self.known > self.from { self.known } else { self.from.saturating_add(self.window) };
            let end = end.min(self.text.len());
            let found = self.first_before(end);
            self.from = found.as_ref().map_or(end, |found| found.range.end);
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The first one that starts before `end`.
    fn first_before(&mut self, end: usize) -> Option<Found> {
        let Specials { tokens, search, max_len, .. } = self.specials;
        // All that a token that starts before `end` can have.
        let text = &self.text[..self.text.len().min(end.saturating_add(*max_len))];
        let found = match search {
            SearchMethod::None => None,
            SearchMethod::Automaton(automaton) => {
                let found = automaton.find(aho_corasick::Input::new(text).span(self.from..text.len()))?;
                Some(Found { index: found.pattern().as_usize(), range: found.start()..found.end() })
            }
            SearchMethod::ManyTokens(many) => {
                let (index, start) = many.find(tokens, text, self.from)?;
                Some(Found { index, range: start..start + tokens[index].len() })
            }
            SearchMethod::Long(backward) => {
                if self.known <= self.from {
                    self.starts.clear();
                    backward
                        .each_start(text, self.from..end, |start, index| self.starts.push((start, index)));
                    self.known = end;
                    self.window = (2 * self.window).min(LONG_SEARCH_WINDOW_BYTES);
                }
                // Those before `from` lie in the token before.
                let mut starts = std::iter::from_fn(|| self.starts.pop());
                let (start, index) = starts.find(|&(start, _)| start >= self.from)?;
                Some(Found { index, range: start..start + tokens[index].len() })
            }
        };
        found.filter(|found| found.range.start < end)
    }
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
    /// The special tokens in `text` that start at `from` or later.
    pub fn matches<'a>(&'a self, text: &'a [u8], from: usize) -> Matches<'a> {
        Matches::new(self, text, from)
    }

    /// Cuts `text` at its special tokens, in order, with nothing left out.
    ///
    /// The iterator yields [`crate::Error::Interrupted`] and ends when `control` says so.
    pub fn segments<'a>(
        &'a self,
        text: &'a [u8],
        control: &'a Control<'_>,
    ) -> impl Iterator<Item = Result<Segment>> + 'a {
        let mut matches = self.matches(text, 0);
        let (mut at, mut pending) = (0, None);
        std::iter::from_fn(move || {
            if let Some(found) = pending.take() {
                return Some(Ok(Segment::Special(found)));
            }
            if at == text.len() {
                return None;
            }
            let start = at;
            match matches.next(control) {
                Ok(Some(found)) => {
                    at = found.range.end;
                    if found.range.start == start {
                        return Some(Ok(Segment::Special(found)));
                    }
                    let end = found.range.start;
                    pending = Some(found);
                    Some(Ok(Segment::Text(start..end)))
                }
                Ok(None) => {
                    at = text.len();
                    Some(Ok(Segment::Text(start..at)))
                }
                Err(error) => {
                    at = text.len();
                    Some(Err(error))
                }
            }
        })
    }
}
