//! Encoding of text that arrives in parts.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::call;
use super::ids::IdList;
use super::objects::Made;
use crate::encode;

/// Encodes parts of a text to the ids of the whole text.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct EncodeStream(pub(super) Mutex<encode::EncodeStream>);

#[pymethods]
impl EncodeStream {
    /// Adds text; returns the ids that no later text can change.
    fn push(&self, text: &Bound<'_, PyString>) -> PyResult<Made<IdList>> {
        self.step(text.py(), Some(call::text(text)?))
    }

    /// Ends the text; returns the remaining ids.
    fn finish(&self, py: Python<'_>) -> PyResult<Made<IdList>> {
        self.step(py, None)
    }
}

impl EncodeStream {
    fn step(&self, py: Python<'_>, text: Option<&str>) -> PyResult<Made<IdList>> {
        let stream = &mut *call::alone(&self.0, "an encoding stream")?;
        let (pending, mut ids) = (stream.pending_bytes() + text.map_or(0, str::len), IdList::memory());
        call::sized(py, pending, |control| stream.step(text.map(str::as_bytes), &mut ids, control))?;
        Ok(Made(IdList(ids)))
    }
}
