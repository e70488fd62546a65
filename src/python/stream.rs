//! Encoding of text that arrives in parts.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::{call, ids};
use crate::encode;

/// Encodes parts of a text to the ids of the whole text.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct EncodeStream(pub(super) Mutex<encode::EncodeStream>);

#[pymethods]
impl EncodeStream {
    /// Adds text; returns the ids that no later text can change.
    fn push<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        self.step(text.py(), Some(call::text(text)?))
    }

    /// Ends the text; returns the remaining ids.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.step(py, None)
    }
}

impl EncodeStream {
    fn step<'py>(&self, py: Python<'py>, text: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let stream = &mut *call::alone(&self.0, "an encoding stream")?;
        let pending = stream.pending_bytes() + text.map_or(0, str::len);
        let fill = |ids: &mut Vec<u32>| {
            call::sized(py, pending, |control| stream.step(text.map(str::as_bytes), ids, control))
        };
        call::with_ids(fill, |ids| ids::to_list(py, ids))
    }
}
