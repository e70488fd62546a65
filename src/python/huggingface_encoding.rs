//! The class `HuggingFaceEncoding`: what the stand-in for `tokenizers` returns for a text; and encoding with
//! the truncation, post-processor and padding of `tokenizers`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString, PyTuple};

use super::errors::OrRaise;
use super::formats::{json_of, of_json};
use super::ids::IdList;
use super::objects::{self, Any, List, Made};
use super::pipeline::PyPostProcessor;
use super::tokenizer::Tokenizer;
use super::{call, errors};
use toksmith::error::Result;
use toksmith::postprocess::{Encoding, Finishing, Padding, Run, RunSource, Span};

/// Ids with what is known of each.
#[pyclass(name = "HuggingFaceEncoding", module = "toksmith._core")]
pub(super) struct PyEncoding(Encoding);

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
        Ok(PyEncoding(Encoding::merged(&parts, growing_offsets).or_raise()?))
    }

    fn __len__(&self) -> usize {
        self.0.token_count()
    }

    fn __repr__(&self) -> String {
        let names = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing";
        format!("Encoding(num_tokens={}, attributes=[{names}])", self.0.token_count())
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
        Ok(Made(List(self.0.columns().or_raise()?.map(|(token, ..)| token))))
    }

    /// Where each token stands in its text, in characters.
    #[getter]
    fn offsets(&self) -> PyResult<Vec<Span>> {
        self.0.spans().or_raise()
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
        self.0.words().or_raise()
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
        self.0.token_to_chars(token_index).or_raise()
    }

    /// The number of a token's word.
    fn token_to_word(&self, token_index: usize) -> PyResult<Option<u32>> {
        self.0.token_to_word(token_index).or_raise()
    }

    /// The first token over a character.
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_token(&self, char_pos: usize, sequence_index: usize) -> PyResult<Option<usize>> {
        self.0.char_to_token(char_pos, sequence_index).or_raise()
    }

    /// The number of the word over a character.
    #[pyo3(signature = (char_pos, sequence_index=0))]
    fn char_to_word(&self, char_pos: usize, sequence_index: usize) -> PyResult<Option<u32>> {
        self.0.char_to_word(char_pos, sequence_index).or_raise()
    }

    /// The first token of a word, and the one after its last.
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_tokens(&self, word_index: u32, sequence_index: usize) -> PyResult<Option<Span>> {
        self.0.word_to_tokens(word_index, sequence_index).or_raise()
    }

    /// Where a word stands in its text.
    #[pyo3(signature = (word_index, sequence_index=0))]
    fn word_to_chars(&self, word_index: u32, sequence_index: usize) -> PyResult<Option<Span>> {
        self.0.word_to_chars(word_index, sequence_index).or_raise()
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
        self.0.truncate(max_length, stride, is_left).or_raise()
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
fn copied(encoding: Any) -> PyResult<Encoding> {
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

/// How encodings are finished: truncation, post-processor and padding. Immutable.
#[pyclass(frozen, name = "EncodingSettings", module = "toksmith._core")]
pub(super) struct PyEncodingSettings(Finishing);

/// Whether each text is a list of words; whether added tokens are found; whether the post-processor adds its
/// own; whether only ids are known; and how many threads may be used.
type Options = (bool, bool, bool, bool, usize);

#[pymethods]
impl PyEncodingSettings {
    /// `settings` is a JSON of truncation and padding, null where they are off.
    #[new]
    fn new(settings: &str, processor: Option<&PyPostProcessor>) -> PyResult<Self> {
        let (truncation, padding): (_, Option<Padding>) = of_json(settings)?;
        padding.as_ref().map_or(Ok(()), Padding::check).or_raise()?;
        let processor = processor.map(|processor| processor.inner.clone());
        Ok(PyEncodingSettings(Finishing { truncation, processor, padding }))
    }

    /// The encoding of one text or two.
    fn encode(
        &self,
        py: Python<'_>,
        tokenizer: &Tokenizer,
        sequences: Vec<Bound<'_, PyAny>>,
        options: Options,
    ) -> PyResult<PyEncoding> {
        let item = sequences.iter().map(|sequence| words(sequence, options.0)).collect::<PyResult<_>>()?;
        let mut made = self.encoded(py, tokenizer, vec![item], options)?;
        Ok(PyEncoding(made.swap_remove(0)))
    }

    /// The encodings of a batch, of which each item is a text or a pair of texts.
    fn encode_batch(
        &self,
        py: Python<'_>,
        tokenizer: &Tokenizer,
        items: Any,
        options: Options,
    ) -> PyResult<Vec<PyEncoding>> {
        let items = objects::extracted(items, |item| sequences_of(&item, options.0))?;
        let made = self.encoded(py, tokenizer, items, options)?;
        Ok(made.into_iter().map(PyEncoding).collect())
    }

    /// One encoding of one or two, which stay as they are.
    fn finish(&self, encodings: Vec<Bound<'_, PyAny>>, adds_tokens: bool) -> PyResult<PyEncoding> {
        let encodings = encodings.iter().map(copied).collect::<PyResult<_>>()?;
        Ok(PyEncoding(self.0.finish(vec![encodings], adds_tokens).or_raise()?.swap_remove(0)))
    }
}

impl PyEncodingSettings {
    /// The encodings of items: the words of one sequence or two.
    fn encoded(
        &self,
        py: Python<'_>,
        tokenizer: &Tokenizer,
        items: Vec<Vec<Vec<PyBackedStr>>>,
        (is_pretokenized, special, adds_tokens, is_fast, workers): Options,
    ) -> PyResult<Vec<Encoding>> {
        let texts: Vec<&[u8]> = items.iter().flatten().flatten().map(|text| text.as_bytes()).collect();
        let bytes = texts.iter().map(|text| text.len()).sum();
        let batch = call::sized(py, bytes, |control| {
            tokenizer.encoder().encode_batch(&texts, special, workers, control)
        })?;
        let mut ids = batch.starts.windows(2).map(|at| &batch.ids[at[0]..at[1]]);
        let mut run = |(at, text): (usize, PyBackedStr)| {
            let ids = ids.next().unwrap_or_default().to_vec();
            if is_fast {
                return Ok(Run::of_text(ids, RunSource::Repeated("".into())));
            }
            tokenizer.inner.run_of(text, ids, special, is_pretokenized.then_some(at))
        };
        let mut encoding = |(number, words): (usize, Vec<PyBackedStr>)| {
            let runs = words.into_iter().enumerate().map(&mut run).collect::<Result<_>>()?;
            Ok(Encoding::of_runs(runs, if is_fast { 0 } else { number as u32 }))
        };
        let items = items.into_iter().map(|item| item.into_iter().enumerate().map(&mut encoding).collect());
        self.0.finish(items.collect::<Result<_>>().or_raise()?, adds_tokens).or_raise()
    }
}

/// The sequences of an item of a batch: one or two, each as its words, or as the only one.
fn sequences_of(item: Any, is_pretokenized: bool) -> PyResult<Vec<Vec<PyBackedStr>>> {
    let is_list = item.is_instance_of::<PyTuple>() || item.is_instance_of::<PyList>();
    if !is_list || (is_pretokenized && !is_pair_of_words(item)?) {
        return Ok(vec![words(item, is_pretokenized)?]);
    }
    if item.len()? != 2 {
        let reason = format!("an item of a batch is one sequence or two, not {}", item.len()?);
        return Err(PyTypeError::new_err(reason));
    }
    item.try_iter()?.map(|sequence| words(&sequence?, is_pretokenized)).collect()
}

fn is_pair_of_words(item: Any) -> PyResult<bool> {
    let is_text = |at: usize| Ok::<_, PyErr>(item.get_item(at)?.is_instance_of::<PyString>());
    Ok(item.len()? == 2 && !is_text(0)? && !is_text(1)?)
}

/// The words of a sequence; the sequence itself is the only one, if it is not given as words.
fn words(sequence: Any, is_pretokenized: bool) -> PyResult<Vec<PyBackedStr>> {
    if !is_pretokenized {
        let wrong = |_| PyTypeError::new_err(format!("a text must be a str, not {}", sequence.get_type()));
        return Ok(vec![call::backed_text(sequence.cast().map_err(wrong)?)?]);
    }
    let wrong = || PyTypeError::new_err("with is_pretokenized, a text must be a list of str");
    if sequence.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    let items = sequence.try_iter().map_err(|_| wrong())?;
    items.map(|word| call::backed_text(word?.cast().map_err(|_| wrong())?)).collect()
}
