//! The class `CompiledPattern`: a pattern that the core runs without the `regex` package.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::dialects::PyTables;
use super::{call, characters, objects};
use crate::dialects::Steps;
use crate::pretokenize::compiled::Automaton;

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
        let steps = Steps::read(call::text(pattern)?, flags, &PyTables)?;
        Ok(PyCompiledPattern { automaton: py.detach(|| steps.compile())? })
    }

    /// How many states the automaton has.
    #[getter]
    fn states(&self) -> usize {
        self.automaton.states()
    }

    /// Whether the automaton is small enough to run as a bimachine, which reads text faster.
    #[getter]
    fn is_bimachine(&self) -> bool {
        self.automaton.is_bimachine()
    }

    /// How many classes of characters the pattern distinguishes.
    #[getter]
    fn classes(&self) -> usize {
        self.automaton.classes()
    }

    /// The class of every code point, as ranges of code points of the same class: tuples of the first code point of a
    /// range, and its class.
    fn classes_of_all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        characters::stretches_list(py, self.automaton.classes_of_all())
    }

    /// For each state, what it does at each class and at the end of the text: see `Automaton::transitions`.
    fn transitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let int = |transition| objects::int(py, u64::from(transition));
        objects::list_of(py, self.automaton.transitions().into_iter().map(int))
    }
}
