//! The class `CompiledPattern`: a pattern that the core runs without the `regex` package.

use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::{characters, objects};
use crate::pretokenize::compiled::{self, Alphabet, Automaton, Expression, Repeat};

/// The maximum depth of nested groups: writing a program and freeing a tree need stack for each level.
const MAX_DEPTH: usize = 200;

/// A pattern as an automaton.
#[pyclass(frozen, name = "CompiledPattern", module = "toksmith._core")]
pub(super) struct PyCompiledPattern {
    pub(super) automaton: Arc<Automaton>,
}

#[pymethods]
impl PyCompiledPattern {
    /// `sets` are ranges of code points; the set with the number `newline` contains only the newline. `steps` is the
    /// pattern in postfix order: each step is a name and two numbers. "set" (the number of a set), "end" and
    /// "line_end" take no part before them. "sequence" and "alternatives" (the number of parts) join the parts before
    /// them. "greedy", "lazy" and "possessive" (the minimum and the maximum, -1 for no maximum), "atomic", "ahead"
    /// and "not_ahead" apply to the one part before them.
    #[new]
    fn new(
        py: Python<'_>,
        sets: Vec<Vec<(u32, u32)>>,
        steps: Vec<(String, i64, i64)>,
        newline: usize,
    ) -> PyResult<Self> {
        py.detach(|| {
            let ranges = |set: Vec<(u32, u32)>| set.into_iter().map(|(start, end)| start..end).collect();
            let sets: Vec<Vec<Range<u32>>> = sets.into_iter().map(ranges).collect();
            let compile = || {
                let alphabet = Alphabet::new(&sets).map_err(|reason| reason.to_string())?;
                let expression = expression(&steps, &alphabet)?;
                compiled::compile(&expression, alphabet, newline).map_err(|reason| reason.to_string())
            };
            Ok(PyCompiledPattern { automaton: compile().map_err(PyValueError::new_err)? })
        })
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

/// A part of a pattern, and how deep it is nested.
type Part = (Expression, usize);

/// Builds the pattern from steps in postfix order.
fn expression(steps: &[(String, i64, i64)], alphabet: &Alphabet) -> Result<Expression, String> {
    let mut parts: Vec<Part> = Vec::new();
    for (name, first, second) in steps {
        let part = step(name, *first, *second, &mut parts, alphabet)?;
        if part.1 > MAX_DEPTH {
            return Err(format!("groups nested deeper than {MAX_DEPTH}"));
        }
        parts.push(part);
    }
    match parts.pop() {
        Some((expression, _)) if parts.is_empty() => Ok(expression),
        _ => Err("steps that do not build one pattern".into()),
    }
}

fn step(
    name: &str,
    first: i64,
    second: i64,
    parts: &mut Vec<Part>,
    alphabet: &Alphabet,
) -> Result<Part, String> {
    let number = usize::try_from(first).unwrap_or(0);
    match name {
        "set" => Ok((Expression::Set(alphabet.set(number).ok_or("no set of this number")?), 1)),
        "end" => Ok((Expression::End, 1)),
        "line_end" => Ok((Expression::LineEnd, 1)),
        "sequence" => joined(number, parts, Expression::Sequence),
        "alternatives" => joined(number, parts, Expression::Alternatives),
        _ => {
            let (inner, depth) = parts.pop().ok_or("a step without a part")?;
            let inner = Box::new(inner);
            let repeated = |inner, kind| Expression::Repeated {
                inner,
                min: u32::try_from(first).unwrap_or(u32::MAX),
                max: u32::try_from(second).ok(),
                kind,
            };
            let outer = match name {
                "greedy" => repeated(inner, Repeat::Greedy),
                "lazy" => repeated(inner, Repeat::Lazy),
                "possessive" => repeated(inner, Repeat::Possessive),
                "atomic" => Expression::Atomic(inner),
                "ahead" => Expression::LookAhead { inner, negated: false },
                "not_ahead" => Expression::LookAhead { inner, negated: true },
                _ => return Err(format!("no step {name:?}")),
            };
            Ok((outer, depth + 1))
        }
    }
}

/// Joins the last `count` parts.
fn joined(
    count: usize,
    parts: &mut Vec<Part>,
    join: impl Fn(Vec<Expression>) -> Expression,
) -> Result<Part, String> {
    let first = parts.len().checked_sub(count).ok_or("a step without its parts")?;
    let depth = parts[first..].iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    Ok((join(parts.drain(first..).map(|(part, _)| part).collect()), depth + 1))
}
