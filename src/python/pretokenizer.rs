//! Patterns: the core's scanners, and `regex` behind the core's `Splitter`.

use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::call;
use crate::error::{Error, Result};
use crate::pretokenize::{self, CutRule, Isa, Named, OnMatch, Pattern, Splitter, Unmatched};

/// Where pretokens begin and end.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct Pretokenizer {
    pub(super) inner: pretokenize::Pretokenizer,
}

#[pymethods]
impl Pretokenizer {
    /// `pattern`: None, the name of a scanner, or a compiled `regex` pattern with its cut rule. `isa`: the
    /// instruction set that a scanner is to use, for tests; the machine's best by default.
    #[new]
    #[pyo3(signature = (pattern, cut_rule="never", unmatched="keep", isa=None))]
    fn new(pattern: Bound<'_, PyAny>, cut_rule: &str, unmatched: &str, isa: Option<&str>) -> PyResult<Self> {
        let pattern = if pattern.is_none() {
            Pattern::Whole
        } else if let Ok(name) = pattern.extract::<String>() {
            scanner(&name, isa)?
        } else {
            Pattern::Custom(Arc::new(Regex(pattern.unbind())), rule(cut_rule)?)
        };
        let unmatched = match unmatched {
            "keep" => Unmatched::Keep,
            "drop" => Unmatched::Drop,
            other => {
                return Err(PyValueError::new_err(format!(
                    "unmatched is \"keep\" or \"drop\", not {other:?}"
                )));
            }
        };
        Ok(Pretokenizer { inner: pretokenize::Pretokenizer { pattern, unmatched } })
    }

    /// The instruction sets of this machine that there is code for, the best first.
    #[staticmethod]
    fn instruction_sets() -> Vec<&'static str> {
        Isa::available().map(Isa::name).collect()
    }

    /// Where the pretokens of a text without special tokens end, in bytes.
    fn ends(&self, text: &[u8]) -> PyResult<Vec<usize>> {
        let mut ends = Vec::new();
        self.inner.for_each(text, |range| {
            ends.push(range.end);
            Ok(())
        })?;
        Ok(ends)
    }

    /// Where a text may be cut with no change of its pretokens, in bytes.
    fn cuts(&self, text: &[u8]) -> Vec<usize> {
        let rule = self.inner.cut_rule();
        (0..=text.len()).filter(|&at| rule.is_cut(text, at)).collect()
    }

    /// How far the pretokens of a text are final, whatever follows it, in bytes.
    fn settled_end(&self, text: &[u8]) -> usize {
        self.inner.cut_rule().settled_end(text)
    }

    /// The pretokens of a text without special tokens.
    fn split<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let mut pieces = Vec::new();
        self.inner.for_each(text, |range| {
            pieces.push(PyBytes::new(py, &text[range]));
            Ok(())
        })?;
        Ok(pieces)
    }
}

fn scanner(name: &str, isa: Option<&str>) -> PyResult<Pattern> {
    let named = Named::from_name(name)
        .ok_or_else(|| PyValueError::new_err(format!("no scanner has the name {name:?}")))?;
    let isa = isa.map_or(Some(Isa::best()), Isa::from_name);
    let isa = isa.ok_or_else(|| PyValueError::new_err("this machine does not have that instruction set"))?;
    Ok(Pattern::Named(named, isa))
}

fn rule(name: &str) -> PyResult<CutRule> {
    match name {
        "never" => Ok(CutRule::Never),
        "gpt2" => Ok(CutRule::Gpt2),
        "cl100k" => Ok(CutRule::Cl100k),
        "o200k" => Ok(CutRule::O200k),
        other => Err(PyValueError::new_err(format!("no cut rule has the name {other:?}"))),
    }
}

/// Matches between two looks at the clock: less than a millisecond.
const CHECK: usize = 1 << 9;

/// A compiled pattern of the `regex` package.
struct Regex(Py<PyAny>);

impl Splitter for Regex {
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()> {
        Python::attach(|py| {
            let matches = self.matches(py, text).map_err(outside)?;
            let mut place = Place { text, bytes: 0, characters: 0 };
            let mut breath = call::Breath::new();
            for count in 1.. {
                if count % CHECK == 0 {
                    breath.take(py).map_err(outside)?;
                }
                let Some(found) = matches.clone().next() else { return Ok(()) };
                let span = found.and_then(|found| found.call_method0(intern!(py, "span")));
                let (start, end): (usize, usize) = span.and_then(|span| span.extract()).map_err(outside)?;
                if start == end {
                    continue;
                }
                if !on_match(Range { start: place.bytes_at(start), end: place.bytes_at(end) })? {
                    return Ok(());
                }
            }
            Ok(())
        })
    }
}

impl Regex {
    /// Invalid bytes are lone surrogates to the pattern: characters of no class. `concurrent=False`:
    /// releasing the GIL for each match makes two threads several times slower than one.
    fn matches<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
        let string = match std::str::from_utf8(text) {
            Ok(text) => PyString::new(py, text),
            Err(_) => PyString::from_encoded_object(
                &PyBytes::new(py, text),
                Some(c"utf-8"),
                Some(c"surrogateescape"),
            )?,
        };
        let options = PyDict::new(py);
        options.set_item(intern!(py, "concurrent"), false)?;
        self.0.bind(py).call_method(intern!(py, "finditer"), (string,), Some(&options))?.try_iter()
    }
}

fn outside(error: PyErr) -> Error {
    Error::Splitter(Box::new(error))
}

/// A place in a text, in bytes and in characters; it only moves on.
struct Place<'t> {
    text: &'t [u8],
    bytes: usize,
    characters: usize,
}

impl Place<'_> {
    fn bytes_at(&mut self, character: usize) -> usize {
        while self.characters < character {
            self.bytes += pretokenize::class::decode_char(self.text, self.bytes).1;
            self.characters += 1;
        }
        self.bytes
    }
}
