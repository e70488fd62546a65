//! NumPy arrays of results.
#![allow(unsafe_code)] // arrays borrow the memory of their base object

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::{allocator, ids as lists};
use crate::encode::{IdView, recycle};

/// A list of ids, and their spans, one in each row.
pub(super) type WithSpans<'py> = (Bound<'py, PyList>, Bound<'py, PyArray2<i64>>);

static NUMPY_IS_IMPORTED: AtomicBool = AtomicBool::new(false);

/// Imports NumPy. The `numpy` crate would do so at its first array, but panic where the import fails; and other threads,
/// or a child of `fork`, would wait for the cell in which the crate keeps NumPy's functions.
fn import_numpy(py: Python<'_>) -> PyResult<()> {
    if !NUMPY_IS_IMPORTED.load(Relaxed) {
        py.import("numpy")?;
        NUMPY_IS_IMPORTED.store(true, Relaxed);
    }
    Ok(())
}

/// Makes an array of the numbers without copying them.
pub(super) fn array<T: Element>(py: Python<'_>, numbers: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    import_numpy(py)?;
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
pub(super) fn ids(py: Python<'_>, ids: Vec<u32>) -> PyResult<Bound<'_, PyArray1<u32>>> {
    if ids.len() < MIN_BORROWED_IDS {
        return array(py, ids);
    }
    import_numpy(py)?;
    allocator::leave_some_if_none();
    let memory = Bound::new(py, IdMemory(ids))?;
    let view = ArrayView1::from(&memory.get().0[..]);
    // SAFETY: the vector lives as long as `memory`, which the array holds as its base. Nothing else reads or
    // writes it, and it is never reallocated.
    Ok(unsafe { PyArray1::borrow_from_array(&view, memory.clone().into_any()) })
}

/// Ids with their spans.
pub(super) fn with_spans(py: Python<'_>, (ids, spans): (Vec<u32>, Vec<i64>)) -> PyResult<WithSpans<'_>> {
    let spans = array(py, spans)?.reshape([ids.len(), 2])?;
    Ok((lists::to_list(py, &ids)?, spans))
}

/// The memory of the ids of a document, which an array borrows.
#[pyclass(frozen, module = "toksmith._core")]
struct SharedIdMemory(IdView);

/// A read-only array of the first `count` ids in the memory of a document, which are not copied.
pub(super) fn shared(py: Python<'_>, ids: IdView, count: usize) -> PyResult<Bound<'_, PyArray1<u32>>> {
    import_numpy(py)?;
    let memory = Bound::new(py, SharedIdMemory(ids))?;
    let ids = &memory.get().0[..count];
    // SAFETY: an `AtomicU32` has the layout of a `u32`. The first `count` ids are not written any more while the memory
    // has another owner than the document; see `SharedIds`.
    let view = ArrayView1::from(unsafe { std::slice::from_raw_parts(ids.as_ptr().cast::<u32>(), count) });
    // SAFETY: the memory lives as long as `memory`, which the array holds as its base, and is never reallocated. The array
    // is made read-only before others see it.
    let array = unsafe { PyArray1::borrow_from_array(&view, memory.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}
