//! Encoding with the truncation, post-processor and padding of `tokenizers`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString, PyTuple};

use super::call;
use super::formats::of_json;
use super::huggingface_encoding::{PyEncoding, copied};
use super::objects::{self, Any};
use super::pipeline::PyPostProcessor;
use super::tokenizer::Tokenizer;
use crate::error::Result;
use crate::postprocess::{Encoding, Padding, Run, RunSource, Truncation, finish, pad};

/// How encodings are finished: truncation, post-processor and padding. Immutable.
#[pyclass(frozen, name = "EncodingSettings", module = "toksmith._core")]
pub(super) struct PyEncodingSettings {
    truncation: Option<Truncation>,
    processor: Option<Py<PyPostProcessor>>,
    padding: Option<Padding>,
}

/// Whether each text is a list of words; whether added tokens are found; whether the post-processor adds its
/// own; whether only ids are known; and how many threads may be used.
type Options = (bool, bool, bool, bool, usize);

#[pymethods]
impl PyEncodingSettings {
    /// `settings` is a JSON of truncation and padding, null where they are off.
    #[new]
    fn new(settings: &str, processor: Option<Py<PyPostProcessor>>) -> PyResult<Self> {
        let (truncation, padding): (_, Option<Padding>) = of_json(settings)?;
        padding.as_ref().map_or(Ok(()), Padding::check)?;
        Ok(PyEncodingSettings { truncation, processor, padding })
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
        let mut finished = self.processed(encodings, adds_tokens)?;
        self.pad(std::slice::from_mut(&mut finished));
        Ok(PyEncoding(finished))
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
            Ok::<_, PyErr>(Encoding::of_runs(runs, if is_fast { 0 } else { number as u32 }))
        };
        let mut finished = Vec::with_capacity(items.len());
        for item in items {
            let encodings = item.into_iter().enumerate().map(&mut encoding).collect::<PyResult<_>>()?;
            finished.push(self.processed(encodings, adds_tokens)?);
        }
        self.pad(&mut finished);
        Ok(finished)
    }

    fn processed(&self, encodings: Vec<Encoding>, adds_tokens: bool) -> Result<Encoding> {
        let processor = self.processor.as_ref().map(|processor| &processor.get().inner);
        finish(encodings, self.truncation.as_ref(), processor, adds_tokens)
    }

    fn pad(&self, encodings: &mut [Encoding]) {
        if let Some(padding) = &self.padding {
            pad(encodings, padding);
        }
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
