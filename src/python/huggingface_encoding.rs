//! The class `HuggingFaceEncoding`: what the stand-in for `tokenizers` returns for a text.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::errors;
use super::formats::{json_of, of_json};
use super::ids::IdList;
use super::objects::{self, Any, List, Made};
use crate::postprocess::{Encoding, Span};

/// Ids with what is known of each.
#[pyclass(name = "HuggingFaceEncoding", module = "toksmith._core")]
pub(super) struct PyEncoding(pub(super) Encoding);

type Ints = Made<IdList>;

fn ints(numbers: impl Iterator<Item = u32>) -> Ints {
    Made(IdList(numbers.collect()))
}

#[pymethods]
impl PyEncoding {
    #[new]
    fn new() -> Self {
        PyEncoding(Encoding::default())
    }

    /// The encodings joined in order; with `growing_offsets`, as if the texts followed each other.
    #[staticmethod]
    #[pyo3(signature = (encodings, growing_offsets=true))]
    fn merge(encodings: Any, growing_offsets: bool) -> PyResult<Self> {
        let parts = objects::extracted(encodings, |encoding| copied(&encoding))?;
        Ok(PyEncoding(Encoding::merged(&parts, growing_offsets)?))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        let names = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing";
        format!("Encoding(num_tokens={}, attributes=[{names}])", self.0.len())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<PyEncoding>().getattr("_of_state")?, (json_of(&self.0)?,)))
    }

    #[staticmethod]
    fn _of_state(state: &str) -> PyResult<Self> {
        of_json(state).map(PyEncoding)
    }

    /// The ids.
    #[getter]
    fn ids(&self) -> Ints {
        ints(self.0.ids())
    }

    /// The tokens as the vocabulary spells them.
    #[getter]
    fn tokens(&self) -> PyResult<Made<List<impl Iterator<Item = &str>>>> {
        Ok(Made(List(self.0.columns()?.map(|(token, ..)| token))))
    }

    /// Where each token stands in its text, in characters.
    #[getter]
    fn offsets(&self) -> PyResult<Vec<Span>> {
        Ok(self.0.spans()?)
    }

    /// For each token, the type id of its sequence.
    #[getter]
    fn type_ids(&self) -> Ints {
        ints(self.0.type_ids())
    }

    /// 0 for padding, else 1.
    #[getter]
    fn attention_mask(&self) -> Ints {
        ints(self.0.is_attended().map(u32::from))
    }

    /// 1 for tokens that a template or padding added, else 0.
    #[getter]
    fn special_tokens_mask(&self) -> Ints {
        ints(self.0.is_added().map(u32::from))
    }

    /// For each token, the number of its pretoken in the text, or of its word if the text was given as words.
    #[getter]
    fn word_ids(&self) -> PyResult<Vec<Option<u32>>> {
        Ok(self.0.words()?)
    }

    /// As `word_ids`.
    #[getter]
    fn words(&self) -> PyResult<Vec<Option<u32>>> {
        self.word_ids()
    }

    /// For each token, the number of its sequence.
    #[getter]
    fn sequence_ids(&self) -> Vec<Option<usize>> {
        self.0.sequence_ids()
    }

    /// The tokens that truncation cut off, as encodings of their own.
    #[getter]
    fn overflowing(&self) -> Vec<PyEncoding> {
        self.0.overflowing.iter().cloned().map(PyEncoding).collect()
    }

    /// How many sequences the encoding is made of.
    #[getter]
    fn n_sequences(&self) -> usize {
        self.0.sequences()
    }

    /// The number of a token's sequence.
    fn token_to_sequence(&self, token_index: usize) -> Option<usize> {
        self.0.token_to_sequence(token_index)
    }

    /// Where a token stands in its text.
    fn token_to_chars(&self, token_index: usize) -> PyResult<Option<Span>> {
        Ok(self.0.token_to_chars(token_index)?)
    }

    /// The number of a token's word.
    fn token_to_word(&self, token_index: usize) -> PyResult<Option<u32>> {
        Ok(self.0.token_to_word(token_index)?)
    }

    /// The first token over a character.
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_token(&self, char_pos: usize, sequence_index: usize) -> PyResult<Option<usize>> {
        Ok(self.0.char_to_token(char_pos, sequence_index)?)
    }

    /// The number of the word over a character.
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_word(&self, char_pos: usize, sequence_index: usize) -> PyResult<Option<u32>> {
        Ok(self.0.char_to_word(char_pos, sequence_index)?)
    }

    /// The first token of a word, and the one after its last.
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_tokens(&self, word_index: u32, sequence_index: usize) -> PyResult<Option<Span>> {
        Ok(self.0.word_to_tokens(word_index, sequence_index)?)
    }

    /// Where a word stands in its text.
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_chars(&self, word_index: u32, sequence_index: usize) -> PyResult<Option<Span>> {
        Ok(self.0.word_to_chars(word_index, sequence_index)?)
    }

    /// Makes all its tokens those of one sequence.
    fn set_sequence_id(&mut self, sequence_id: usize) {
        self.0.set_sequence(sequence_id);
    }

    /// Keeps `max_length` tokens; the others go to `overflowing`, each part with `stride` tokens of the one
    /// before.
    #[pyo3(signature = (max_length, stride=0, direction="right"))]
    fn truncate(&mut self, max_length: usize, stride: usize, direction: &str) -> PyResult<()> {
        let is_left = is_left(direction, "truncation_direction")?;
        Ok(self.0.truncate(max_length, stride, is_left)?)
    }

    /// Fills up to `length` tokens, and so each of `overflowing`.
    #[pyo3(signature = (length, direction="right", pad_id=0, pad_type_id=0, pad_token="[PAD]"))]
    fn pad(
        &mut self,
        length: usize,
        direction: &str,
        pad_id: u32,
        pad_type_id: u32,
        pad_token: &str,
    ) -> PyResult<()> {
        let is_left = is_left(direction, "direction")?;
        self.0.pad(length, is_left, pad_id, pad_type_id, pad_token);
        Ok(())
    }
}

/// A copy of an encoding, which stays as it is.
pub(super) fn copied(encoding: Any) -> PyResult<Encoding> {
    let wrong = |_| errors::wrong_type("expected an Encoding", encoding, "");
    Ok(encoding.cast::<PyEncoding>().map_err(wrong)?.try_borrow()?.0.clone())
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
