//! NumPy arrays of results.
#![allow(unsafe_code)] // an array borrows the memory of its base

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::allocator;
use crate::encode::recycle;

/// Whether NumPy is imported, and all is made that the `numpy` crate makes at its first array.
static READY: AtomicBool = AtomicBool::new(false);

/// Imports NumPy, through a module of the package: no fork falls into the import of one (see
/// `toksmith.common.forks`), so no child finds NumPy or the crate's cells half made.
///
/// # Errors
/// What the first import of NumPy fails with: `KeyboardInterrupt`, for one. (The crate that makes arrays panics then.)
fn ready(py: Python<'_>) -> PyResult<()> {
    if !READY.load(Relaxed) {
        py.import("toksmith.numpy_arrays")?;
        READY.store(true, Relaxed);
    }
    Ok(())
}

/// Makes a first array of each kind. For `toksmith.numpy_arrays`, which has imported NumPy.
#[pyfunction]
pub(super) fn make_first_arrays(py: Python<'_>) -> PyResult<()> {
    vec![0_u16].into_pyarray(py);
    vec![0_i64].into_pyarray(py);
    borrowed(py, vec![0_u32]).map(drop)
}

/// The numbers as an array; they stay where they are.
///
/// # Errors
/// What the first import of NumPy fails with.
pub(super) fn array<T: Element>(py: Python<'_>, numbers: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    ready(py)?;
    allocator::leave_some_if_none();
    Ok(numbers.into_pyarray(py))
}

/// Arrays of so many ids borrow their memory from a [`IdMemory`].
const MIN_BORROWED_IDS: usize = 1 << 20;

/// The memory of an array of ids, to be used again once no array needs it.
#[pyclass(frozen, module = "toksmith._core")]
struct IdMemory(Vec<u32>);

impl Drop for IdMemory {
    fn drop(&mut self) {
        recycle(std::mem::take(&mut self.0));
    }
}

/// [`array()`] for the ids of a text.
///
/// # Errors
/// Same as [`array()`].
pub(super) fn ids(py: Python<'_>, ids: Vec<u32>) -> PyResult<Bound<'_, PyArray1<u32>>> {
    if ids.len() < MIN_BORROWED_IDS {
        return array(py, ids);
    }
    ready(py)?;
    borrowed(py, ids)
}

fn borrowed(py: Python<'_>, ids: Vec<u32>) -> PyResult<Bound<'_, PyArray1<u32>>> {
    allocator::leave_some_if_none();
    let memory = Bound::new(py, IdMemory(ids))?;
    let view = ArrayView1::from(&memory.get().0[..]);
    // SAFETY: the vector lives as long as `memory`, which is the base of the array; nobody else reads or writes it, and it
    // is never reallocated.
    Ok(unsafe { PyArray1::borrow_from_array(&view, memory.clone().into_any()) })
}
