//! NumPy arrays of results.
#![allow(unsafe_code)] // arrays borrow the memory of their base object

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use super::allocator;
use super::objects::IntoObject;
use toksmith::encode::{IdView, recycle};

static NUMPY_IS_IMPORTED: AtomicBool = AtomicBool::new(false);

/// Imports NumPy. The `numpy` crate would do so at its first array, but panic where the import fails; and
/// other threads, or a child of `fork`, would wait for the cell in which the crate keeps NumPy's functions.
fn import_numpy(py: Python<'_>) -> PyResult<()> {
    if !NUMPY_IS_IMPORTED.load(Relaxed) {
        py.import("numpy")?;
        NUMPY_IS_IMPORTED.store(true, Relaxed);
    }
    Ok(())
}

/// Makes an array if the program has imported NumPy: the first one takes 0.4 ms, since the `numpy` crate then
/// reads NumPy's version and functions. A call of a server should not wait for that.
pub(super) fn prepare(py: Python<'_>) -> PyResult<()> {
    let modules = py.import("sys")?.getattr("modules")?;
    // A program may have put something else in the place of NumPy, or None to forbid its import.
    if modules.get_item("numpy").is_ok_and(|numpy| numpy.hasattr("__version__").unwrap_or(false)) {
        Array(Vec::<u32>::new()).object(py)?;
    }
    Ok(())
}

/// Numbers that become an array, which takes their memory.
pub(super) struct Array<T>(pub(super) Vec<T>);

impl<'py, T: Element> IntoObject<'py> for Array<T> {
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        import_numpy(py)?;
        allocator::leave_some_if_none();
        Ok(self.0.into_pyarray(py).into_any())
    }
}

/// Pairs of numbers that become an array with a pair in each row.
pub(super) struct Pairs(pub(super) Vec<i64>);

impl<'py> IntoObject<'py> for Pairs {
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.0.len() / 2;
        Array(self.0).object(py)?.cast_into::<PyArray1<i64>>()?.reshape([rows, 2]).map(Bound::into_any)
    }
}

/// From this number of ids on, an array borrows its memory from an [`IdMemory`]: 4 MB. Reusing such memory
/// saves the system from clearing its pages again; code took 41 ms instead of 53.
const MIN_BORROWED_IDS: usize = 1 << 20;

/// The memory of an array of ids. When no array uses it any more, it is kept for the next large result.
#[pyclass(frozen, module = "toksmith._core")]
struct IdMemory(Vec<u32>);

impl Drop for IdMemory {
    fn drop(&mut self) {
        recycle(std::mem::take(&mut self.0));
    }
}

/// The ids of a text, which become an array.
pub(super) struct IdArray(pub(super) Vec<u32>);

impl<'py> IntoObject<'py> for IdArray {
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.0.len() < MIN_BORROWED_IDS {
            return Array(self.0).object(py);
        }
        import_numpy(py)?;
        allocator::leave_some_if_none();
        let memory = Bound::new(py, IdMemory(self.0))?;
        let view = ArrayView1::from(&memory.get().0[..]);
        // SAFETY: the vector lives as long as `memory`, which the array holds as its base. Nothing else reads
        // or writes it, and it is never reallocated.
        Ok(unsafe { PyArray1::borrow_from_array(&view, memory.clone().into_any()) }.into_any())
    }
}

/// The memory of the ids of a document, which an array borrows.
#[pyclass(frozen, module = "toksmith._core")]
struct SharedIdMemory(IdView);

/// A read-only array of the first `count` ids in the memory of a document, which are not copied.
pub(super) fn shared(py: Python<'_>, ids: IdView, count: usize) -> PyResult<Bound<'_, PyArray1<u32>>> {
    import_numpy(py)?;
    let memory = Bound::new(py, SharedIdMemory(ids))?;
    let ids = &memory.get().0[..count];
    // SAFETY: an `AtomicU32` has the layout of a `u32`. The first `count` ids are not written any more while
    // the memory has another owner than the document; see `SharedIds`.
    let view = ArrayView1::from(unsafe { std::slice::from_raw_parts(ids.as_ptr().cast::<u32>(), count) });
    // SAFETY: the memory lives as long as `memory`, which the array holds as its base, and is never
    // reallocated. The array is made read-only before others see it.
    let array = unsafe { PyArray1::borrow_from_array(&view, memory.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}
