//! The class `Pretokenizer`: the core's scanners, patterns of `regex`, and stages of both.

use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyList};

use super::compiled::PyCompiledPattern;
use super::objects;
use super::regex::{self, Regex};
use crate::pretokenize::{
    self, Behavior, CharKind, CutRule, Isa, Junctions, Matcher, Named, Pattern, SplitStage, SplitStages,
    Unmatched,
};
use crate::room;

/// Finds pretokens in text.
#[pyclass(frozen, name = "Pretokenizer", module = "toksmith._core")]
pub(super) struct PyPretokenizer {
    pub(super) inner: pretokenize::Pretokenizer,
}

#[pymethods]
impl PyPretokenizer {
    /// `pattern` is None, the name of a scanner, a `CompiledPattern`, or a compiled `regex` pattern; `cut_rule`
    /// applies only to the last.
    /// `isa` is the instruction set of a scanner, for tests; by default the best of the machine.
    #[new]
    #[pyo3(signature = (pattern, cut_rule="never", unmatched="keep", isa=None))]
    fn new(pattern: Bound<'_, PyAny>, cut_rule: &str, unmatched: &str, isa: Option<&str>) -> PyResult<Self> {
        let pattern = if pattern.is_none() {
            Pattern::Whole
        } else if let Ok(name) = pattern.extract::<String>() {
            scanner(&name, isa)?
        } else if let Ok(compiled) = pattern.cast::<PyCompiledPattern>() {
            Pattern::Compiled(Arc::clone(&compiled.get().automaton))
        } else {
            Pattern::Custom(Arc::new(Regex::new(&pattern)), rule(cut_rule)?)
        };
        let unmatched = match unmatched {
            "keep" => Unmatched::Keep,
            "drop" => Unmatched::Drop,
            other => {
                return Err(PyValueError::new_err(format!(
                    "unmatched is \"keep\" or \"drop\", not {other:?}"
                )));
            }
        };
        Ok(PyPretokenizer { inner: pretokenize::Pretokenizer { pattern, unmatched } })
    }

    /// A pretokenizer for a vocabulary of characters, which cuts nowhere, or before each space.
    #[staticmethod]
    fn of_spaces(before_spaces: bool) -> Self {
        let pattern = Pattern::Junctions(Arc::new(Junctions::new(before_spaces)));
        PyPretokenizer { inner: pretokenize::Pretokenizer { pattern, unmatched: Unmatched::Keep } }
    }

    /// A pretokenizer of several stages. Each stage is a tuple of the kind and the argument of a matcher (see
    /// `matcher`), the name of a behavior and whether to invert it.
    #[staticmethod]
    fn of_stages(stages: Vec<(String, Bound<'_, PyAny>, String, bool)>) -> PyResult<Self> {
        let stage = |(kind, argument, name, invert): (String, Bound<'_, PyAny>, String, bool)| {
            Ok(SplitStage { matcher: matcher(&kind, &argument)?, behavior: behavior(&name)?, invert })
        };
        let stages = SplitStages(stages.into_iter().map(stage).collect::<PyResult<_>>()?);
        let pattern = Pattern::Custom(Arc::new(stages), CutRule::Never);
        Ok(PyPretokenizer { inner: pretokenize::Pretokenizer { pattern, unmatched: Unmatched::Drop } })
    }

    /// The names of the instruction sets that this machine has and the core supports, best first.
    #[staticmethod]
    fn instruction_sets() -> Vec<&'static str> {
        Isa::available().map(Isa::name).collect()
    }

