//! The class `AddedTokens`: each method makes one call of the core.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyList, PyString};

use super::{call, objects, text};
use crate::special;

/// A list of added tokens that texts can be searched for.
#[pyclass(frozen, name = "AddedTokens", module = "toksmith._core")]
pub(super) struct PyAddedTokens {
    inner: special::AddedTokens,
}

#[pymethods]
impl PyAddedTokens {
    /// `tokens` are tuples of text, single_word, lstrip, rstrip and special.
    #[new]
    fn new(py: Python<'_>, tokens: Vec<(String, bool, bool, bool, bool)>) -> PyResult<Self> {
        let flags = |(text, single_word, lstrip, rstrip, special)| {
            (text, special::Flags { single_word, lstrip, rstrip, special })
        };
        let tokens = tokens.into_iter().map(flags).collect();
        Ok(PyAddedTokens { inner: call::long(py, None, move |_| special::AddedTokens::new(tokens))? })
    }

    /// Whether any of the tokens occurs in `text`, regardless of its flags.
    fn is_in(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<bool> {
        let text = text::utf8(text)?;
        call::sized(py, text.len(), |control| self.inner.is_in(text.as_bytes(), control))
    }

    /// The added tokens in a text, and the text between them: tuples of the index of the token (None for
    /// text), start and end in characters. If `special` is false, special tokens are text.
    fn segments<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyString>,
        special: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = call::text(text)?;
        let found =
            call::sized(py, text.len(), |control| self.inner.segments_in_characters(text, special, control))?;
        let int = |number| objects::int(py, number as u64);
        objects::list_of(
            py,
            found.into_iter().map(|(token, start, end)| {
                let token = token.map_or_else(|| Ok(py.None().into_bound(py)), int)?;
                objects::tuple(py, [token, int(start)?, int(end)?])
            }),
        )
    }
}

/// Whether an occurrence of a token of `first` could share a byte with an occurrence of a token of `second`.
#[pyfunction]
pub(super) fn overlap(
    py: Python<'_>,
    first: Vec<PyBackedBytes>,
    second: Vec<PyBackedBytes>,
) -> PyResult<bool> {
    let owned = |all: Vec<PyBackedBytes>| all.iter().map(|one| one.to_vec()).collect();
    call::long(py, None, move |_| special::overlap(owned(first), owned(second)))
}
