//! The classes `Pretokenizer` and `CompiledPattern`: the core's scanners, automata, and patterns of `regex`;
//! and which of them runs the pattern of a file. What the installed `regex` knows is asked of
//! `toksmith._internal.characters`.

use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyIterator, PyString};

use super::errors::OrRaise;
use super::errors::raised;
use super::ids::IdList;
use super::objects::{Any, IntoObject, List, Made};
use super::{call, text};
use toksmith::dialects::{self, Ranges, RegexPattern, Tables, Translation, size};
use toksmith::error::{Error, Result};
use toksmith::pretokenize::class::{class_of, decode_char};
use toksmith::pretokenize::compiled::{Automaton, Symbol};
use toksmith::pretokenize::spellings::NAMES;
use toksmith::pretokenize::{self, CutRule, Isa, Matcher, Named, OnMatch, Pattern, Splitter, Unmatched};
use toksmith::tokenizer::SourcePattern;
use toksmith::tokenizer::parts::PatternEngines;

/// Finds pretokens in text.
#[pyclass(frozen, name = "Pretokenizer", module = "toksmith._core")]
pub(super) struct PyPretokenizer {
    pub(super) inner: SourcePattern,
}

impl PyPretokenizer {
    /// The pattern as `toksmith.patterns` has it: text, flags, name, `unmatched`, Unicode version, whether
    /// the text names stages, and what runs it.
    pub(super) fn row<'py>(
        py: Python<'py>,
        pattern: &SourcePattern,
        has_stages: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let unmatched = pattern.pretokenizer.unmatched.name();
        let core = Bound::new(py, PyPretokenizer { inner: pattern.clone() })?;
        let row =
            (&pattern.source, pattern.flags, pattern.name(), unmatched, &pattern.unicode, has_stages, core);
        Ok(row.into_pyobject(py)?.into_any())
    }

    /// A pretokenizer without a text.
    pub(super) fn of(pretokenizer: pretokenize::Pretokenizer) -> Self {
        PyPretokenizer { inner: SourcePattern { source: None, flags: 0, unicode: None, pretokenizer } }
    }
}

#[pymethods]
impl PyPretokenizer {
    /// `pattern` is None, the name of a scanner, a `CompiledPattern`, or a compiled `regex` pattern. `isa` is
    /// the instruction set of a scanner, for tests; by default the best of the machine. `source`, `flags` and
    /// `unicode` are what files have for the pattern.
    #[new]
    #[pyo3(signature = (pattern, unmatched="keep", isa=None, *, source=None, flags=0, unicode=None))]
    fn new(
        pattern: Bound<'_, PyAny>,
        unmatched: &str,
        isa: Option<&str>,
        source: Option<String>,
        flags: u32,
        unicode: Option<String>,
    ) -> PyResult<Self> {
        let pattern = if pattern.is_none() {
            Pattern::Whole
        } else if let Ok(name) = pattern.extract::<String>() {
            let (named, isa) = scanner(&name, isa)?;
            Pattern::Named(named, isa)
        } else if let Ok(compiled) = pattern.cast::<PyCompiledPattern>() {
            Pattern::Compiled(Arc::clone(&compiled.get().automaton))
        } else {
            Pattern::Custom(Arc::new(Regex { spans: pattern.unbind(), is_nullable: false }), CutRule::Never)
        };
        let unmatched = Unmatched::from_name(unmatched).ok_or_else(|| {
            PyValueError::new_err(format!("unmatched is \"keep\" or \"drop\", not {unmatched:?}"))
        })?;
        let pretokenizer = pretokenize::Pretokenizer { pattern, unmatched };
        Ok(PyPretokenizer { inner: SourcePattern { source, flags, unicode, pretokenizer } })
    }

