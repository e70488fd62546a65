//! GPT-2's spelling of tokens: a character for each byte.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::objects;
use crate::spelling;

/// The spelling of a token's bytes.
#[pyfunction]
pub(super) fn spell<'py>(py: Python<'py>, token: &[u8]) -> PyResult<Bound<'py, PyString>> {
    objects::string(py, &token.iter().map(|&byte| spelling::spell(byte)).collect::<String>())
}

/// The bytes of a spelling; None if it has a character that stands for no byte.
#[pyfunction]
pub(super) fn unspell<'py>(text: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let bytes = text.to_str().ok().and_then(spelling::unspelled);
    bytes.map(|bytes| objects::bytes(text.py(), &bytes)).transpose()
}
