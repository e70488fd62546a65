//! Text with marks, as templates make it.

use std::borrow::Borrow;
use std::ops::Range;

use crate::encode::{Mark, marks};

/// Bytes of the longest text that is made of others.
const MAX_JOINED: usize = 1 << 26;

/// What the evaluator leaves to Jinja: an error of a template, or something that it does not know.
#[derive(Debug)]
pub(super) struct Bail;

pub(super) type Eval<T> = Result<T, Bail>;

/// A text whose characters are marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) string: String,
    /// The mark of the last characters. Most texts have no others, and need no other memory.
    mark: Mark,
    /// Where each run of one mark before them ends.
    runs: Vec<(usize, Mark)>,
}

impl Text {
    pub(super) fn new(string: String, mark: Mark) -> Self {
        Text { string, mark, runs: Vec::new() }
    }

    /// A new text whose origin is lost.
    pub(super) fn unknown(string: String) -> Self {
        Text::new(string, marks::UNKNOWN)
    }

    pub(super) fn with_capacity(bytes: usize) -> Self {
        Text::new(String::with_capacity(bytes), 0)
    }

    /// The runs of one mark, none of them empty.
    pub(super) fn runs(&self) -> impl Iterator<Item = (Range<usize>, Mark)> {
        self.runs_from(0)
    }

    fn runs_from(&self, first: usize) -> impl Iterator<Item = (Range<usize>, Mark)> {
        let mut start = first.checked_sub(1).map_or(0, |before| self.runs[before].0);
        let last = (!self.string.is_empty()).then_some((self.string.len(), self.mark));
        let runs = self.runs[first..].iter().copied().chain(last);
        runs.map(move |(end, mark)| (std::mem::replace(&mut start, end)..end, mark))
    }

    pub(super) fn push(&mut self, string: &str, mark: Mark) {
        if string.is_empty() {
            return;
        }
        if self.mark != mark {
            if !self.string.is_empty() {
                self.runs.push((self.string.len(), self.mark));
            }
            self.mark = mark;
        }
        self.string.push_str(string);
    }

    /// Appends a text, with bits added to its marks.
    pub(super) fn append(&mut self, other: &Text, bits: Mark) {
        other.runs().for_each(|(range, mark)| self.push(&other.string[range], mark | bits));
    }

    /// A part of the text, given as a part of its string.
    pub(super) fn part(&self, part: &str) -> Text {
        let start = part.as_ptr() as usize - self.string.as_ptr() as usize;
        let range = start..start + part.len();
        let mut text = Text::with_capacity(part.len());
        let first = self.runs.partition_point(|(end, _)| *end <= range.start);
        for (run, mark) in self.runs_from(first) {
            if run.start >= range.end {
                break;
            }
            text.push(&self.string[run.start.max(range.start)..run.end.min(range.end)], mark);
        }
        text
    }

    /// The same characters in another case: as many bytes, all of them ASCII.
    pub(super) fn recased(&self, string: String) -> Option<Text> {
        let is_alike = self.string.is_ascii() && string.len() == self.string.len();
        is_alike.then(|| Text { string, runs: self.runs.clone(), ..*self })
    }

    /// Texts, joined, unless they are too long together.
    pub(super) fn joined<T: Borrow<Text>>(texts: &[T], separator: &Text) -> Eval<Text> {
        let size: usize = texts.iter().map(|text| text.borrow().string.len() + separator.string.len()).sum();
        if size > MAX_JOINED {
            return Err(Bail);
        }
        let mut joined = Text::with_capacity(size);
        for (at, text) in texts.iter().enumerate() {
            if at > 0 {
                joined.append(separator, 0);
            }
            joined.append(text.borrow(), 0);
        }
        Ok(joined)
    }
}