    /// The names of the instruction sets that this machine has and the core supports, best first.
    #[staticmethod]
    fn instruction_sets() -> Vec<&'static str> {
        Isa::available().map(Isa::name).collect()
    }

    /// The starts and ends of the pretokens of a text without special tokens, in bytes.
    fn ranges(&self, text: &[u8]) -> PyResult<Vec<(usize, usize)>> {
        let ranges = self.inner.pretokenizer.ranges(text).or_raise()?;
        Ok(ranges.into_iter().map(|range| (range.start, range.end)).collect())
    }

    /// The places where cutting a text does not change its pretokens, in bytes.
    fn cuts(&self, text: &[u8]) -> Vec<usize> {
        let rule = self.inner.pretokenizer.cut_rule();
        (0..=text.len()).filter(|&at| rule.is_cut(text, at)).collect()
    }

    /// The end of the part of a text whose pretokens cannot be changed by text that follows, in bytes.
    fn settled_end(&self, text: &[u8]) -> usize {
        self.inner.pretokenizer.cut_rule().settled_end(text)
    }

    /// The pretokens of a text without special tokens.
    fn split<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        List(self.inner.pretokenizer.ranges(text).or_raise()?.into_iter().map(|range| &text[range]))
            .object(py)
    }
}

impl PatternEngines for PyTables {
    fn engine(&self, Translation { pattern, nullable }: &Translation) -> Result<Matcher> {
        asked("toksmith.patterns", "engine_of", |engine_of| {
            let engine = engine_of.call1((pattern, nullable))?;
            Ok(match engine.cast::<PyCompiledPattern>() {
                Ok(compiled) => Matcher::Pattern(Pattern::Compiled(Arc::clone(&compiled.get().automaton))),
                Err(_) => {
                    Matcher::Outside(Arc::new(Regex { spans: engine.unbind(), is_nullable: *nullable }))
                }
            })
        })
    }

    fn pattern(&self, source: &str, flags: u32, unmatched: Unmatched) -> Result<SourcePattern> {
        asked("toksmith.patterns", "of_source", |of_source| {
            let core = of_source.call1((source, flags, unmatched.name()))?.call_method0("core")?;
            Ok(core.cast::<PyPretokenizer>()?.get().inner.clone())
        })
    }

    fn unicode(&self) -> Result<String> {
        asked("toksmith.patterns", "installed_unicode", |installed| installed.call0()?.extract())
    }

    fn tokenizer_class(&self, model_type: &str) -> Option<String> {
        let class = asked("toksmith._internal.characters", "tokenizer_class", |class| {
            class.call1((model_type,))?.extract()
        });
        class.unwrap_or_default()
    }
}

/// The scanner of a name, with the instruction set that it uses.
fn scanner(name: &str, isa: Option<&str>) -> PyResult<(Named, Isa)> {
    let named =
        Named::of(name, &NAMES).ok_or_else(|| PyValueError::new_err(format!("unknown scanner {name:?}")))?;
    let isa = isa.map_or(Some(Isa::best()), Isa::from_name);
    let isa = isa.ok_or_else(|| PyValueError::new_err("this machine does not have that instruction set"))?;
    Ok((named, isa))
}

/// Matches between two checks of the clock; less than a millisecond.
const MATCHES_PER_CHECK: usize = 1 << 9;

/// A pattern that Python searches for.
struct Regex {
    /// A function that makes an iterator of the spans of all matches in a `str`, in characters.
    spans: Py<PyAny>,
    /// Whether empty matches count.
    is_nullable: bool,
}

impl Splitter for Regex {
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()> {
        let (mut bytes, mut characters) = (0, 0);
        // Converts places, which ascend, from characters to bytes.
        let mut bytes_at = |character: usize| {
            while characters < character {
                bytes += decode_char(text, bytes).1;
                characters += 1;
            }
            bytes
        };
        let mut split = |py: Python<'_>| -> Result<()> {
            let mut yielder = call::GilYielder::default();
            for (count, span) in self.spans(py, text).map_err(raised)?.enumerate() {
                if count % MATCHES_PER_CHECK == MATCHES_PER_CHECK - 1 {
                    yielder.tick(py).map_err(raised)?;
                }
                let (start, end) = span.and_then(|span| span.extract()).map_err(raised)?;
                if start == end && !self.is_nullable {
                    continue;
                }
                if !on_match(Range { start: bytes_at(start), end: bytes_at(end) })? {
                    break;
                }
            }
            Ok(())
        };
        call::attached(|py| Ok(split(py)))?
    }
}

impl Regex {
    /// The spans of the matches in a text. Its invalid bytes become lone surrogates, which the pattern sees
    /// as characters of no class.
    fn spans<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyIterator>> {
        self.spans.bind(py).call1((text::decoded(py, text, c"surrogateescape")?,))?.try_iter()
    }
}

/// A pattern as an automaton.
#[pyclass(frozen, name = "CompiledPattern", module = "toksmith._core")]
pub(super) struct PyCompiledPattern {
    automaton: Arc<Automaton>,
}

