//! The kinds of characters that the core distinguishes, for programs in other languages that cut text as the core
//! does.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::objects;
use crate::pretokenize::CharKind;
use crate::pretokenize::class::class_of;

/// The kind of every code point, as ranges of code points of the same kind: tuples of the first code point of a
/// range, and its kind as a number. If `name` is "class", the kinds are the classes of the named patterns (see
/// `Class`). For any other name, the number is 1 for a character of that kind and 0 for any other.
#[pyfunction]
pub(super) fn character_kinds<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
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
    stretches_list(py, stretches)
}

/// A list of tuples of two numbers.
pub(super) fn stretches_list(py: Python<'_>, stretches: Vec<(u32, u8)>) -> PyResult<Bound<'_, PyList>> {
    let int = |number: u32| objects::int(py, u64::from(number));
    objects::list_of(
        py,
        stretches.into_iter().map(|(first, number)| objects::tuple(py, [int(first)?, int(number.into())?])),
    )
}
