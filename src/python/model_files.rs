//! The content of files that other libraries read: SentencePiece's `.model`, and the metadata of GGUF.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use super::dialects::PyTables;
use super::pipeline::{PyPipeline, json_value};
use super::tokenizer::Tokenizer;
use super::{call, objects};
use crate::formats::gguf::{Templates, gguf_of_bytes, gguf_of_characters, llama_cpp_name};
use crate::formats::sentencepiece::{self, Steps};

/// The content of a `.model`. `spec` is the JSON of the parts of a `tokenizer.json`.
#[pyfunction]
pub(super) fn sentencepiece_model<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    pipeline: Option<&PyPipeline>,
    spec: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let spec = json_value(spec, "spec")?;
    let model = call::long(py, None, |_| {
        let steps = steps_of(tokenizer, pipeline, &spec);
        sentencepiece::sentencepiece_model(tokenizer.encoder().vocab(), steps.as_ref())
    })?;
    objects::bytes(py, &model)
}

/// The content of a GGUF file. `pattern` is the name of the pattern, or its expression; `templates` are the ids that the
/// template puts before and behind a text, those of the BOS and EOS token that chat templates name, and these by name.
#[pyfunction]
pub(super) fn gguf_metadata<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    pipeline: Option<&PyPipeline>,
    spec: &str,
    pattern: &str,
    templates: Templates,
) -> PyResult<Bound<'py, PyBytes>> {
    let (vocab, spec) = (tokenizer.encoder().vocab(), json_value(spec, "spec")?);
    let file = if vocab.characters().is_some() {
        call::long(py, None, |_| {
            gguf_of_characters(vocab, steps_of(tokenizer, pipeline, &spec).as_ref(), &templates)
        })
    } else {
        let (merges, ignores_merges) = call::long(py, None, |_| vocab.listed_merges())?;
        let pre_tokenizer = &spec["pre_tokenizer"];
        let pre = llama_cpp_name(pre_tokenizer, pattern, ignores_merges, &PyTables(py))?;
        let pipeline = pipeline.map(|pipeline| &pipeline.steps);
        call::long(py, None, |_| gguf_of_bytes(vocab, pipeline, &merges, pre, &templates))
    }?;
    objects::bytes(py, &file)
}

fn steps_of<'a>(
    tokenizer: &'a Tokenizer,
    pipeline: Option<&'a PyPipeline>,
    spec: &'a Value,
) -> Option<Steps<'a>> {
    let (decoder, pipeline) = tokenizer.decoder.as_deref().zip(pipeline)?;
    Some(Steps { decoder, pipeline: &pipeline.steps, spec })
}
