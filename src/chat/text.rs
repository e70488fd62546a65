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
    /// Where each run of one mark ends.
    runs: Vec<(usize, Mark)>,
}

impl Text {
    pub(super) fn new(string: String, mark: Mark) -> Self {
        let runs = if string.is_empty() { Vec::new() } else { vec![(string.len(), mark)] };
        Text { string, runs }
    }

    /// A new text whose origin is lost.
    pub(super) fn unknown(string: String) -> Self {
        Text::new(string, marks::UNKNOWN)
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = (Range<usize>, Mark)> + '_ {
        let mut start = 0;
        self.runs.iter().map(move |&(end, mark)| (std::mem::replace(&mut start, end)..end, mark))
    }

    pub(super) fn push(&mut self, string: &str, mark: Mark) {
        if string.is_empty() {
            return;
        }
        self.string.push_str(string);
        let end = self.string.len();
        match self.runs.last_mut() {
            Some(last) if last.1 == mark => last.0 = end,
            _ => self.runs.push((end, mark)),
        }
    }

    /// Appends a text, with bits added to its marks.
    pub(super) fn append(&mut self, other: &Text, bits: Mark) {
        other.runs().for_each(|(range, mark)| self.push(&other.string[range], mark | bits));
    }

    /// A part of the text, given as a part of its string.
    pub(super) fn part(&self, part: &str) -> Text {
        let start = part.as_ptr() as usize - self.string.as_ptr() as usize;
        let range = start..start + part.len();
        let (mut text, mut start) = (Text::default(), range.start);
        let first = self.runs.partition_point(|(end, _)| *end <= start);
        for &(end, mark) in &self.runs[first..] {
            if start >= range.end {
                break;
            }
            text.push(&self.string[start..end.min(range.end)], mark);
            start = end;
        }
        text
    }

    /// The same characters in another case: as many bytes, all of them ASCII.
    pub(super) fn recased(&self, string: String) -> Option<Text> {
        let is_alike = self.string.is_ascii() && string.len() == self.string.len();
        is_alike.then(|| Text { string, runs: self.runs.clone() })
    }

    /// Texts, joined, unless they are too long together.
    pub(super) fn joined<T: Borrow<Text>>(texts: &[T], separator: &Text) -> Eval<Text> {
        let size: usize = texts.iter().map(|text| text.borrow().string.len() + separator.string.len()).sum();
        if size > MAX_JOINED {
            return Err(Bail);
        }
        let mut joined = Text { string: String::with_capacity(size), runs: Vec::new() };
        for (at, text) in texts.iter().enumerate() {
            if at > 0 {
                joined.append(separator, 0);
            }
            joined.append(text.borrow(), 0);
        }
        Ok(joined)
    }
}
