//! Patterns of the `regex` package, for the core's trait `Splitter`.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::PyIterator;

use super::errors::raised;
use super::objects::Any;
use super::{call, text};
use crate::error::Result;
use crate::pretokenize::{self, OnMatch, Splitter};

/// Matches between two checks of the clock; less than a millisecond.
const MATCHES_PER_CHECK: usize = 1 << 9;

/// A pattern that Python searches for.
pub(super) struct Regex {
    /// A function that makes an iterator of the spans of all matches in a `str`, in characters.
    spans: Py<PyAny>,
    /// Whether empty matches count.
    is_nullable: bool,
}

impl Splitter for Regex {
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()> {
        let mut split = |py: Python<'_>| -> Result<()> {
            let mut place = CharCursor { text, bytes: 0, characters: 0 };
            let mut yielder = call::GilYielder::default();
            for (count, span) in self.spans(py, text).map_err(raised)?.enumerate() {
                if count % MATCHES_PER_CHECK == MATCHES_PER_CHECK - 1 {
                    yielder.tick(py).map_err(raised)?;
                }
                let (start, end) = span.and_then(|span| span.extract()).map_err(raised)?;
                if start == end && !self.is_nullable {
                    continue;
                }
                if !on_match(Range { start: place.bytes_at(start), end: place.bytes_at(end) })? {
                    break;
                }
            }
            Ok(())
        };
        call::attached(|py| Ok(split(py)))?
    }
}

impl Regex {
    pub(super) fn new(spans: Any, is_nullable: bool) -> Self {
        Regex { spans: spans.clone().unbind(), is_nullable }
    }

    /// The spans of the matches in a text. Its invalid bytes become lone surrogates, which the pattern sees
    /// as characters of no class.
    fn spans<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyIterator>> {
        self.spans.bind(py).call1((text::decoded(py, text, c"surrogateescape")?,))?.try_iter()
    }
}

/// Converts places in a text from characters to bytes. Places must ascend.
struct CharCursor<'t> {
    text: &'t [u8],
    bytes: usize,
    characters: usize,
}

impl CharCursor<'_> {
    fn bytes_at(&mut self, character: usize) -> usize {
        while self.characters < character {
            self.bytes += pretokenize::class::decode_char(self.text, self.bytes).1;
            self.characters += 1;
        }
        self.bytes
    }
}
