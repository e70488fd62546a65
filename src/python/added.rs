//! Whether texts can share a byte.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::call;
use crate::special;

/// Whether an occurrence of a token of `first` could share a byte with an occurrence of a token of `second`.
#[pyfunction]
pub(super) fn overlap(
    py: Python<'_>,
    first: Vec<PyBackedBytes>,
    second: Vec<PyBackedBytes>,
) -> PyResult<bool> {
    let owned = |all: Vec<PyBackedBytes>| all.iter().map(|bytes| bytes.to_vec()).collect();
    call::long(py, None, move |_| special::overlap(owned(first), owned(second)))
}
