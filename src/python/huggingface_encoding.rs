//! The class `HuggingFaceEncoding`: what the stand-in for `tokenizers` returns for a text.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::formats::{json_of, of_json};
use super::{errors, ids, objects};
use crate::postprocess::{Encoding, Span};

/// Ids with what is known of each.
#[pyclass(frozen, name = "HuggingFaceEncoding", module = "toksmith._core")]
pub(super) struct PyEncoding(Mutex<Encoding>);

impl PyEncoding {
    pub(super) fn of(encoding: Encoding) -> Self {
        PyEncoding(Mutex::new(encoding))
    }

    pub(super) fn get(&self) -> MutexGuard<'_, Encoding> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ints(py: Python<'_>, numbers: impl Iterator<Item = u32>) -> PyResult<Bound<'_, PyList>> {
    ids::to_list(py, &numbers.collect::<Vec<_>>())
}

#[pymethods]
impl PyEncoding {
    #[new]
    fn new() -> Self {
        PyEncoding::of(Encoding::default())
    }

    /// The encodings joined in order; with `growing_offsets`, as if the texts followed each other.
    #[staticmethod]
    #[pyo3(signature = (encodings, growing_offsets=true))]
    fn merge(encodings: &Bound<'_, PyAny>, growing_offsets: bool) -> PyResult<Self> {
        let parts = objects::extracted(encodings, |encoding| copied(&encoding))?;
        Ok(PyEncoding::of(Encoding::merged(&parts, growing_offsets)?))
    }

    fn __len__(&self) -> usize {
        self.get().len()
    }

    fn __repr__(&self) -> String {
        let names = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing";
        format!("Encoding(num_tokens={}, attributes=[{names}])", self.get().len())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let encoding = self.get().clone();
        Ok((py.get_type::<PyEncoding>().getattr("_of_state")?, (json_of(&encoding)?,)))
    }

    #[staticmethod]
    fn _of_state(state: &str) -> PyResult<Self> {
        Ok(PyEncoding::of(of_json(state)?))
    }

    /// The ids.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        ints(py, self.get().ids())
    }

    /// The tokens as the vocabulary spells them.
    #[getter]
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (encoding, tokens) = (self.get().clone(), objects::list(py)?);
        for (token, ..) in encoding.columns()? {
            tokens.append(objects::string(py, token)?)?;
        }
        Ok(tokens)
    }

    /// Where each token stands in its text, in characters.
    #[getter]
    fn offsets(&self) -> PyResult<Vec<Span>> {
        Ok(self.get().clone().spans()?)
    }

    /// For each token, the type id of its sequence.
    #[getter]
    fn type_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        ints(py, self.get().type_ids())
    }

    /// 0 for padding, else 1.
    #[getter]
    fn attention_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        ints(py, self.get().is_attended().map(u32::from))
    }

    /// 1 for tokens that a template or padding added, else 0.
    #[getter]
    fn special_tokens_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        ints(py, self.get().is_added().map(u32::from))
    }

    /// For each token, the number of its pretoken in the text, or of its word if the text was given as words.
    #[getter]
    fn word_ids(&self) -> PyResult<Vec<Option<u32>>> {
        Ok(self.get().clone().words()?)
    }

    /// As `word_ids`.
    #[getter]
    fn words(&self) -> PyResult<Vec<Option<u32>>> {
        self.word_ids()
    }

    /// For each token, the number of its sequence.
    #[getter]
    fn sequence_ids(&self) -> Vec<Option<usize>> {
        self.get().sequence_ids()
    }

    /// The tokens that truncation cut off, as encodings of their own.
    #[getter]
    fn overflowing(&self) -> Vec<PyEncoding> {
        self.get().overflowing.iter().cloned().map(PyEncoding::of).collect()
    }

    /// How many sequences the encoding is made of.
    #[getter]
    fn n_sequences(&self) -> usize {
        self.get().sequences()
    }

    /// The number of a token's sequence.
    fn token_to_sequence(&self, token_index: usize) -> Option<usize> {
        self.get().token_to_sequence(token_index)
    }

    /// Where a token stands in its text.
    fn token_to_chars(&self, token_index: usize) -> PyResult<Option<Span>> {
        Ok(self.get().clone().token_to_chars(token_index)?)
    }

    /// The number of a token's word.
    fn token_to_word(&self, token_index: usize) -> PyResult<Option<u32>> {
        Ok(self.get().clone().token_to_word(token_index)?)
    }

    /// The first token over a character.
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_token(&self, char_pos: usize, sequence_index: usize) -> PyResult<Option<usize>> {
        Ok(self.get().clone().char_to_token(char_pos, sequence_index)?)
    }

    /// The number of the word over a character.
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_word(&self, char_pos: usize, sequence_index: usize) -> PyResult<Option<u32>> {
        Ok(self.get().clone().char_to_word(char_pos, sequence_index)?)
    }

    /// The first token of a word, and the one after its last.
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_tokens(&self, word_index: u32, sequence_index: usize) -> PyResult<Option<Span>> {
        Ok(self.get().clone().word_to_tokens(word_index, sequence_index)?)
    }

    /// Where a word stands in its text.
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_chars(&self, word_index: u32, sequence_index: usize) -> PyResult<Option<Span>> {
        Ok(self.get().clone().word_to_chars(word_index, sequence_index)?)
    }

    /// Makes all its tokens those of one sequence.
    fn set_sequence_id(&self, sequence_id: usize) {
        self.get().set_sequence(sequence_id);
    }

    /// Keeps `max_length` tokens; the others go to `overflowing`, each part with `stride` tokens of the one before.
    #[pyo3(signature = (max_length, stride=0, direction="right"))]
    fn truncate(&self, max_length: usize, stride: usize, direction: &str) -> PyResult<()> {
        let is_left = is_left(direction, "truncation_direction")?;
        Ok(self.get().truncate(max_length, stride, is_left)?)
    }

    /// Fills up to `length` tokens, and so each of `overflowing`.
    #[pyo3(signature = (length, direction="right", pad_id=0, pad_type_id=0, pad_token="[PAD]"))]
    fn pad(
        &self,
        length: usize,
        direction: &str,
        pad_id: u32,
        pad_type_id: u32,
        pad_token: &str,
    ) -> PyResult<()> {
        let is_left = is_left(direction, "direction")?;
        self.get().pad(length, is_left, pad_id, pad_type_id, pad_token);
        Ok(())
    }
}

/// A copy of an encoding, which stays as it is.
pub(super) fn copied(encoding: &Bound<'_, PyAny>) -> PyResult<Encoding> {
    let wrong = |_| errors::wrong_type("expected an Encoding", encoding, "");
    Ok(encoding.cast::<PyEncoding>().map_err(wrong)?.get().get().clone())
}

/// Whether a direction is "left".
fn is_left(direction: &str, name: &str) -> PyResult<bool> {
    match direction {
        "left" => Ok(true),
        "right" => Ok(false),
        other => {
            Err(PyValueError::new_err(format!("Unknown `{name}`: `{other}`. Use one of `left` or `right`")))
        }
    }
}
