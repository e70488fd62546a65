//! Decoders from their parts, and text that is decoded id by id.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyString};

use super::pretokenizer::matcher;
use super::{ids, objects};
use crate::decode::{Decoder, DecoderState, Flow, Stage, StageState, TextDecoder};
use crate::encode::Encoder;
use crate::vocab::TextSpelling;

/// A stage of a decoder: its name and its arguments.
pub(super) type NamedStage<'py> = (String, Vec<Bound<'py, PyAny>>);

/// A stage of a decoder by its name and its arguments.
pub(super) fn stage(name: &str, arguments: &[Bound<'_, PyAny>]) -> PyResult<Stage> {
    Ok(match (name, arguments) {
        ("Spaced", []) => Stage::Spaced,
        ("ByteLevel", []) => Stage::ByteLevel,
        ("ByteFallback", []) => Stage::ByteFallback,
        ("Fuse", []) => Stage::Fuse,
        ("Replace", [kind, argument, content]) => {
            Stage::Replace(matcher(&kind.extract::<String>()?, argument)?, content.extract()?)
        }
        ("Strip", [character, start, stop]) => {
            Stage::Strip { character: character.extract()?, start: start.extract()?, stop: stop.extract()? }
        }
        ("Metaspace", [replacement, is_prefixed]) => {
            Stage::Metaspace { replacement: replacement.extract()?, is_prefixed: is_prefixed.extract()? }
        }
        ("BPEDecoder", [suffix]) => Stage::Suffix(suffix.extract()?),
        ("WordPiece", [prefix, cleanup]) => {
            Stage::WordPiece { prefix: prefix.extract()?, cleanup: cleanup.extract()? }
        }
        ("CTC", [pad, delimiter, cleanup]) => {
            Stage::Ctc { pad: pad.extract()?, delimiter: delimiter.extract()?, cleanup: cleanup.extract()? }
        }
        _ => return Err(PyValueError::new_err(format!("no stage has the name {name:?} and such arguments"))),
    })
}

/// The text that stages make of tokens.
#[pyfunction]
pub(super) fn decode_tokens<'py>(
    py: Python<'py>,
    stages: Vec<NamedStage<'py>>,
    tokens: Vec<String>,
) -> PyResult<Bound<'py, PyString>> {
    let stages = stages.iter().map(|(name, arguments)| stage(name, arguments)).collect::<PyResult<_>>()?;
    objects::string(py, &Decoder::new(stages).decode(tokens.iter().map(String::as_str))?)
}

/// How a file spells text, by name.
pub(super) fn spelling_of(name: &str) -> PyResult<TextSpelling> {
    match name {
        "bytes" => Ok(TextSpelling::Bytes),
        "characters" => Ok(TextSpelling::Characters),
        "spaces" => Ok(TextSpelling::Spaces),
        other => Err(PyValueError::new_err(format!("no spelling has the name {other:?}"))),
    }
}

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
        let number = ids::one(id, None)?;
        let mut text = String::new();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.decoder.push(self.encoder.vocab(), &mut state, number, None, &mut text)?;
        objects::string(id.py(), &text)
    }

    /// Ends the text; returns the rest of it. The stream starts anew.
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
