//! The order of windows of training data.

use numpy::PyReadonlyArrayDyn;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyTuple, PyType};

use super::arrays::Array;
use super::objects::{Any, IntoObject};
use crate::shards::{KEY_BYTES, Permutation};

/// A bijection of the numbers 0 to `size` - 1, chosen by a seed: the same on every machine and in every
/// version.
///
/// It takes constant memory, and constant time for each number.
///
/// Args:
///     size: How many numbers there are, at most 2^62.
///     seed: Any whole numbers. Another seed gives another order.
///
/// >>> order = Permutation(10, 7)
/// >>> list(map(order.__getitem__, range(10)))
/// [6, 9, 0, 7, 3, 5, 1, 8, 4, 2]
#[pyclass(frozen, name = "Permutation", module = "toksmith.data")]
pub(super) struct PyPermutation {
    order: Permutation,
    /// The size and the seed.
    arguments: Py<PyTuple>,
}

#[pymethods]
impl PyPermutation {
    #[new]
    #[pyo3(signature = (size, *seed))]
    fn new(size: Any, seed: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let py = seed.py();
        let index = py.import("operator")?.getattr("index")?;
        let numbers = std::iter::once(size.clone()).chain(seed).map(|number| index.call1((number,)));
        let arguments = PyTuple::new(py, numbers.collect::<PyResult<Vec<_>>>()?)?;
        let size = arguments.get_item(0)?;
        let in_range = size.extract::<u64>().ok().filter(|&size| size <= Permutation::MAX_SIZE);
        let checked = in_range
            .ok_or_else(|| PyValueError::new_err(format!("size is between 0 and 2^62, not {size}")))?;
        let text = arguments.iter().skip(1).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let options = [("person", PyBytes::new(py, b"toksmith").into_any())].into_py_dict(py)?;
        options.set_item("digest_size", KEY_BYTES)?;
        let hash = py.import("hashlib")?.call_method("blake2b", (text.as_bytes(),), Some(&options))?;
        let keys: [u8; KEY_BYTES] = hash.call_method0("digest")?.extract()?;
        Ok(PyPermutation { order: Permutation::new(checked, &keys), arguments: arguments.unbind() })
    }

    /// How many numbers there are.
    #[getter]
    fn size(&self) -> u64 {
        self.order.size()
    }

    fn __len__(&self) -> usize {
        self.order.size() as usize
    }

    /// Returns the number at a place of the order.
    fn __getitem__(&self, index: Any) -> PyResult<u64> {
        let index = index.py().import("operator")?.call_method1("index", (index,))?;
        let number = index.extract().ok().and_then(|place| self.order.get(place));
        number.ok_or_else(|| self.no_place(&index))
    }

    /// Returns the numbers at several places, as `int64` of the same shape; `IndexError` for a place that is
    /// not there.
    fn many<'py>(&self, indices: Any<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = indices.py();
        let places = py.import("numpy")?.call_method1("asarray", (indices, "int64"))?;
        let number = |&place: &i64| {
            let number = u64::try_from(place).ok().and_then(|place| self.order.get(place));
            number.map(|number| number as i64).ok_or_else(|| self.no_place(&place))
        };
        let numbers: PyResult<Vec<i64>> =
            places.extract::<PyReadonlyArrayDyn<'_, i64>>()?.as_array().iter().map(number).collect();
        Array(numbers?).object(py)?.call_method1("reshape", (places.getattr("shape")?,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Py<PyTuple>) {
        (slf.get_type(), slf.get().arguments.clone_ref(slf.py()))
    }
}

impl PyPermutation {
    fn no_place(&self, place: &impl std::fmt::Display) -> PyErr {
        PyIndexError::new_err(format!("place {place} of {}", self.order.size()))
    }
}
