//! Functions that make objects of the interpreter and return its `MemoryError`. Those of the crate `pyo3`
//! panic instead.
#![allow(unsafe_code)] // calls the interpreter's C API

use std::ffi::c_char;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple};

use super::{errors, ints};
use crate::room;

pub(super) fn list(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    // SAFETY: the GIL is held. The call returns a new list, or null with an exception set.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, ffi::PyList_New(0))?.cast_into_unchecked()) }
}

/// A `list` of the objects of an iterator.
pub(super) fn list_of<'py, T>(
    py: Python<'py>,
    items: impl IntoIterator<Item = PyResult<Bound<'py, T>>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = list(py)?;
    for item in items {
        list.append(item?.into_any())?;
    }
    Ok(list)
}

/// A `tuple` of `N` objects.
pub(super) fn tuple<'py, const N: usize>(
    py: Python<'py>,
    items: [Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyTuple>> {
    // SAFETY: the GIL is held. PyTuple_New returns a new tuple of `N` empty slots, or null with an exception
    // set. PyTuple_SetItem takes ownership of each item; it cannot fail for an index below `N` of a new
    // tuple.
    unsafe {
        let tuple = Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(N as ffi::Py_ssize_t))?;
        for (at, item) in items.into_iter().enumerate() {
            ffi::PyTuple_SetItem(tuple.as_ptr(), at as ffi::Py_ssize_t, item.into_ptr());
        }
        Ok(tuple.cast_into_unchecked())
    }
}

pub(super) fn int(py: Python<'_>, number: u64) -> PyResult<Bound<'_, PyAny>> {
    let made = match u32::try_from(number) {
        Ok(id) => ints::new_reference(py, id),
        // SAFETY: the GIL is held.
        Err(_) => unsafe { ffi::PyLong_FromUnsignedLongLong(number) },
    };
    // SAFETY: both functions return a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, made) }
}

/// Converts the items of a sequence. A `T` must take no memory of its own, since only the vector is allocated
/// in a way that may fail.
pub(super) fn extracted<'py, T>(
    items: &Bound<'py, PyAny>,
    make: impl Fn(Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let mut made = room::for_items(size_hint(items))?;
    for item in items.try_iter()? {
        room::push(&mut made, make(item?)?)?;
    }
    Ok(made)
}

/// An iterator over an argument. `is` says what the argument is, in the error for one that has no iterator.
pub(super) fn iterator<'py>(items: &Bound<'py, PyAny>, is: &str) -> PyResult<Bound<'py, PyIterator>> {
    items.try_iter().or_else(|error| {
        if items.hasattr("__iter__")? || items.hasattr("__getitem__")? {
            return Err(error);
        }
        Err(errors::wrong_type(is, items, ""))
    })
}

/// The maximum number of items for which memory is reserved before the first of them is seen.
const MAX_TRUSTED_LEN: usize = 1 << 14;

/// The number of items to reserve memory for: the length that an iterable claims, up to [`MAX_TRUSTED_LEN`].
/// Reserving memory for `range(10**12)` would fail, although its first item may already be an error.
pub(super) fn size_hint(items: &Bound<'_, PyAny>) -> usize {
    items.len().unwrap_or(0).min(MAX_TRUSTED_LEN)
}

pub(super) fn dict(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    // SAFETY: the GIL is held. The call returns a new dict, or null with an exception set.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, ffi::PyDict_New())?.cast_into_unchecked()) }
}

pub(super) fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let (data, len) = (bytes.as_ptr().cast::<c_char>(), bytes.len() as ffi::Py_ssize_t);
    // SAFETY: the GIL is held, and `len` bytes are at `data`. The call returns a new `bytes`, or null with an
    // exception set.
    unsafe {
        Ok(Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(data, len))?.cast_into_unchecked())
    }
}

pub(super) fn string<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    let (data, len) = (text.as_ptr().cast::<c_char>(), text.len() as ffi::Py_ssize_t);
    // SAFETY: the GIL is held, and `len` bytes are at `data`. The call returns a new `str`, or null with an
    // exception set.
    unsafe {
        Ok(Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_FromStringAndSize(data, len))?
            .cast_into_unchecked())
    }
}
