//! Encoding of text that arrives in parts.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::{call, ids};
use crate::encode::{EncodeState, Encoder};

/// Encodes parts of a text to the ids of the whole text.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct EncodeStream {
    encoder: Arc<Encoder>,
    special: bool,
    state: Mutex<EncodeState>,
}

impl EncodeStream {
    pub(super) fn new(encoder: Arc<Encoder>, special: bool) -> Self {
        EncodeStream { encoder, special, state: Mutex::default() }
    }
}

#[pymethods]
impl EncodeStream {
    /// Adds text; returns the ids that no later text can change.
    fn push<'py>(&self, py: Python<'py>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        let text = call::text(text)?;
        self.step(py, Some(text))
    }

    /// Ends the text; returns the remaining ids.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.step(py, None)
    }
}

impl EncodeStream {
    fn step<'py>(&self, py: Python<'py>, text: Option<&str>) -> PyResult<Bound<'py, PyList>> {
        let state = &mut *call::alone(&self.state, "an encoding stream")?;
        let pending = state.pending_bytes() + text.map_or(0, str::len);
        let fill = |ids: &mut Vec<u32>| {
            call::sized(py, pending, |control| match text {
                Some(text) => self.encoder.push_stream(state, text.as_bytes(), self.special, ids, control),
                None => self.encoder.finish_stream(state, self.special, ids, control),
            })
        };
        call::with_ids(fill, |ids| ids::to_list(py, ids))
    }
}
