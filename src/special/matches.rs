//! Iterates over the special tokens of a text.

use std::ops::Range;

use super::search::SearchMethod;
use super::set::Specials;
use crate::control::Control;
use crate::error::Result;

/// A special token found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecialMatch {
    /// Index of the token in the list that [`Specials::new`] was given.
    pub index: usize,
    /// The range of the token in the text, in bytes.
    pub range: Range<usize>,
}

/// Bytes that are searched between two checks of the control; at the slowest speed measured (200 MB/s, text
/// full of tokens) that takes 5 ms.
const SEARCH_WINDOW_BYTES: usize = if cfg!(test) { 1 << 7 } else { 1 << 20 };
/// The number of bytes that [`SearchMethod::Long`] searches at once; it stores every place in them where a
/// token starts.
const LONG_SEARCH_WINDOW_BYTES: usize = if cfg!(test) { 1 << 9 } else { 1 << 16 };

/// The special tokens of a text from left to right. Of overlapping ones the leftmost is found, of those the
/// longest.
///
/// Cost: linear in the text. [`Matches::next`] checks the control about every megabyte.
#[derive(Debug)]
pub struct Matches<'a> {
    specials: &'a Specials,
    text: &'a [u8],
    /// The next token starts here or later.
    from: usize,
    /// The state of a search in windows, made at the first search; `None` for short texts.
    windows: Option<Windows>,
}

/// The progress of a search in windows.
#[derive(Debug)]
struct Windows {
    /// The control is checked once `from` reaches this place.
    check_at: usize,
    /// For [`SearchMethod::Long`]: where tokens start before `known`, and their indices, the last one first.
    starts: Vec<(usize, usize)>,
    /// The end of the text that [`SearchMethod::Long`] has searched.
    known: usize,
}

impl Windows {
    fn new(from: usize) -> Self {
        Windows { check_at: from.saturating_add(SEARCH_WINDOW_BYTES), starts: Vec::new(), known: 0 }
    }

    /// The first special token that starts at `from` or later and before `end`.
    fn first(&mut self, specials: &Specials, text: &[u8], from: usize, end: usize) -> Option<SpecialMatch> {
        // No token that starts before `end` reaches beyond this part.
        let text = &text[..text.len().min(end.saturating_add(specials.max_len))];
        let SearchMethod::Long(backward) = &specials.search else {
            return specials.find(text, from).filter(|special| special.range.start < end);
        };
        if self.known <= from {
            self.starts.clear();
            backward.each_start(text, from..end, |start, index| self.starts.push((start, index)));
            self.known = end;
        }
        // Tokens that start before `from` overlap the token that was found last.
        let mut starts = std::iter::from_fn(|| self.starts.pop());
        let (start, index) = starts.find(|&(start, _)| start >= from)?;
        Some(SpecialMatch { index, range: start..start + specials.tokens[index].len() })
    }
}

impl<'a> Matches<'a> {
    #[inline]
    pub(super) fn new(specials: &'a Specials, text: &'a [u8], from: usize) -> Self {
        Matches { specials, text, from, windows: None }
    }

    /// The next special token.
    #[inline(always)] // most texts are short and need no windows
    pub fn next(&mut self, control: &Control) -> Result<Option<SpecialMatch>> {
        if self.text.len() > SEARCH_WINDOW_BYTES || matches!(self.specials.search, SearchMethod::Long(_)) {
            return self.next_in_windows(control);
        }
        let special = self.specials.find(self.text, self.from);
        self.from = special.as_ref().map_or(self.text.len(), |special| special.range.end);
        Ok(special)
    }

    #[inline(never)]
    fn next_in_windows(&mut self, control: &Control) -> Result<Option<SpecialMatch>> {
        let Matches { specials, text, ref mut from, ref mut windows } = *self;
        let window = match specials.search {
            SearchMethod::Long(_) => LONG_SEARCH_WINDOW_BYTES,
            _ => SEARCH_WINDOW_BYTES,
        };
        let windows = windows.get_or_insert_with(|| Windows::new(*from));
        while *from < text.len() {
            if *from >= windows.check_at {
                control.check()?;
                windows.check_at = from.saturating_add(SEARCH_WINDOW_BYTES);
            }
            let end = if windows.known > *from { windows.known } else { from.saturating_add(window) };
            let end = end.min(text.len());
            let special = windows.first(specials, text, *from, end);
            *from = special.as_ref().map_or(end, |special| special.range.end);
            if special.is_some() {
                return Ok(special);
            }
        }
        Ok(None)
    }
}

impl Specials {
    /// The first token that starts at `from` or later, by one of the forward searches; [`SearchMethod::Long`]
    /// is not one.
    #[inline]
    fn find(&self, text: &[u8], from: usize) -> Option<SpecialMatch> {
        match &self.search {
            SearchMethod::None | SearchMethod::Long(_) => None,
            SearchMethod::Automaton(automaton) => {
                let special = automaton.find(aho_corasick::Input::new(text).span(from..text.len()))?;
                Some(SpecialMatch {
                    index: special.pattern().as_usize(),
                    range: special.start()..special.end(),
                })
            }
            SearchMethod::ManyTokens(many) => {
                let (index, start) = many.find(&self.tokens, text, from)?;
                Some(SpecialMatch { index, range: start..start + self.tokens[index].len() })
            }
        }
    }
}

/// A part of a text: ordinary text or one special token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Ordinary text between special tokens; never empty.
    Text(Range<usize>),
    /// A special token.
    Special(SpecialMatch),
}

impl Specials {
    /// The special tokens in `text` that start at `from` or later.
    pub fn matches<'a>(&'a self, text: &'a [u8], from: usize) -> Matches<'a> {
        Matches::new(self, text, from)
    }

    /// Cuts `text` at its special tokens, in order, with nothing left out.
    ///
    /// The iterator yields [`crate::Error::Interrupted`] and ends once `control` is stopped.
    pub fn segments<'a>(
        &'a self,
        text: &'a [u8],
        control: &'a Control<'_>,
    ) -> impl Iterator<Item = Result<Segment>> + 'a {
        let mut matches = self.matches(text, 0);
        let (mut at, mut pending) = (0, None);
        std::iter::from_fn(move || {
            let start = at;
            let special = match pending.take() {
                None if at == text.len() => return None,
                None => matches.next(control),
                pending => Ok(pending),
            };
            let special = match special {
                Ok(special) => special,
                Err(error) => {
                    at = text.len();
                    return Some(Err(error));
                }
            };
            at = special.as_ref().map_or(text.len(), |special| special.range.start);
            Some(Ok(match special {
                Some(special) if at == start => {
                    at = special.range.end;
                    Segment::Special(special)
                }
                special => {
                    pending = special;
                    Segment::Text(start..at)
                }
            }))
        })
    }
}
