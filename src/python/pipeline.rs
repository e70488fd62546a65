//! The class `Pipeline`: the steps around the model of a Hugging Face tokenizer.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyList, PyString};
use serde_json::{Map, Value};

use super::compiled::PyCompiledPattern;
use super::dialects::PyTables;
use super::formats::{object_of, value_of};
use super::post_processor::PyPostProcessor;
use super::pretokenizer::PyPretokenizer;
use super::{call, objects};
use crate::error::Error;
use crate::normalize::NormalizeStep;
use crate::pipeline::{AddedToken, Prefix};
use crate::pretokenize::{Matcher, SplitStage};
use crate::special::Flags;
use crate::tokenizer::{Pipeline, token_value};
use crate::vocab::TextSpelling;

/// The kind of a matcher, its argument, the behavior and whether it is inverted.
type StageRow<'py> = (&'static str, Option<Bound<'py, PyAny>>, &'static str, bool);

/// An added token, with the id that the original gives it.
#[pyclass(frozen, eq, name = "AddedToken", module = "toksmith._core")]
#[derive(Clone, PartialEq)]
pub(super) struct PyAddedToken {
    pub(super) token: AddedToken,
}

#[pymethods]
impl PyAddedToken {
    #[new]
    #[pyo3(signature = (id, content, *, single_word=false, lstrip=false, rstrip=false, normalized=false, special=false))]
    fn new(
        id: u32,
        content: String,
        single_word: bool,
        lstrip: bool,
        rstrip: bool,
        normalized: bool,
        special: bool,
    ) -> Self {
        let flags = Flags { single_word, lstrip, rstrip, special };
        PyAddedToken { token: AddedToken { id, content, flags, normalized } }
    }

    #[getter]
    fn id(&self) -> u32 {
        self.token.id
    }

    #[getter]
    fn content(&self) -> &str {
        &self.token.content
    }

    #[getter]
    fn single_word(&self) -> bool {
        self.token.flags.single_word
    }

    #[getter]
    fn lstrip(&self) -> bool {
        self.token.flags.lstrip
    }

    #[getter]
    fn rstrip(&self) -> bool {
        self.token.flags.rstrip
    }

    #[getter]
    fn normalized(&self) -> bool {
        self.token.normalized
    }

    #[getter]
    fn special(&self) -> bool {
        self.token.flags.special
    }

    /// Whether the token is found wherever its content occurs, and takes no whitespace around it.
    #[getter]
    fn is_plain(&self) -> bool {
        let Flags { single_word, lstrip, rstrip, .. } = self.token.flags;
        !(single_word || lstrip || rstrip)
    }

