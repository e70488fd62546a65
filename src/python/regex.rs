//! Patterns of the `regex` package, for the core's trait `Splitter`.

use std::ops::Range;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyString};

use super::{call, objects};
use crate::error::{Error, Result};
use crate::pretokenize::{self, OnMatch, Splitter};

/// Matches between two checks of the clock; less than a millisecond.
const MATCHES_PER_CHECK: usize = 1 << 9;

macro_rules! names {
    ($($name:ident)*) => {
        $(fn $name(py: Python<'_>) -> &Bound<'_, PyString> { intern!(py, stringify!($name)) })*

        /// Makes the Python names of the methods that are called. This must be done while the package is imported:
        /// threads wait for the one that makes a name, and a child that is forked in the meantime would wait forever.
        pub(super) fn make_names(py: Python<'_>) {
            $($name(py);)*
        }
    };
}

names! { finditer search span concurrent }

/// A compiled pattern of the `regex` package.
pub(super) struct Regex(Py<PyAny>);

impl Splitter for Regex {
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()> {
        let mut split = |py: Python<'_>| {
            let matches = self.matches(py, text).map_err(outside)?;
            let mut place = CharCursor { text, bytes: 0, characters: 0 };
            let mut yielder = call::GilYielder::new();
            for count in 1.. {
                if count % MATCHES_PER_CHECK == 0 {
                    yielder.tick(py).map_err(outside)?;
                }
                let Some(next_match) = matches.clone().next() else { return Ok(()) };
                let span = next_match.and_then(|next_match| next_match.call_method0(span(py)));
                let (start, end): (usize, usize) = span.and_then(|span| span.extract()).map_err(outside)?;
                if start == end {
                    continue;
                }
                if !on_match(Range { start: place.bytes_at(start), end: place.bytes_at(end) })? {
                    return Ok(());
                }
            }
            Ok(())
        };
        call::attached(|py| Ok(split(py))).map_err(outside)?
    }
}

impl Regex {
    pub(super) fn new(pattern: &Bound<'_, PyAny>) -> Self {
        Regex(pattern.clone().unbind())
    }

    fn matches<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyIterator>> {
        let string = decoded(py, text)?;
        self.0.bind(py).call_method(finditer(py), (string,), Some(&options(py)?))?.try_iter()
    }
}

/// The text as a `str`. Invalid bytes become lone surrogates, which the pattern sees as characters of no
/// class.
fn decoded<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    match std::str::from_utf8(text) {
        Ok(text) => objects::string(py, text),
        Err(_) => PyString::from_encoded_object(
            objects::bytes(py, text)?.as_any(),
            Some(c"utf-8"),
            Some(c"surrogateescape"),
        ),
    }
}

/// Passes `concurrent=False`: releasing the GIL for each match makes two threads several times slower than
/// one.
fn options(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let options = objects::dict(py)?;
    options.set_item(concurrent(py), false)?;
    Ok(options)
}

/// A compiled pattern that can match the empty string. Empty matches are found as callers of Oniguruma find them: an
/// empty match directly after the previous match is left out, and the search continues one character later.
pub(super) struct Nullable(Py<PyAny>);

impl Nullable {
    pub(super) fn new(pattern: &Bound<'_, PyAny>) -> Self {
        Nullable(pattern.clone().unbind())
    }

    /// The first match from a character on, as its start and end in characters.
    fn find<'py>(
        &self,
        text: &Bound<'py, PyString>,
        options: &Bound<'py, PyDict>,
        from: usize,
    ) -> PyResult<Option<(usize, usize)>> {
        let py = text.py();
        let match_object = self.0.bind(py).call_method(search(py), (text, from), Some(options))?;
        if match_object.is_none() {
            Ok(None)
        } else {
            match_object.call_method0(span(py))?.extract().map(Some)
        }
    }
}

impl Splitter for Nullable {
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()> {
        let mut split = |py: Python<'_>| {
            let string = decoded(py, text).map_err(outside)?;
            let length = string.len().map_err(outside)?;
            let options = options(py).map_err(outside)?;
            let mut place = CharCursor { text, bytes: 0, characters: 0 };
            let mut yielder = call::GilYielder::new();
            let (mut from, mut last) = (0, None);
            for count in 1.. {
                if count % MATCHES_PER_CHECK == 0 {
                    yielder.tick(py).map_err(outside)?;
                }
                if from > length || length == 0 {
                    break;
                }
                let Some((start, end)) = self.find(&string, &options, from).map_err(outside)? else { break };
                if start == end && last == Some(end) {
                    from += 1;
                    continue;
                }
                (from, last) = (end, Some(end));
                if !on_match(Range { start: place.bytes_at(start), end: place.bytes_at(end) })? {
                    break;
                }
            }
            Ok(())
        };
        call::attached(|py| Ok(split(py))).map_err(outside)?
    }
}

/// Passes an exception through the core.
fn outside(error: PyErr) -> Error {
    Error::Splitter(Box::new(error))
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