#[pymethods]
impl PyCompiledPattern {
    /// `flags` are those of the pattern that `regex` has compiled.
    #[new]
    fn new(py: Python<'_>, pattern: &Bound<'_, PyString>, flags: u32) -> PyResult<Self> {
        let pattern = RegexPattern::read(call::text(pattern)?, flags, &PyTables).or_raise()?;
        Ok(PyCompiledPattern { automaton: py.detach(|| pattern.compile()).or_raise()? })
    }

    #[getter]
    fn states(&self) -> usize {
        self.automaton.states()
    }

    /// Whether the automaton is small enough to run as a bimachine, which reads text faster.
    #[getter]
    fn is_bimachine(&self) -> bool {
        self.automaton.is_bimachine()
    }

    #[getter]
    fn classes(&self) -> usize {
        self.automaton.classes()
    }

    /// The class of every code point, as ranges of code points of the same class: tuples of the first code
    /// point of a range, and its class.
    fn classes_of_all(&self) -> Vec<(u32, Symbol)> {
        self.automaton.classes_of_all()
    }

    /// For each state, what it does at each class and at the end of the text: see `Automaton::transitions`.
    fn transitions(&self) -> Made<IdList> {
        Made(IdList(self.automaton.transitions()))
    }
}

/// The class of the named patterns of every code point (see `Class`), as those of
/// `CompiledPattern.classes_of_all`.
#[pyfunction]
pub(super) fn character_classes() -> Vec<(u32, u8)> {
    let mut ranges: Vec<(u32, u8)> =
        (0..=char::MAX.into()).map(|code_point| (code_point, class_of(code_point) as u8)).collect();
    ranges.dedup_by_key(|&mut (_, class)| class);
    ranges
}

/// The installed `regex` package, which takes the GIL when it is asked.
pub(super) struct PyTables;

/// Calls a function of a module of the package; a `ValueError` of it becomes an [`Error::Pattern`].
fn asked<T>(module: &str, name: &str, call: impl FnOnce(Any) -> PyResult<T>) -> Result<T> {
    call::attached(|py| {
        let function = py.import(module)?.getattr(name)?;
        Ok(call(&function).map_err(|error| refused(py, error)))
    })?
}

fn ranges(source: &str, among: Option<&str>) -> Result<Ranges> {
    let ask = |matched: Any| matched.call1((source, among))?.extract();
    let spans: Vec<(u32, u32)> = asked("toksmith._internal.characters", "matched", ask)?;
    Ok(spans.into_iter().map(|(start, end)| start..end).collect())
}

impl Tables for PyTables {
    fn matched(&self, source: &str) -> Result<Ranges> {
        ranges(source, None)
    }

    fn matched_among(&self, source: &str, among: &str) -> Result<Ranges> {
        ranges(source, Some(among))
    }
}

/// The error of a pattern that a function of Python refuses with a `ValueError`.
fn refused(py: Python<'_>, error: PyErr) -> Error {
    match error.is_instance_of::<PyValueError>(py) {
        true => Error::Pattern(error.value(py).to_string()),
        false => raised(error),
    }
}

/// The parts that `regex` builds for a pattern, at most; a pattern with too many is refused.
#[pyfunction]
#[pyo3(signature = (pattern, flags=0))]
pub(super) fn check_pattern_size(pattern: &Bound<'_, PyString>, flags: u32) -> PyResult<u64> {
    // A lone surrogate counts as the characters that stand for it.
    let pattern = pattern.to_string_lossy();
    size::check(&pattern, flags).or_raise()?;
    Ok(size::parts(&pattern, flags))
}

/// The pattern of `regex` that means what `pattern` means to fancy-regex.
#[pyfunction]
pub(super) fn from_fancy_regex(pattern: &Bound<'_, PyString>) -> PyResult<String> {
    dialects::from_fancy_regex(call::text(pattern)?).or_raise()
}

/// The pattern of `regex` that means what `pattern` means to Oniguruma, and whether it may match the empty
/// text.
#[pyfunction]
pub(super) fn from_oniguruma(pattern: &Bound<'_, PyString>) -> PyResult<(String, bool)> {
    let Translation { pattern, nullable } =
        dialects::from_oniguruma(call::text(pattern)?, &PyTables).or_raise()?;
    Ok((pattern, nullable))
}
