//! The steps around the model of a Hugging Face tokenizer: added tokens, `Pipeline`, `PostProcessor`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyString};
use serde_json::Value;

use super::call;
use super::errors::OrRaise;
use super::formats::{object_of, value_of};
use super::objects::{List, Made};
use super::pretokenizer::{PyPretokenizer, PyTables};
use toksmith::error::Error;
use toksmith::postprocess::PostProcessor;
use toksmith::pretokenize::{Matcher, Pattern, SplitStage};
use toksmith::tokenizer::parts::read_post_processor;
use toksmith::tokenizer::{Pipeline, token_value};

/// The steps of a Hugging Face tokenizer around its model. Immutable.
///
/// Its parts are those of the `tokenizer.json`; `docs/huggingface.md` has the meaning of each.
#[pyclass(frozen, name = "Pipeline", module = "toksmith._core")]
pub(super) struct PyPipeline {
    pub(super) inner: Arc<Pipeline>,
}

#[pymethods]
impl PyPipeline {
    /// Compiles parts of a `tokenizer.json`, as JSON.
    #[new]
    fn new(py: Python<'_>, parts: &str) -> PyResult<Self> {
        let Value::Object(parts) = value_of(parts, "pipeline").or_raise()? else {
            return Err(Error::BrokenPart("$.pipeline".into(), "not an object".into())).or_raise();
        };
        let inner = call::long(py, None, |_| Pipeline::new(parts, [], &PyTables))?;
        Ok(PyPipeline { inner: inner.into() })
    }

    /// All parts as JSON has them: those of a `tokenizer.json` without its model. A copy.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_of(py, self.inner.spec())
    }

    /// The added tokens, by id, as a `tokenizer.json` has them.
    #[getter]
    fn added_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_of(py, &self.inner.added_tokens().iter().map(token_value).collect())
    }

    /// The post-processor, which puts tokens around encoded texts; None if there is none.
    #[getter]
    fn template(&self) -> Option<PyPostProcessor> {
        self.inner.template().map(|template| PyPostProcessor { inner: template.clone() })
    }

    #[getter]
    fn merges_characters(&self) -> bool {
        self.inner.merges_characters()
    }

    /// Whether no single pattern splits like the pipeline.
    #[getter]
    fn is_staged(&self) -> bool {
        self.inner.is_staged()
    }

    /// Whether the core does everything without these steps.
    #[getter]
    fn is_plain(&self) -> PyResult<bool> {
        self.inner.steps().is_plain().or_raise()
    }

    /// What runs the stages that cut a text into pretokens: the name of a scanner, "compiled" or "regex";
    /// nothing for texts and kinds of characters, which are found directly.
    fn engines(&self) -> Vec<&'static str> {
        let engine = |stage: &SplitStage| match &stage.matcher {
            Matcher::Pattern(Pattern::Named(named, _)) => Some(named.name()),
            Matcher::Pattern(_) => Some("compiled"),
            Matcher::Outside(_) => Some("regex"),
            _ => None,
        };
        self.inner.steps().stages().iter().filter_map(engine).collect()
    }

    /// The names of the parts that change the ids, besides one pattern and special tokens.
    fn reasons(&self) -> PyResult<Vec<String>> {
        self.inner.reasons().or_raise()
    }

    /// The pattern: its text or stages, flags, name, `unmatched`, Unicode version, and what runs it.
    fn pattern<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyPretokenizer::row(py, self.inner.pattern(), self.inner.has_stages())
    }

    fn normalize(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Made<String>> {
        let text = call::text(text)?;
        call::sized(py, text.len(), |_| self.inner.steps().parts.normalizer.normalized(text)).map(Made)
    }

    /// The pretokens of a normalized text, each as the file spells it, with its place in characters.
    fn pre_tokenize(&self, text: &str) -> PyResult<Vec<(String, (usize, usize))>> {
        let pretokens = self.inner.steps().pre_tokenized(text).or_raise()?.into_iter();
        Ok(pretokens.map(|(pretoken, place)| (pretoken, (place.start, place.end))).collect())
    }

    /// The pieces of a text, normalized and with prefixes, for a training; cut into pretokens if no one
    /// pattern does that.
    fn pieces(&self, py: Python<'_>, text: &str) -> PyResult<Made<List<impl Iterator<Item = String>>>> {
        let pieces = call::sized(py, text.len(), |_| self.inner.steps().pieces(text))?;
        Ok(Made(List(pieces.into_iter().map(|piece| String::from_utf8_lossy(&piece).into_owned()))))
    }

    /// The text that the decoder makes of tokens, as the file spells them.
    fn decode(&self, tokens: Vec<String>) -> PyResult<Made<String>> {
        Ok(Made(self.inner.steps().decoder.decode(tokens.iter().map(String::as_str)).or_raise()?))
    }
}

/// What puts tokens around the ids of texts.
#[pyclass(frozen, name = "PostProcessor", module = "toksmith._core")]
pub(super) struct PyPostProcessor {
    pub(super) inner: PostProcessor,
}

#[pymethods]
impl PyPostProcessor {
    /// `json` is the `post_processor` of a `tokenizer.json`.
    #[new]
    fn new(json: &str) -> PyResult<Self> {
        Ok(PyPostProcessor {
            inner: read_post_processor(&value_of(json, "post_processor").or_raise()?).or_raise()?,
        })
    }

    /// How many ids are added around one text, or two.
    #[pyo3(signature = (is_pair=false))]
    fn added(&self, is_pair: bool) -> usize {
        self.inner.added(is_pair)
    }

    /// The ids of one text, or two, with those that are added.
    #[pyo3(signature = (first, second=None))]
    fn ids(&self, first: Vec<u32>, second: Option<Vec<u32>>) -> PyResult<Vec<u32>> {
        self.inner.ids([first].into_iter().chain(second).collect()).or_raise()
    }

    /// The ids that are put before and behind a text; None if the text is left out, or repeated.
    fn around(&self) -> PyResult<Option<(Vec<u32>, Vec<u32>)>> {
        self.inner.around().or_raise()
    }
}
