//! The order of windows of training data.

use numpy::PyReadonlyArrayDyn;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyTuple};

use super::arrays;
use crate::shards::{KEY_BYTES, Permutation};

/// A bijection of the numbers 0 to `size` - 1, chosen by a seed: the same on every machine and in every version.
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
    seed: Py<PyTuple>,
}

#[pymethods]
impl PyPermutation {
    #[new]
    #[pyo3(signature = (size, *seed))]
    fn new(size: &Bound<'_, PyAny>, seed: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let py = seed.py();
        let index = py.import("operator")?.getattr("index")?;
        let size = index.call1((size,))?;
        let in_range = size.extract::<u64>().ok().filter(|&size| size <= Permutation::MAX_SIZE);
        let checked = in_range
            .ok_or_else(|| PyValueError::new_err(format!("size is between 0 and 2^62, not {size}")))?;
        let numbers = seed.iter().map(|number| index.call1((number,))).collect::<PyResult<Vec<_>>>()?;
        let text = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let options = [("person", PyBytes::new(py, b"toksmith").into_any())].into_py_dict(py)?;
        options.set_item("digest_size", KEY_BYTES)?;
        let text = (PyBytes::new(py, text.as_bytes()),);
        let hash = py.import("hashlib")?.call_method("blake2b", text, Some(&options))?;
        let keys: [u8; KEY_BYTES] = hash.call_method0("digest")?.extract()?;
        Ok(PyPermutation {
            order: Permutation::new(checked, &keys),
            seed: PyTuple::new(py, numbers)?.unbind(),
        })
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
    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<u64> {
        let index = index.py().import("operator")?.call_method1("index", (index,))?;
        let number = index.extract().ok().and_then(|place| self.order.get(place));
        number.ok_or_else(|| self.no_place(&index))
    }

    /// Returns the numbers at several places, as `int64` of the same shape; `IndexError` for a place that is not there.
    fn many<'py>(&self, indices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = indices.py();
        let places = py.import("numpy")?.call_method1("asarray", (indices, "int64"))?;
        let number = |&place: &i64| {
            let number = u64::try_from(place).ok().and_then(|place| self.order.get(place));
            number.map(|number| number as i64).ok_or_else(|| self.no_place(&place))
        };
        let numbers: PyResult<Vec<i64>> =
            places.extract::<PyReadonlyArrayDyn<'_, i64>>()?.as_array().iter().map(number).collect();
        arrays::array(py, numbers?)?.call_method1("reshape", (places.getattr("shape")?,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let size = slf.get().size().into_pyobject(py)?.into_any();
        let seed = slf.get().seed.bind(py).iter();
        Ok((
            slf.get_type().into_any(),
            PyTuple::new(py, std::iter::once(size).chain(seed).collect::<Vec<_>>())?,
        ))
    }
}

impl PyPermutation {
    fn no_place(&self, place: &impl std::fmt::Display) -> PyErr {
        PyIndexError::new_err(format!("place {place} of {}", self.order.size()))
    }
}
