//! Text that is decoded id by id.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyString};

use super::{ids, objects};
use crate::decode::{DecoderState, Flow, StageState, TextDecoder};
use crate::encode::Encoder;

/// The state of a decoder as a tuple of its fields.
type StateTuple = (Vec<StageTuple>, String, (usize, usize));
/// The state of a stage as a tuple of its fields.
type StageTuple = (usize, String, Vec<u8>, usize, bool, Option<String>);

/// Decodes ids that arrive one by one.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct TextStream {
    encoder: Arc<Encoder>,
    decoder: Arc<TextDecoder>,
    state: Mutex<DecoderState>,
}

impl TextStream {
    pub(super) fn new(encoder: Arc<Encoder>, decoder: Arc<TextDecoder>) -> Self {
        TextStream { encoder, decoder, state: Mutex::default() }
    }
}

#[pymethods]
impl TextStream {
    /// Adds an id; returns the text that no later id can change.
    fn push<'py>(&self, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let number = ids::extract_id(id, None)?;
        let mut text = String::new();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.decoder.push(self.encoder.vocab(), &mut state, number, None, &mut text)?;
        objects::string(id.py(), &text)
    }

    /// Ends the text; returns the rest of it. The stream starts again.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let mut text = String::new();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.decoder.finish(&mut state, &mut text)?;
        objects::string(py, &text)
    }

    /// Regards all text so far as shown: none of it is returned later, except a character that is unfinished.
    fn mark_shown(&self) -> PyResult<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.decoder.mark_shown(&mut state)?)
    }

    /// Whether joining the bytes of tokens, without spaces at the front, gives the same text if these are UTF-8.
    #[getter]
    fn joins_bytes(&self) -> bool {
        self.decoder.stripped().is_some()
    }

    /// The state of the decoder.
    #[getter]
    fn state(&self) -> StateTuple {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let fields = |stage: StageState| {
            (stage.tokens, stage.text, stage.bytes, stage.stripped, stage.has_begun, stage.before)
        };
        let flow = (state.flow.taken, state.flow.made);
        (state.stages.into_iter().map(fields).collect(), state.shown, flow)
    }

    #[setter]
    fn set_state(&self, state: StateTuple) {
        let (stages, shown, (taken, made)) = state;
        let stage = |(tokens, text, bytes, stripped, has_begun, before)| StageState {
            tokens,
            text,
            bytes,
            stripped,
            has_begun,
            before,
        };
        let stages = stages.into_iter().map(stage).collect();
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) =
            DecoderState { stages, shown, flow: Flow { taken, made } };
    }
}
