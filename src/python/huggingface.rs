//! The class `HuggingFaceModel`: the model and the added tokens of a `tokenizer.json`.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::pipeline::PyPipeline;
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::formats::huggingface::TokenizerFile;
use crate::room;

/// A `tokenizer.json` that was read.
#[pyclass(frozen, module = "toksmith._core")]
pub(super) struct HuggingFaceModel {
    file: TokenizerFile,
}

/// An added token: id, content, and its flags in the order of `AddedToken`.
type AddedRow = (u32, String, bool, bool, bool, bool, bool);

#[pymethods]
impl HuggingFaceModel {
    /// Reads the content of a file. With `keep_ids` new added tokens have the ids that the file gives them.
    #[new]
    #[pyo3(signature = (data, keep_ids=false))]
    fn new(py: Python<'_>, data: &[u8], keep_ids: bool) -> PyResult<Self> {
        let file = call::long(py, None, |_| TokenizerFile::read(data, keep_ids))?;
        Ok(HuggingFaceModel { file })
    }

    /// Reads a SentencePiece `.model` of type BPE.
    #[staticmethod]
    fn of_sentencepiece(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Ok(HuggingFaceModel { file: call::long(py, None, |_| TokenizerFile::read_sentencepiece(data))? })
    }

    /// Reads the tokenizer of a GGUF file. `pre` is the name of the pre-tokenizer if the file has none.
    #[staticmethod]
    #[pyo3(signature = (path, pre = None))]
    fn of_gguf(py: Python<'_>, path: PathBuf, pre: Option<&str>) -> PyResult<Self> {
        let file = std::io::BufReader::new(std::fs::File::open(path)?);
        Ok(HuggingFaceModel { file: call::long(py, None, |_| TokenizerFile::read_gguf(file, pre))? })
    }

    /// The JSON of all fields besides the model and the added tokens, by name.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        texts(py, &self.file.parts)
    }

    /// The JSON of the fields of the model besides its vocabulary and merges, by name.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        texts(py, &self.file.options)
    }

    /// The JSON of the fields of a `tokenizer_config.json` that the file has, by name.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        texts(py, &self.file.config)
    }

    /// The added tokens, with the ids that the original gives them.
    #[getter]
    fn added(&self) -> PyResult<Vec<AddedRow>> {
        let rows = self.file.added.iter().map(|token| {
            let [single_word, lstrip, rstrip, normalized, special] = token.flags;
            (token.id, token.content.clone(), single_word, lstrip, rstrip, normalized, special)
        });
        Ok(room::collected(rows)?)
    }

    /// A warning for each id that differs from the one in the file.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.file.warnings.clone()
    }

    /// The contents of the added tokens that the vocabulary of the model does not have.
    #[getter]
    fn beside(&self) -> Vec<String> {
        self.file.beside().map(|token| token.content.clone()).collect()
    }

    /// In a byte-level file, the ids of the added tokens that ordinary text can become as well.
    fn kept(&self) -> Vec<u32> {
        self.file.kept().map(|token| token.id).collect()
    }

    /// The tokenizer without the steps around its model. `seed` is that of the dropout.
    #[pyo3(signature = (pipeline, seed=None))]
    fn tokenizer(&self, py: Python<'_>, pipeline: &PyPipeline, seed: Option<u64>) -> PyResult<Tokenizer> {
        let encoder = call::long(py, None, |_| self.file.encoder(&pipeline.steps, seed))?;
        Ok(Tokenizer::of(Arc::new(encoder)))
    }
}

fn texts<'py>(py: Python<'py>, fields: &[(String, String)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = objects::dict(py)?;
    for (name, json) in fields {
        dict.set_item(name, objects::string(py, json)?)?;
    }
    Ok(dict)
}
