//! The class `Pipeline`: the steps around the model of a `tokenizer.json`.

use std::collections::HashSet;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict, PyList, PyString};

use super::compiled::PyCompiledPattern;
use super::dialects::{self, PyTables};
use super::pretokenizer::PyPretokenizer;
use super::regex::{Nullable, Regex};
use super::{call, objects};
use crate::dialects::{Ranges, Tables, Translation};
use crate::error::{Error, Result};
use crate::normalize::NormalizeStep;
use crate::pipeline::{AddedToken, Prefix};
use crate::pretokenize::{Matcher, SplitStage};
use crate::special::Flags;
use crate::tokenizer::parts::{FilePipeline, PatternEngines};
use crate::vocab::TextSpelling;

/// An added token: its id, its text, and whether it is a single word, strips on the left and on the right, is
/// normalized, and is special.
type TokenRow = (u32, String, bool, bool, bool, bool, bool);

/// The kind of a matcher, its argument, the behavior and whether it is inverted.
type StageRow<'py> = (&'static str, Option<Bound<'py, PyAny>>, &'static str, bool);

/// The steps around the model of a `tokenizer.json`.
#[pyclass(frozen, name = "Pipeline", module = "toksmith._core")]
pub(super) struct PyPipeline {
    pub(super) steps: FilePipeline,
}

#[pymethods]
impl PyPipeline {
    /// `parts` has the JSON of "normalizer", "pre_tokenizer" and "decoder". `engine` returns what runs a pattern without a
    /// scanner, in the dialect of `regex`, given whether it may match nothing: a `CompiledPattern`, or a compiled pattern of
    /// `regex`. `mergeable` are the ids of added tokens that ordinary text can be encoded to, too.
    #[new]
    #[pyo3(signature = (parts, engine, added_tokens=Vec::new(), mergeable=HashSet::new()))]
    fn new(
        parts: &Bound<'_, PyDict>,
        engine: Bound<'_, PyAny>,
        added_tokens: Vec<TokenRow>,
        mergeable: HashSet<u32>,
    ) -> PyResult<Self> {
        let value = |name: &str| -> PyResult<_> {
            match parts.get_item(name)? {
                Some(json) => Ok(json_value(&json.extract::<String>()?, name)?),
                None => Ok(serde_json::Value::Null),
            }
        };
        let parts = [value("normalizer")?, value("pre_tokenizer")?, value("decoder")?];
        let steps = FilePipeline::read(&parts, &Engines { engine })?;
        Ok(PyPipeline { steps: steps.with_tokens(added_tokens.into_iter().map(token), mergeable)? })
    }

    /// The same steps with more added tokens.
    fn with_tokens(&self, added_tokens: Vec<TokenRow>) -> PyResult<Self> {
        Ok(PyPipeline { steps: self.steps.clone().with_tokens(added_tokens.into_iter().map(token), [])? })
    }

    /// The added tokens.
    #[getter]
    fn added_tokens(&self) -> Vec<TokenRow> {
        let row = |AddedToken { id, content, flags, normalized }: &AddedToken| {
            (*id, content.clone(), flags.single_word, flags.lstrip, flags.rstrip, *normalized, flags.special)
        };
        self.steps.parts().added_tokens.iter().map(row).collect()
    }

