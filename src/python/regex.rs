//! Patterns of the `regex` package, for the core's trait `Splitter`.

use std::ops::Range;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyString};

use super::errors::raised;
use super::{call, objects};
use crate::error::Result;
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
pub(super) struct Regex {
    pattern: Py<PyAny>,
    /// Whether the pattern can match the empty text.
    is_nullable: bool,
}

impl Splitter for Regex {
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()> {
        let mut split = |py: Python<'_>| {
            let mut matches = self.matches(py, text).map_err(raised)?;
            let mut place = CharCursor { text, bytes: 0, characters: 0 };
            let mut yielder = call::GilYielder::new();
            for count in 1.. {
                if count % MATCHES_PER_CHECK == 0 {
                    yielder.tick(py).map_err(raised)?;
                }
                let Some((start, end)) = matches.next().map_err(raised)? else { break };
                if start == end && !self.is_nullable {
                    continue;
                }
                if !on_match(Range { start: place.bytes_at(start), end: place.bytes_at(end) })? {
                    break;
                }
            }
            Ok(())
        };
        call::attached(|py| Ok(split(py))).map_err(raised)?
    }
}

impl Regex {
    pub(super) fn new(pattern: &Bound<'_, PyAny>, is_nullable: bool) -> Self {
        Regex { pattern: pattern.clone().unbind(), is_nullable }
    }

    fn matches<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Matches<'py>> {
        let (pattern, text, options) = (self.pattern.bind(py), decoded(py, text)?, options(py)?);
        if self.is_nullable {
            let (length, from) = (text.len()?, 0);
            return Ok(Matches::Searched {
                pattern: pattern.clone(),
                text,
                options,
                length,
                from,
                last: None,
            });
        }
        Ok(Matches::Found(pattern.call_method(finditer(py), (text,), Some(&options))?.try_iter()?))
    }
}

/// The matches of a pattern.
enum Matches<'py> {
    Found(Bound<'py, PyIterator>),
    /// Empty matches are found as callers of Oniguruma find them: an empty match directly after the previous match is left
    /// out, and the search continues one character later.
    Searched {
        pattern: Bound<'py, PyAny>,
        text: Bound<'py, PyString>,
        options: Bound<'py, PyDict>,
        length: usize,
        from: usize,
        last: Option<usize>,
    },
}

impl Matches<'_> {
    /// The start and the end of the next match, in characters.
    fn next(&mut self) -> PyResult<Option<(usize, usize)>> {
        match self {
            Matches::Found(matches) => matches.next().map(|of| span_of(&of?)).transpose(),
            Matches::Searched { pattern, text, options, length, from, last } => {
                while *from <= *length && *length > 0 {
                    let matched = pattern.call_method(search(text.py()), (&*text, *from), Some(options))?;
                    if matched.is_none() {
                        break;
                    }
                    let (start, end) = span_of(&matched)?;
                    if start != end || *last != Some(end) {
                        (*from, *last) = (end, Some(end));
                        return Ok(Some((start, end)));
                    }
                    *from += 1;
                }
                Ok(None)
            }
        }
    }
}

fn span_of(matched: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    matched.call_method0(span(matched.py()))?.extract()
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
