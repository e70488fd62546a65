//! Added tokens: one core call for each method.

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::call;
use crate::special;

/// A list of added tokens, to search texts for.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct AddedTokens {
    inner: special::AddedTokens,
}

#[pymethods]
impl AddedTokens {
    /// Each token: its text, and whether it is a single word, strips to the left, strips to the right, is special.
    #[new]
    fn new(py: Python<'_>, tokens: Vec<(String, bool, bool, bool, bool)>) -> PyResult<Self> {
        let flags = |(text, single_word, lstrip, rstrip, special)| {
            (text, special::Flags { single_word, lstrip, rstrip, special })
        };
        let tokens = tokens.into_iter().map(flags).collect();
        Ok(AddedTokens { inner: call::long(py, None, move |_| special::AddedTokens::new(tokens))? })
    }

    /// Whether any of the texts stands anywhere, whatever its flags.
    fn is_in(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<bool> {
        let text = call::text(text)?;
        call::sized(py, text.len(), |_| Ok(self.inner.is_in(text)))
    }

    /// The tokens by number, None for the text between them, each with where it starts and ends, in characters.
    /// Without `special`, special ones are text.
    fn segments(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        special: bool,
    ) -> PyResult<Vec<(Option<usize>, usize, usize)>> {
        let text = call::text(text)?;
        call::sized(py, text.len(), |_| Ok(self.inner.segments_in_characters(text, special)))
    }
}
