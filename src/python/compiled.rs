//! Patterns that the core runs without the `regex` package, and the kinds of characters, for programs in other languages
//! that cut text as the core does.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::dialects::PyTables;
use super::{call, ids};
use crate::dialects::RegexPattern;
use crate::pretokenize::CharKind;
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

    /// The class of every code point, as ranges of code points of the same class: tuples of the first code point of a
    /// range, and its class.
    fn classes_of_all(&self) -> Vec<(u32, Symbol)> {
        self.automaton.classes_of_all()
    }

    /// For each state, what it does at each class and at the end of the text: see `Automaton::transitions`.
    fn transitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        ids::to_list(py, &self.automaton.transitions())
    }
}

/// The kind of every code point, as ranges of code points of the same kind: tuples of the first code point of a
/// range, and its kind as a number. If `name` is "class", the kinds are the classes of the named patterns (see
/// `Class`). For any other name, the number is 1 for a character of that kind and 0 for any other.
#[pyfunction]
pub(super) fn character_kinds(name: &str) -> PyResult<Vec<(u32, u8)>> {
    let mut stretches: Vec<(u32, u8)> = Vec::new();
    let kind = match name {
        "class" => None,
        _ => Some(
            CharKind::from_name(name)
                .ok_or_else(|| PyValueError::new_err(format!("unknown kind of characters {name:?}")))?,
        ),
    };
    for code_point in 0..=u32::from(char::MAX) {
        let number = match kind {
            None => class_of(code_point) as u8,
            Some(kind) => char::from_u32(code_point).is_some_and(|character| kind.has(character)).into(),
        };
        if stretches.last().is_none_or(|&(_, last)| last != number) {
            stretches.push((code_point, number));
        }
    }
    Ok(stretches)
}