    /// The token as a `tokenizer.json` has it.
    fn row<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_of(py, &token_value(&self.token))
    }

    fn __repr__(&self) -> String {
        format!("AddedToken({})", token_value(&self.token))
    }
}

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
        let Value::Object(parts) = value_of(parts, "pipeline")? else {
            return Err(Error::BrokenPart("$.pipeline".into(), "not an object".into()).into());
        };
        let inner = call::long(py, None, |_| Pipeline::new(complete(parts), [], &PyTables))?;
        Ok(PyPipeline { inner: inner.into() })
    }

    /// All parts as JSON has them: those of a `tokenizer.json` without its model. A copy.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object_of(py, self.inner.spec())
    }

    /// The added tokens, by id.
    #[getter]
    fn added_tokens(&self) -> Vec<PyAddedToken> {
        self.inner.added_tokens().iter().map(|token| PyAddedToken { token: token.clone() }).collect()
    }

    /// The post-processor, which puts tokens around encoded texts; None if there is none.
    #[getter]
    fn template(&self) -> Option<PyPostProcessor> {
        self.inner.template().map(|template| PyPostProcessor { inner: template.clone() })
    }

    /// The names of the steps of the normalizer.
    #[getter]
    fn normalizer(&self) -> Vec<&'static str> {
        self.inner.steps().normalizer().0.iter().map(NormalizeStep::name).collect()
    }

    /// Whether the vocabulary has a plain space for each U+2581 of the file.
    #[getter]
    fn spaces_are_plain(&self) -> bool {
        self.inner.steps().spelling() == TextSpelling::Spaces
    }

    /// Whether the model merges characters instead of bytes.
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
        Ok(self.inner.steps().is_plain()?)
    }

    /// Whether ByteLevel puts a space before a text; None if the pre-tokenizer changes text otherwise before the stages.
    #[getter]
    fn has_prefix(&self) -> Option<bool> {
        self.inner.steps().prefix().map(|prefix| prefix != Prefix::None)
    }

    /// Whether a pretoken begins at each space; None if the pre-tokenizer does more than that.
    #[getter]
    fn splits_at_spaces(&self) -> Option<bool> {
        self.inner.steps().splits_at_spaces()
    }

    /// The stages that cut a text into pretokens. Each is the kind of a matcher, its argument (None for a pattern of `regex`),
    /// a behavior and whether it is inverted.
    #[getter]
    fn stages<'py>(&self, py: Python<'py>) -> PyResult<Vec<StageRow<'py>>> {
        self.inner.steps().stages().iter().map(|stage| row(py, stage)).collect()
    }

    /// The names of the parts that change the ids, besides one pattern and special tokens.
    fn reasons(&self) -> PyResult<Vec<String>> {
        Ok(self.inner.reasons()?)
    }

    /// The pattern: its text or stages, flags, name, `unmatched`, Unicode version, and what runs it.
    fn pattern<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyPretokenizer::row(py, self.inner.pattern(), self.inner.has_stages())
    }

    /// The normalized text.
    fn normalize<'py>(&self, py: Python<'py>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let text = call::text(text)?;
        let changed = call::sized(py, text.len(), |_| self.inner.steps().normalizer().normalized(text))?;
        objects::string(py, &changed)
    }

    /// The pretokens of a normalized text, each as the file spells it, with its place in characters.
    fn pre_tokenize(&self, text: &str) -> PyResult<Vec<(String, (usize, usize))>> {
        let pretokens = self.inner.steps().pre_tokenized(text)?.into_iter();
        Ok(pretokens.map(|(pretoken, place)| (pretoken, (place.start, place.end))).collect())
    }

    /// The pieces of a text, normalized and with prefixes, for a training; cut into pretokens if no one pattern does that.
    fn pieces<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let steps = self.inner.steps();
        let pieces = call::sized(py, text.len(), |_| steps.pieces(text, steps.pattern().is_none()))?;
        let pieces = pieces.iter().map(|piece| objects::string(py, &String::from_utf8_lossy(piece)));
        objects::list_of(py, pieces)
    }

    /// The text that the decoder makes of tokens, as the file spells them.
    fn decode<'py>(&self, py: Python<'py>, tokens: Vec<String>) -> PyResult<Bound<'py, PyString>> {
        let decoder = self.inner.steps().decoder();
        objects::string(py, &decoder.decode(tokens.iter().map(String::as_str))?)
    }
}

/// Adds the parts that are missing.
fn complete(mut parts: Map<String, Value>) -> Map<String, Value> {
    for name in ["normalizer", "pre_tokenizer", "post_processor", "decoder"] {
        parts.entry(name).or_insert(Value::Null);
    }
    parts.entry("added_tokens").or_insert(Value::Array(Vec::new()));
    parts
}

fn row<'py>(py: Python<'py>, stage: &SplitStage) -> PyResult<StageRow<'py>> {
    let text = |text: &str| objects::string(py, text).map(|text| Some(text.into_any()));
    let argument = match &stage.matcher {
        Matcher::Literal(literal) => text(&String::from_utf8_lossy(literal))?,
        Matcher::CharKind(kind) => text(kind.name())?,
        Matcher::Length(length) => Some(objects::int(py, *length as u64)?),
        Matcher::Named(named, _) => text(named.name())?,
        Matcher::Compiled(automaton) => {
            let compiled = PyCompiledPattern { automaton: Arc::clone(automaton) };
            Some(Bound::new(py, compiled)?.into_any())
        }
        Matcher::Words | Matcher::Scripts | Matcher::Outside(_) => None,
    };
    Ok((stage.matcher.kind(), argument, stage.behavior.name(), stage.invert))
}
