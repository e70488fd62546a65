//! Added tokens: one core call for each method.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyList, PyString};

use super::{call, objects};
use crate::special;

/// A list of added tokens, to search texts for.
#[pyclass(frozen, name = "AddedTokens", module = "toksmith._core")]
pub(super) struct PyAddedTokens {
    inner: special::AddedTokens,
}

#[pymethods]
impl PyAddedTokens {
    /// Each token: its text, and whether it is a single word, strips to the left, strips to the right, is special.
    #[new]
    fn new(py: Python<'_>, tokens: Vec<(String, bool, bool, bool, bool)>) -> PyResult<Self> {
        let flags = |(text, single_word, lstrip, rstrip, special)| {
            (text, special::Flags { single_word, lstrip, rstrip, special })
        };
        let tokens = tokens.into_iter().map(flags).collect();
        Ok(PyAddedTokens { inner: call::long(py, None, move |_| special::AddedTokens::new(tokens))? })
    }

    /// Whether any of the texts stands anywhere, whatever its flags.
    fn is_in(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<bool> {
        let text = call::text(text)?;
        call::sized(py, text.len(), |control| self.inner.is_in(text, control))
    }

    /// The tokens by number, None for the text between them, each with where it starts and ends, in characters.
    /// Without `special`, special ones are text.
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

/// Whether an occurrence of one of the first could share a byte with an occurrence of one of the second.
#[pyfunction]
pub(super) fn overlap(
    py: Python<'_>,
    first: Vec<PyBackedBytes>,
    second: Vec<PyBackedBytes>,
) -> PyResult<bool> {
    let owned = |all: Vec<PyBackedBytes>| all.iter().map(|one| one.to_vec()).collect();
    call::long(py, None, move |_| special::overlap(owned(first), owned(second)))
}
