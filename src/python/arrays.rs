//! NumPy arrays of results.
#![allow(unsafe_code)] // an array borrows the memory of its base

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::encode::let_go;

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

/// Arrays of so many ids borrow their memory from a [`Memory`].
const MANY: usize = 1 << 20;

/// The memory of an array of ids, to be used again once no array needs it.
#[pyclass(frozen, module = "toksmith._core")]
struct Memory(Vec<u32>);

impl Drop for Memory {
    fn drop(&mut self) {
        let_go(std::mem::take(&mut self.0));
    }
}

/// [`array`] for the ids of a text.
///
/// # Errors
/// As [`array`].
pub(super) fn ids(py: Python<'_>, ids: Vec<u32>) -> PyResult<Bound<'_, PyArray1<u32>>> {
    if ids.len() < MANY {
        return array(py, ids);
    }
    READY.get_or_try_init(py, || py.import("numpy").map(drop))?;
    let memory = Bound::new(py, Memory(ids))?;
    let view = ArrayView1::from(&memory.get().0[..]);
    // SAFETY: the vector lives as long as `memory`, which is the base of the array; nobody else reads or writes it, and it
    // is never reallocated.
    Ok(unsafe { PyArray1::borrow_from_array(&view, memory.clone().into_any()) })
}
