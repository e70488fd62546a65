//! Ids from Python, and ids to Python.
#![allow(unsafe_code)] // building lists in place

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::call;
use crate::error::Error;

/// Items converted between two looks at the clock: less than a millisecond.
const CHECK: usize = 1 << 14;

/// Ids as a `list[int]`.
///
/// Filled in place, with a breath now and then: fifty million ids take a second.
pub(super) fn to_list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
    let len = ids.len() as ffi::Py_ssize_t;
    // SAFETY: PyList_New returns a new list of `len` empty slots, or null with an exception set,
    // which from_owned_ptr_or_err turns into Err. A list with empty slots may be dropped: its
    // deallocator skips them.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(len))? };
    // SAFETY: the collector tracks a new list. Untracked, it is out of sight of every other thread, also of
    // gc.get_objects, while slots are empty. It may be dropped untracked.
    unsafe { ffi::PyObject_GC_UnTrack(list.as_ptr().cast()) };
    let mut breath = call::Breath::new();
    for (run, ids) in ids.chunks(CHECK).enumerate() {
        breath.take(py)?;
        for (at, &id) in ids.iter().enumerate() {
            // SAFETY: the index is below `len`, the slot is still empty, and the new reference from
            // PyLong_FromUnsignedLong (checked for null) is given to the list.
            unsafe {
                let item = ffi::PyLong_FromUnsignedLong(std::ffi::c_ulong::from(id));
                if item.is_null() {
                    return Err(PyErr::fetch(py));
                }
                ffi::PyList_SET_ITEM(list.as_ptr(), (run * CHECK + at) as ffi::Py_ssize_t, item);
            }
        }
    }
    // SAFETY: all slots are filled; the list was untracked above, by us alone.
    unsafe { ffi::PyObject_GC_Track(list.as_ptr().cast()) };
    // SAFETY: PyList_New made it, so it is a list.
    Ok(unsafe { list.cast_into_unchecked() })
}

/// Ids from a list, any other iterable of int, or an array of an integer type. One above `max_id` is refused as
/// it comes: an iterable may be endless.
///
/// # Errors
/// `KeyError` for an int above `max_id` or below 0, `TypeError` for what is no int.
pub(super) fn from_python(ids: &Bound<'_, PyAny>, max_id: u32) -> PyResult<Vec<u32>> {
    if !ids.is_instance_of::<PyList>()
        && let Some(found) = from_array(ids)
    {
        return found;
    }
    let mut breath = call::Breath::new();
    let mut found = Vec::with_capacity(room(ids));
    for id in ids.try_iter()? {
        let id = one(&id?, Some(found.len()))?;
        if id > max_id {
            return Err(Error::UnknownId { id: i128::from(id), index: Some(found.len()) }.into());
        }
        found.push(id);
        if found.len() % CHECK == 0 {
            breath.take(ids.py())?;
        }
    }
    Ok(found)
}

/// Room to make for the items of an iterable: the length it claims, as far as that is believed. One of
/// `range(10**12)` would end the process before the first item is looked at.
pub(super) fn room(items: &Bound<'_, PyAny>) -> usize {
    items.len().unwrap_or(0).min(CHECK)
}

/// One id, at `index` of a list if it is in one.
pub(super) fn one(id: &Bound<'_, PyAny>, index: Option<usize>) -> PyResult<u32> {
    let error = match id.extract::<u32>() {
        Ok(id) => return Ok(id),
        Err(error) => error,
    };
    let place = index.map(|index| format!(" (at index {index})")).unwrap_or_default();
    if error.is_instance_of::<PyOverflowError>(id.py()) {
        // Python refuses to write numbers of thousands of digits.
        let shown = id.str().map_or_else(|_| "too long to write".to_owned(), |id| id.to_string());
        return Err(PyKeyError::new_err(format!("there is no token of id {shown}{place}")));
    }
    if error.is_instance_of::<PyTypeError>(id.py()) {
        let kind = id.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a token id is an int, not {kind}{place}")));
    }
    Err(error)
}

/// `None` for what is no array of one of these types in this machine's byte order: it is taken item by item.
fn from_array(ids: &Bound<'_, PyAny>) -> Option<PyResult<Vec<u32>>> {
    items::<u32>(ids)
        .or_else(|| Some(items::<u16>(ids)?.map(|ids| ids.into_iter().map(u32::from).collect())))
        .or_else(|| Some(items::<i64>(ids)?.and_then(|ids| narrow(&ids))))
        .or_else(|| Some(items::<i32>(ids)?.and_then(|ids| narrow(&ids))))
        .or_else(|| Some(items::<u64>(ids)?.and_then(|ids| narrow(&ids))))
}

fn items<T: Element>(ids: &Bound<'_, PyAny>) -> Option<PyResult<Vec<T>>> {
    let buffer = PyBuffer::<T>::get(ids).ok()?;
    // PyBuffer checks the type but not the order of its bytes.
    let foreign: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };
    if buffer.format().to_bytes().first().is_some_and(|order| foreign.contains(order)) {
        return None;
    }
    if buffer.dimensions() != 1 {
        return Some(Err(PyTypeError::new_err("an array of ids has one dimension")));
    }
    Some(buffer.to_vec(ids.py()))
}

fn narrow<T: Copy + std::fmt::Display>(ids: &[T]) -> PyResult<Vec<u32>>
where
    u32: TryFrom<T>,
{
    let convert = |(index, &id): (usize, &T)| {
        u32::try_from(id)
            .map_err(|_| PyKeyError::new_err(format!("there is no token of id {id} (at index {index})")))
    };
    ids.iter().enumerate().map(convert).collect()
}