    /// The names of the steps of the normalizer.
    #[getter]
    fn normalizer(&self) -> Vec<&'static str> {
        self.steps.normalizer().0.iter().map(NormalizeStep::name).collect()
    }

    /// How the file spells text: in "bytes", in "characters", or in characters with U+2581 for "spaces".
    #[getter]
    fn spelling(&self) -> &'static str {
        match self.steps.spelling() {
            TextSpelling::Bytes => "bytes",
            TextSpelling::Characters => "characters",
            TextSpelling::Spaces => "spaces",
        }
    }

    /// Whether ByteLevel puts a space before a text; None if the pre-tokenizer changes text otherwise before the stages.
    #[getter]
    fn has_prefix(&self) -> Option<bool> {
        self.steps.prefix().map(|prefix| prefix != Prefix::None)
    }

    /// Whether a pretoken begins at each space; None if the pre-tokenizer does more than that.
    #[getter]
    fn splits_at_spaces(&self) -> Option<bool> {
        self.steps.splits_at_spaces()
    }

    /// The one pattern that cuts all pretokens, in the dialect of `regex`, and whether unmatched text is kept.
    #[getter]
    fn pattern(&self) -> Option<(String, bool)> {
        self.steps.pattern().cloned()
    }

    /// The stages that cut a text into pretokens. Each is the kind of a matcher, its argument (None for a pattern of `regex`),
    /// a behavior and whether it is inverted.
    #[getter]
    fn stages<'py>(&self, py: Python<'py>) -> PyResult<Vec<StageRow<'py>>> {
        self.steps.stages().iter().map(|stage| row(py, stage)).collect()
    }

    /// What cuts a text into pretokens after all other steps.
    fn pretokenizer(&self) -> PyPretokenizer {
        PyPretokenizer { inner: self.steps.pretokenizer() }
    }

    /// Whether the vocabulary's own special tokens and a pretokenizer do all that these steps do.
    #[getter]
    fn is_plain(&self) -> PyResult<bool> {
        Ok(self.steps.is_plain()?)
    }

    /// The ids of the added tokens that a search for the vocabulary's special tokens does not find as these steps do.
    fn irregular(&self) -> PyResult<Vec<u32>> {
        Ok(self.steps.parts().irregular()?.iter().map(|token| token.id).collect())
    }

    /// The normalized text.
    fn normalize<'py>(&self, py: Python<'py>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
        let text = call::text(text)?;
        let changed = call::sized(py, text.len(), |_| self.steps.normalizer().normalized(text))?;
        objects::string(py, &changed)
    }

    /// The pretokens of a normalized text, each as the file spells it, with its place in characters.
    fn pre_tokenize(&self, text: &str) -> PyResult<Vec<(String, (usize, usize))>> {
        let pretokens = self.steps.pre_tokenized(text)?.into_iter();
        Ok(pretokens.map(|(pretoken, place)| (pretoken, (place.start, place.end))).collect())
    }

    /// The pieces of a text, normalized and with prefixes, for a training; cut into pretokens if no one pattern does that.
    fn pieces<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let is_cut = self.steps.pattern().is_none();
        let pieces = call::sized(py, text.len(), |_| self.steps.pieces(text, is_cut))?;
        let pieces = pieces.iter().map(|piece| objects::string(py, &String::from_utf8_lossy(piece)));
        objects::list_of(py, pieces)
    }

    /// The text that the decoder makes of tokens.
    fn decode<'py>(&self, py: Python<'py>, tokens: Vec<String>) -> PyResult<Bound<'py, PyString>> {
        objects::string(py, &self.steps.decoder().decode(tokens.iter().map(String::as_str))?)
    }
}

/// What runs the patterns of a file: a function of Python.
struct Engines<'py> {
    engine: Bound<'py, PyAny>,
}

impl Tables for Engines<'_> {
    fn matched(&self, source: &str) -> Result<Ranges> {
        PyTables(self.engine.py()).matched(source)
    }

    fn matched_among(&self, source: &str, among: &str) -> Result<Ranges> {
        PyTables(self.engine.py()).matched_among(source, among)
    }

    fn folded(&self, characters: &str) -> Result<Vec<String>> {
        PyTables(self.engine.py()).folded(characters)
    }
}

impl PatternEngines for Engines<'_> {
    fn engine(&self, Translation { pattern, nullable }: &Translation) -> Result<Matcher> {
        let py = self.engine.py();
        let engine = self.engine.call1((pattern, nullable)).map_err(|error| dialects::refused(py, error))?;
        Ok(match engine.cast::<PyCompiledPattern>() {
            Ok(compiled) => Matcher::Compiled(Arc::clone(&compiled.get().automaton)),
            Err(_) if *nullable => Matcher::Outside(Arc::new(Nullable::new(&engine))),
            Err(_) => Matcher::Outside(Arc::new(Regex::new(&engine))),
        })
    }
}

fn row<'py>(py: Python<'py>, stage: &SplitStage) -> PyResult<StageRow<'py>> {
    let text = |text: &str| objects::string(py, text).map(|text| Some(text.into_any()));
    let (kind, argument) = match &stage.matcher {
        Matcher::Literal(literal) => ("literal", text(&String::from_utf8_lossy(literal))?),
        Matcher::CharKind(kind) => ("kind", text(kind.name())?),
        Matcher::Words => ("words", None),
        Matcher::Scripts => ("scripts", None),
        Matcher::Length(length) => ("length", Some(objects::int(py, *length as u64)?)),
        Matcher::Named(named, _) => ("scanner", text(named.name())?),
        Matcher::Compiled(automaton) => {
            let compiled = PyCompiledPattern { automaton: Arc::clone(automaton) };
            ("pattern", Some(Bound::new(py, compiled)?.into_any()))
        }
        Matcher::Outside(_) => ("pattern", None),
    };
    Ok((kind, argument, stage.behavior.name(), stage.invert))
}

fn token((id, content, single_word, lstrip, rstrip, normalized, special): TokenRow) -> AddedToken {
    AddedToken { id, content, flags: Flags { single_word, lstrip, rstrip, special }, normalized }
}

/// The value of the JSON of a field of the file.
pub(super) fn json_value(json: &str, name: &str) -> Result<serde_json::Value> {
    serde_json::from_str(json)
        .map_err(|error| Error::BrokenPart(format!("$.{name}"), format!("not JSON: {error}")))
}
