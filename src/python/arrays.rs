//! NumPy arrays of results.

use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Whether NumPy is imported.
static READY: PyOnceLock<()> = PyOnceLock::new();

/// The numbers as an array; they stay where they are.
///
/// # Errors
/// What the first import of NumPy fails with: `KeyboardInterrupt`, for one. (The crate that makes arrays panics then.)
pub(super) fn array<T: Element>(py: Python<'_>, numbers: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    READY.get_or_try_init(py, || py.import("numpy").map(drop))?;
    Ok(numbers.into_pyarray(py))
}
