//! Encoding with the truncation, post-processor and padding of `tokenizers`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString, PyTuple};

use super::formats::of_json;
use super::huggingface_encoding::{PyEncoding, copied};
use super::pipeline::PyPostProcessor;
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::postprocess::{Encoding, Padding, Run, Source, Truncation, finish, pad};

/// How encodings are finished: truncation, post-processor and padding. Immutable.
#[pyclass(frozen, name = "EncodingSettings", module = "toksmith._core")]
pub(super) struct PyEncodingSettings {
    truncation: Option<Truncation>,
    processor: Option<Py<PyPostProcessor>>,
    padding: Option<Padding>,
}

#[pymethods]
impl PyEncodingSettings {
    /// `settings` is a JSON of truncation and padding, null where they are off.
    #[new]
    fn new(settings: &str, processor: Option<Py<PyPostProcessor>>) -> PyResult<Self> {
        let (truncation, padding) = of_json(settings)?;
        Ok(PyEncodingSettings { truncation, processor, padding })
    }

    /// The encoding of one text or two; with `is_pretokenized` each is a list of words. `special` says whether added tokens
    /// are found, `adds_tokens` whether the post-processor adds its own.
    fn encode(
        &self,
        py: Python<'_>,
        tokenizer: &Tokenizer,
        sequences: Vec<Bound<'_, PyAny>>,
        is_pretokenized: bool,
        special: bool,
        adds_tokens: bool,
    ) -> PyResult<PyEncoding> {
        let item =
            sequences.iter().map(|sequence| words(sequence, is_pretokenized)).collect::<PyResult<_>>()?;
        let encodings = encodings_of(item, true, |word, text| {
            let mut ids = Vec::new();
            call::sized(py, text.len(), |control| {
                tokenizer.encoder().encode(text.as_bytes(), special, &mut ids, control)
            })?;
            Ok(tokenizer.inner.run_of(text, ids, special, is_pretokenized.then_some(word))?)
        })?;
        self.finished(encodings, adds_tokens)
    }

    /// The encodings of a batch, of which each item is a text or a pair of texts. With `is_fast` only ids are known.
    #[expect(clippy::too_many_arguments, reason = "the options of one call")]
    fn encode_batch(
        &self,
        py: Python<'_>,
        tokenizer: &Tokenizer,
        items: &Bound<'_, PyAny>,
        is_pretokenized: bool,
        special: bool,
        adds_tokens: bool,
        is_fast: bool,
        workers: usize,
    ) -> PyResult<Vec<PyEncoding>> {
        let sequences = objects::extracted(items, |item| sequences_of(&item, is_pretokenized))?;
        let texts: Vec<&[u8]> = sequences.iter().flatten().flatten().map(|text| text.as_bytes()).collect();
        let bytes = texts.iter().map(|text| text.len()).sum();
        let batch = call::sized(py, bytes, |control| {
            tokenizer.encoder().encode_batch(&texts, special, workers, control)
        })?;
        let mut ids = batch.starts.windows(2).map(|at| &batch.ids[at[0]..at[1]]);
        let mut run = |word: usize, text: PyBackedStr| -> PyResult<Run> {
            let ids = ids.next().unwrap_or_default().to_vec();
            if is_fast {
                return Ok(Run::of_text(ids, Source::Repeated("".into())));
            }
            Ok(tokenizer.inner.run_of(text, ids, special, is_pretokenized.then_some(word))?)
        };
        let mut finished = Vec::with_capacity(sequences.len());
        for item in sequences {
            finished.push(self.processed(encodings_of(item, !is_fast, &mut run)?, adds_tokens)?);
        }
        self.pad(&mut finished);
        Ok(finished.into_iter().map(PyEncoding::of).collect())
    }

    /// One encoding of one or two, which stay as they are.
    fn finish(&self, encodings: Vec<Bound<'_, PyAny>>, adds_tokens: bool) -> PyResult<PyEncoding> {
        self.finished(encodings.iter().map(copied).collect::<PyResult<_>>()?, adds_tokens)
    }
}

impl PyEncodingSettings {
    fn finished(&self, encodings: Vec<Encoding>, adds_tokens: bool) -> PyResult<PyEncoding> {
        let mut encoding = self.processed(encodings, adds_tokens)?;
        self.pad(std::slice::from_mut(&mut encoding));
        Ok(PyEncoding::of(encoding))
    }

    fn processed(&self, encodings: Vec<Encoding>, adds_tokens: bool) -> PyResult<Encoding> {
        let processor = self.processor.as_ref().map(|processor| &processor.get().inner);
        Ok(finish(encodings, self.truncation.as_ref(), processor, adds_tokens)?)
    }

    fn pad(&self, encodings: &mut [Encoding]) {
        if let Some(padding) = &self.padding {
            pad(encodings, padding);
        }
    }
}

/// The encodings of the sequences of an item, with its numbers as type ids if `is_typed`. `run` makes a run of the number of
/// a word and the word.
fn encodings_of(
    item: Vec<Vec<PyBackedStr>>,
    is_typed: bool,
    mut run: impl FnMut(usize, PyBackedStr) -> PyResult<Run>,
) -> PyResult<Vec<Encoding>> {
    let sequence = |(number, words): (usize, Vec<PyBackedStr>)| {
        let runs = words.into_iter().enumerate().map(|(at, word)| run(at, word)).collect::<PyResult<_>>()?;
        Ok(Encoding::of_runs(runs, if is_typed { number as u32 } else { 0 }))
    };
    item.into_iter().enumerate().map(sequence).collect()
}

/// The sequences of an item of a batch: one or two, each as its words, or as the only one.
fn sequences_of(item: &Bound<'_, PyAny>, is_pretokenized: bool) -> PyResult<Vec<Vec<PyBackedStr>>> {
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

fn is_pair_of_words(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_text = |at: usize| Ok::<_, PyErr>(item.get_item(at)?.is_instance_of::<PyString>());
    Ok(item.len()? == 2 && !is_text(0)? && !is_text(1)?)
}

/// The words of a sequence; the sequence itself is the only one, if it is not given as words.
fn words(sequence: &Bound<'_, PyAny>, is_pretokenized: bool) -> PyResult<Vec<PyBackedStr>> {
    let text = |word: &Bound<'_, PyAny>, reason: &dyn Fn() -> String| match word.cast::<PyString>() {
        Ok(word) => call::backed_text(word),
        Err(_) => Err(PyTypeError::new_err(reason())),
    };
    if !is_pretokenized {
        let kind = || format!("a text must be a str, not {}", sequence.get_type());
        return Ok(vec![text(sequence, &kind)?]);
    }
    let reason = || "with is_pretokenized, a text must be a list of str".to_owned();
    if sequence.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(reason()));
    }
    let items = sequence.try_iter().map_err(|_| PyTypeError::new_err(reason()))?;
    items.map(|word| text(&word?, &reason)).collect()
}
