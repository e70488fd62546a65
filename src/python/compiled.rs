//! Patterns that the core runs without the `regex` package, and the kinds of characters, for programs in
//! other languages that cut text as the core does.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::call;
use super::dialects::PyTables;
use super::ids::IdList;
use super::objects::Made;
use crate::dialects::RegexPattern;
use crate::pretokenize::class::class_of;
use crate::pretokenize::compiled::{Automaton, Symbol};

/// A pattern as an automaton.
#[pyclass(frozen, name = "CompiledPattern", module = "toksmith._core")]
pub(super) struct PyCompiledPattern {
    pub(super) automaton: Arc<Automaton>,
}

#[pymethods]
impl PyCompiledPattern {
    /// `flags` are those of the pattern that `regex` has compiled.
    #[new]
    fn new(py: Python<'_>, pattern: &Bound<'_, PyString>, flags: u32) -> PyResult<Self> {
        let pattern = RegexPattern::read(call::text(pattern)?, flags, &PyTables)?;
        Ok(PyCompiledPattern { automaton: py.detach(|| pattern.compile())? })
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
