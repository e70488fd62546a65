//! NumPy arrays of results.
#![allow(unsafe_code)] // arrays borrow the memory of their base object

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::allocator;
use crate::encode::recycle;

/// Whether NumPy is imported and the `numpy` crate has made the objects that it caches at its first array.
static READY: AtomicBool = AtomicBool::new(false);

/// Imports NumPy through a module of the package, which prevents forks during the import (see
/// `toksmith._internal.forks`). So no forked child finds NumPy, or the cells of the crate, half made. Where NumPy is
/// imported already, the GIL is not released meanwhile, so nothing forks, and the import of the module is not needed:
/// that would be most of the time of a first call.
///
/// # Errors
/// Errors of the first import of NumPy, such as `KeyboardInterrupt`. (The crate would panic instead.)
fn ready(py: Python<'_>) -> PyResult<()> {
    if !READY.load(Relaxed) {
        if numpy_is_imported(py) {
            make_first_arrays(py)?;
        } else {
            py.import("toksmith._internal.numpy_arrays")?;
        }
        READY.store(true, Relaxed);
    }
    Ok(())
}

/// Whether NumPy was imported to its end, by the mark that Python's own import system looks at.
fn numpy_is_imported(py: Python<'_>) -> bool {
    let initializing = || {
        let modules = py.import("sys")?.getattr("modules")?;
        modules.get_item("numpy")?.getattr("__spec__")?.getattr("_initializing")?.is_truthy()
    };
    initializing().is_ok_and(|initializing: bool| !initializing)
}

/// Makes a first array of each kind. Called by `toksmith._internal.numpy_arrays` after it has imported NumPy.
#[pyfunction]
pub(super) fn make_first_arrays(py: Python<'_>) -> PyResult<()> {
    vec![0_u16].into_pyarray(py);
    vec![0_i64].into_pyarray(py);
    borrowed(py, vec![0_u32]).map(drop)
}

/// Makes an array of the numbers without copying them.
///
/// # Errors
/// Errors of the first import of NumPy.
pub(super) fn array<T: Element>(py: Python<'_>, numbers: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    ready(py)?;
    allocator::leave_some_if_none();
    Ok(numbers.into_pyarray(py))
}

/// From this number of ids on, an array borrows its memory from an [`IdMemory`]: 4 MB. Reusing such memory saves the
/// system from clearing its pages again; code took 41 ms instead of 53.
const MIN_BORROWED_IDS: usize = 1 << 20;

/// The memory of an array of ids. When no array uses it any more, it is kept for the next large result.
#[pyclass(frozen, module = "toksmith._core")]
struct IdMemory(Vec<u32>);

impl Drop for IdMemory {
    fn drop(&mut self) {
        recycle(std::mem::take(&mut self.0));
    }
}

/// [`array()`] of the ids of a text.
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

/// An array that borrows the memory of a new [`IdMemory`].
fn borrowed(py: Python<'_>, ids: Vec<u32>) -> PyResult<Bound<'_, PyArray1<u32>>> {
    allocator::leave_some_if_none();
    let memory = Bound::new(py, IdMemory(ids))?;
    let view = ArrayView1::from(&memory.get().0[..]);
    // SAFETY: the vector lives as long as `memory`, which the array holds as its base. Nothing else reads or
    // writes it, and it is never reallocated.
    Ok(unsafe { PyArray1::borrow_from_array(&view, memory.clone().into_any()) })
}
