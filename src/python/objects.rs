//! Results as objects of the interpreter. Where PyO3's conversions panic without memory, these raise
//! `MemoryError`.
#![allow(unsafe_code)] // calls the interpreter's C API

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict, PyIterator, PyList};

use super::errors::OrRaise;
use super::{errors, ints};
use toksmith::room;

/// An argument of any type.
pub(super) type Any<'a, 'py> = &'a Bound<'py, PyAny>;

/// A value that becomes an object.
pub(super) trait IntoObject<'py> {
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

/// A result of a function that Python calls.
pub(super) struct Made<T>(pub(super) T);

impl<'py, T: IntoObject<'py>> IntoPyObject<'py> for Made<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.object(py)
    }
}

/// A `list` of the items of an iterator.
pub(super) struct List<I>(pub(super) I);
pub(super) type Items<T> = Made<List<Vec<T>>>;
/// A `dict` of the pairs of an iterator.
pub(super) struct Dict<I>(pub(super) I);

impl<'py, I: IntoIterator<Item: IntoObject<'py>>> IntoObject<'py> for List<I> {
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let list = list(py)?;
        self.0.into_iter().try_for_each(|item| list.append(item.object(py)?))?;
        Ok(list.into_any())
    }
}

impl<'py, K: IntoObject<'py>, V: IntoObject<'py>, I: IntoIterator<Item = (K, V)>> IntoObject<'py>
    for Dict<I>
{
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the GIL is held. The call returns a new dict, or null with an exception set.
        let dict: Bound<'_, PyDict> =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDict_New())?.cast_into_unchecked() };
        self.0.into_iter().try_for_each(|(key, value)| dict.set_item(key.object(py)?, value.object(py)?))?;
        Ok(dict.into_any())
    }
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<'py, $($name: IntoObject<'py>),*> IntoObject<'py> for ($($name,)*) {
            #[allow(non_snake_case)] // a value has the name of its type
            fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let ($($name,)*) = self;
                tuple(py, [$($name.object(py)?),*])
            }
        }
    )*};
}

tuples! { A B; A B C; A B C D; }

/// Types whose objects a function of the C API makes, or the conversion of another type.
macro_rules! objects {
    ($($type:ty: |$value:ident, $py:ident| $object:expr;)*) => {$(
        impl<'py> IntoObject<'py> for $type {
            fn object(self, $py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let $value = self;
                // SAFETY: the GIL is held, and all bytes of a value are there. A function of the C API
                // returns a new reference, or null with an exception set.
                #[allow(unused_unsafe)]
                unsafe { $object }
            }
        }
    )*};
}

objects! {
    u64: |number, py| Bound::from_owned_ptr_or_err(py, match u32::try_from(number) {
        Ok(id) => ints::new_reference(py, id),
        Err(_) => ffi::PyLong_FromUnsignedLongLong(number),
    });
    &[u8]: |bytes, py| Bound::from_owned_ptr_or_err(
        py, ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t)
    );
    &str: |text, py| Bound::from_owned_ptr_or_err(
        py, ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as ffi::Py_ssize_t)
    );
    u32: |id, py| u64::from(id).object(py);
    Vec<u8>: |bytes, py| bytes.as_slice().object(py);
    String: |text, py| text.as_str().object(py);
}

impl<'py, T: IntoObject<'py>, E> IntoObject<'py> for Result<T, E>
where
    PyErr: From<E>,
{
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self?.object(py)
    }
}

impl<'py, T> IntoObject<'py> for Bound<'py, T> {
    fn object(self, _: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.into_any())
    }
}

fn tuple<'py, const N: usize>(py: Python<'py>, items: [Bound<'py, PyAny>; N]) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the GIL is held. PyTuple_New returns a new tuple of `N` empty slots, or null with an exception
    // set. PyTuple_SetItem takes ownership of each item; it cannot fail for an index below `N` of a new
    // tuple.
    unsafe {
        let tuple = Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(N as ffi::Py_ssize_t))?;
        for (at, item) in items.into_iter().enumerate() {
            ffi::PyTuple_SetItem(tuple.as_ptr(), at as ffi::Py_ssize_t, item.into_ptr());
        }
        Ok(tuple)
    }
}

pub(super) fn list(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    // SAFETY: the GIL is held. The call returns a new list, or null with an exception set.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, ffi::PyList_New(0))?.cast_into_unchecked()) }
}

/// Converts the items of a sequence. A `T` must take no memory of its own, since only the vector is allocated
/// in a way that may fail.
pub(super) fn extracted<'py, T>(
    items: Any<'_, 'py>,
    mut make: impl FnMut(Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let mut made = room::for_items(size_hint(items)).or_raise()?;
    for item in items.try_iter()? {
        room::push(&mut made, make(item?)?).or_raise()?;
    }
    Ok(made)
}

/// An iterator over an argument. `is` says what the argument is, in the error for one that has no iterator.
pub(super) fn iterator<'py>(items: Any<'_, 'py>, is: &str) -> PyResult<Bound<'py, PyIterator>> {
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
pub(super) fn size_hint(items: Any) -> usize {
    items.len().unwrap_or(0).min(MAX_TRUSTED_LEN)
}
