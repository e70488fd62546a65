//! Patterns of other engines. What the installed `regex` knows is asked of `toksmith._internal.characters`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::objects::Any;
use super::{call, errors};
use crate::dialects::{self, Ranges, Tables, Translation, size};
use crate::error::{Error, Result};

/// The installed `regex` package, which takes the GIL when it is asked.
pub(super) struct PyTables;

/// Calls a function of a module of the package; a `ValueError` of it becomes an [`Error::Pattern`].
pub(super) fn asked<T>(module: &str, name: &str, call: impl FnOnce(Any) -> PyResult<T>) -> Result<T> {
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
        false => errors::raised(error),
    }
}

/// The parts that `regex` builds for a pattern, at most; a pattern with too many is refused.
#[pyfunction]
#[pyo3(signature = (pattern, flags=0))]
pub(super) fn check_pattern_size(pattern: &Bound<'_, PyString>, flags: u32) -> PyResult<u64> {
    // A lone surrogate counts as the characters that stand for it.
    let pattern = pattern.to_string_lossy();
    size::check(&pattern, flags)?;
    Ok(size::parts(&pattern, flags))
}

/// The pattern of `regex` that means what `pattern` means to fancy-regex.
#[pyfunction]
pub(super) fn from_fancy_regex(pattern: &Bound<'_, PyString>) -> PyResult<String> {
    Ok(dialects::from_fancy_regex(call::text(pattern)?)?)
}

/// The pattern of `regex` that means what `pattern` means to Oniguruma, and whether it may match the empty
/// text.
#[pyfunction]
pub(super) fn from_oniguruma(pattern: &Bound<'_, PyString>) -> PyResult<(String, bool)> {
    let Translation { pattern, nullable } = dialects::from_oniguruma(call::text(pattern)?, &PyTables)?;
    Ok((pattern, nullable))
}