    /// The ends of the pretokens of a text without special tokens, in bytes.
    fn ends<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let mut ends = Vec::new();
        self.inner.for_each(text, |range| room::push(&mut ends, range.end))?;
        objects::list_of(py, ends.into_iter().map(|end| objects::int(py, end as u64)))
    }

    /// The starts and ends of the pretokens of a text without special tokens, in bytes.
    fn ranges<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let mut ranges = Vec::new();
        self.inner.for_each(text, |range| room::push(&mut ranges, range))?;
        let int = |place| objects::int(py, place as u64);
        let pair = |range: Range<usize>| objects::tuple(py, [int(range.start)?, int(range.end)?]);
        objects::list_of(py, ranges.into_iter().map(pair))
    }

    /// The places where cutting a text does not change its pretokens, in bytes.
    fn cuts<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let rule = self.inner.cut_rule();
        let cuts = (0..=text.len()).filter(|&at| rule.is_cut(text, at));
        objects::list_of(py, cuts.map(|at| objects::int(py, at as u64)))
    }

    /// The end of the part of a text whose pretokens cannot be changed by text that follows, in bytes.
    fn settled_end(&self, text: &[u8]) -> usize {
        self.inner.cut_rule().settled_end(text)
    }

    /// The pretokens of a text without special tokens.
    fn split<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let mut pieces = Vec::new();
        self.inner.for_each(text, |range| room::push(&mut pieces, range))?;
        objects::list_of(py, pieces.into_iter().map(|range| objects::bytes(py, &text[range])))
    }
}

fn scanner(name: &str, isa: Option<&str>) -> PyResult<Pattern> {
    let named = Named::from_name(name)
        .ok_or_else(|| PyValueError::new_err(format!("no scanner has the name {name:?}")))?;
    let isa = isa.map_or(Some(Isa::best()), Isa::from_name);
    let isa = isa.ok_or_else(|| PyValueError::new_err("this machine does not have that instruction set"))?;
    Ok(Pattern::Named(named, isa))
}

fn rule(name: &str) -> PyResult<CutRule> {
    match name {
        "never" => Ok(CutRule::Never),
        "gpt2" => Ok(CutRule::Gpt2),
        "cl100k" => Ok(CutRule::Cl100k),
        "o200k" => Ok(CutRule::O200k),
        other => Err(PyValueError::new_err(format!("no cut rule has the name {other:?}"))),
    }
}

/// A matcher by kind and argument: "literal" and a text, "kind" and the name of a class of characters,
/// "words" and an empty text, "length" and a number of characters,
/// "scanner" and its name, "pattern" and a `CompiledPattern`, "pattern" or "nullable" and a compiled `regex` pattern.
pub(super) fn matcher(kind: &str, argument: &Bound<'_, PyAny>) -> PyResult<Matcher> {
    if let ("pattern", Ok(compiled)) = (kind, argument.cast::<PyCompiledPattern>()) {
        return Ok(Matcher::Compiled(Arc::clone(&compiled.get().automaton)));
    }
    match kind {
        "pattern" => return Ok(Matcher::Outside(Arc::new(Regex::new(argument)))),
        "nullable" => return Ok(Matcher::Outside(Arc::new(regex::Nullable::new(argument)))),
        _ => (),
    }
    let name: String = argument.extract()?;
    match (kind, name.as_str()) {
        ("literal", "") => Err(PyValueError::new_err("an empty text is found everywhere")),
        ("literal", _) => Ok(Matcher::Literal(name.into_bytes())),
        ("kind", _) => CharKind::from_name(&name)
            .map(Matcher::CharKind)
            .ok_or_else(|| PyValueError::new_err(format!("no kind of characters has the name {name:?}"))),
        ("words", _) => Ok(Matcher::Words),
        ("length", _) => match name.parse() {
            Ok(length @ 1..) => Ok(Matcher::Length(length)),
            _ => Err(PyValueError::new_err(format!("{name:?} is no number of characters"))),
        },
        ("scanner", _) => match scanner(&name, None)? {
            Pattern::Named(named, isa) => Ok(Matcher::Named(named, isa)),
            _ => Err(PyValueError::new_err(format!("no scanner has the name {name:?}"))),
        },
        _ => Err(PyValueError::new_err(format!("nothing finds {kind:?} {name:?}"))),
    }
}

fn behavior(name: &str) -> PyResult<Behavior> {
    match name {
        "Removed" => Ok(Behavior::Removed),
        "Isolated" => Ok(Behavior::Isolated),
        "MergedWithPrevious" => Ok(Behavior::MergedWithPrevious),
        "MergedWithNext" => Ok(Behavior::MergedWithNext),
        "Contiguous" => Ok(Behavior::Contiguous),
        other => Err(PyValueError::new_err(format!("no behavior has the name {other:?}"))),
    }
}
