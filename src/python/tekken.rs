//! The content of Mistral's `tekken.json`: read by the class `TekkenFile`, and written.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::pretokenizer::PyPretokenizer;
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::encode::Encoder;
use crate::formats;
use crate::room;

/// A `tekken.json` that was read.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct TekkenFile {
    file: formats::TekkenFile,
}

#[pymethods]
impl TekkenFile {
    #[new]
    fn new(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let file = call::long(py, None, |_| {
            room::check_available(4 * data.len())?;
            formats::TekkenFile::parse(data)
        })?;
        Ok(TekkenFile { file })
    }

    /// The regular expression, in the dialect of tiktoken's engine.
    #[getter]
    fn pattern(&self) -> &str {
        &self.file.pattern
    }

    /// The tokenizer, whose special tokens have the ids below those of all others.
    fn tokenizer(&self, py: Python<'_>, pretokenizer: &PyPretokenizer) -> PyResult<Tokenizer> {
        let encoder =
            call::long(py, None, |_| Encoder::try_new(self.file.vocab()?, pretokenizer.inner.clone()))?;
        Ok(Tokenizer::of(Arc::new(encoder)))
    }
}

/// The content of a `tekken.json`.
#[pyfunction]
pub(super) fn tekken_file<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    pattern: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let file = call::long(py, None, |_| formats::tekken_file(tokenizer.encoder().vocab(), pattern))?;
    objects::bytes(py, &file)
}
