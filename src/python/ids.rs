//! Conversion of ids from and to Python.
#![allow(unsafe_code)] // lists are filled and read in place

use std::fmt::Display;
use std::ptr::NonNull;

use pyo3::buffer::{Element, PyUntypedBuffer};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::{call, errors, ints, objects};
use crate::encode::{EncodedBatch, recycle};
use crate::error::{Error, show_reason};
use crate::{memory, room};

/// Items that are converted between two checks of the clock; less than a millisecond.
const ITEMS_PER_CHECK: usize = 1 << 14;
/// The items whose conversion takes as long as making a list.
const ITEMS_PER_LIST: usize = 1 << 8;

/// A `list[int]` of ids.
///
/// The list is filled in place, and the GIL is yielded from time to time: fifty million ids take a second.
pub(super) fn to_list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
    let len = ids.len() as ffi::Py_ssize_t;
    // SAFETY: PyList_New returns a new list of `len` empty slots, or null with an exception set, which
    // `from_owned_ptr_or_err` turns into `Err`. A list with empty slots may be dropped: its deallocator skips
    // them.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(len))? };
    // SAFETY: the garbage collector tracks every new list. Untracked, no other thread can reach it, not even
    // by gc.get_objects, while slots are empty. An untracked list may be dropped.
    unsafe { ffi::PyObject_GC_UnTrack(list.as_ptr().cast()) };
    // SAFETY: the slots of a list are at `ob_item`, null for an empty list, and nothing else can reach this
    // list.
    let slots = unsafe { (*list.as_ptr().cast::<ffi::PyListObject>()).ob_item };
    memory::advise_huge_pages(slots.cast(), size_of_val(ids) * 2);
    let mut yielder = call::GilYielder::new();
    for (run, run_ids) in ids.chunks(ITEMS_PER_CHECK).enumerate() {
        if ids.len() > ITEMS_PER_CHECK {
            yielder.tick(py)?;
        }
        for (at, &id) in run_ids.iter().enumerate() {
            let item = ints::new_reference(py, id);
            if item.is_null() {
                return Err(PyErr::fetch(py));
            }
            // SAFETY: the index is below `len`, the slot is still empty, and the list takes ownership of the
            // new reference.
            unsafe { slots.add(run * ITEMS_PER_CHECK + at).write(item) };
        }
    }
    // SAFETY: all slots are filled, and the list was untracked above.
    unsafe { ffi::PyObject_GC_Track(list.as_ptr().cast()) };
    // SAFETY: PyList_New has made a list.
    Ok(unsafe { list.cast_into_unchecked() })
}

/// A `list[list[int]]` of the ids of many texts.
pub(super) fn to_lists<'py>(py: Python<'py>, batch: EncodedBatch) -> PyResult<Bound<'py, PyList>> {
    let lists = objects::list(py)?;
    let (mut yielder, mut items) = (call::GilYielder::new(), ITEMS_PER_CHECK);
    for text in batch.starts.windows(2) {
        if items >= ITEMS_PER_CHECK {
            yielder.tick(py)?;
            items = 0;
        }
        items += ITEMS_PER_LIST + text[1] - text[0];
        lists.append(to_list(py, &batch.ids[text[0]..text[1]])?)?;
    }
    recycle(batch.ids);
    Ok(lists)
}

/// Ids of a run: 4 KB, which stay in the nearest cache.
const IDS_PER_RUN: usize = 1 << 10;
/// Runs between two checks of the clock.
const RUNS_PER_CHECK: usize = ITEMS_PER_CHECK / IDS_PER_RUN;

/// Calls `take` with all ids in runs, first with their number if it is known. `ids` is a list, another iterable of
/// int, or an array of integers. An id above `max_id` in an iterable is an error at once, since the iterable may be
/// endless.
///
/// # Errors
/// `KeyError` for an int above `max_id` or below 0, `TypeError` for another object, and errors of `take`.
pub(super) fn for_runs(ids: &Bound<'_, PyAny>, max_id: u32, take: Take<'_>) -> PyResult<()> {
    if (ids.is_exact_instance_of::<PyList>() || ids.is_exact_instance_of::<PyTuple>())
        && ints::reads_in_place(ids.py())
    {
        return list_runs(ids, take);
    }
    if !ids.is_instance_of::<PyList>()
        && let Ok(buffer) = PyUntypedBuffer::get(ids)
        && let Some(done) = array_runs(ids.py(), &buffer, take)
    {
        return done;
    }
    let collected = from_iterable(ids, max_id)?;
    take(IdRun::Length(collected.len()))?;
    let mut yielder = call::GilYielder::new();
    collected.chunks(ITEMS_PER_CHECK).try_for_each(|run| {
        yielder.tick(ids.py())?;
        take(IdRun::Ids(run))
    })
}

/// The callback of [`for_runs`].
type Take<'a> = &'a mut dyn FnMut(IdRun<'_>) -> PyResult<()>;

/// Its argument.
pub(super) enum IdRun<'a> {
    /// An estimate of how many ids will come, given first.
    Length(usize),
    /// The next ids.
    Ids(&'a [u32]),
}

/// Reads the ids of a list or tuple in place. Nothing can change the list while the GIL is held and no Python code
/// runs. After anything else, its length is read again, as the list's own iterator does.
fn list_runs(list: &Bound<'_, PyAny>, take: Take<'_>) -> PyResult<()> {
    let mut run = [0; IDS_PER_RUN];
    let mut yielder = call::GilYielder::new();
    let mut at = 0;
    take(IdRun::Length(items(list).len()))?;
    for count in 1.. {
        let read = read_ints(list, at, &mut run);
        take(IdRun::Ids(&run[..read]))?;
        at += read;
        if read < IDS_PER_RUN {
            // The end of the list, or an item that is not a small int.
            let Some(&item) = items(list).get(at) else { break };
            // SAFETY: the list keeps its item alive, and this takes a reference of its own before anything
            // else can run.
            let item = unsafe { Bound::from_borrowed_ptr(list.py(), item) };
            take(IdRun::Ids(&[extract_id(&item, Some(at))?]))?;
            at += 1;
        }
        if count % RUNS_PER_CHECK == 0 {
            yielder.tick(list.py())?;
        }
    }
    Ok(())
}

/// Reads small ints from `at` on. Returns how many it has read: up to the end, to another object, or until
/// `run` is full.
#[inline]
fn read_ints(list: &Bound<'_, PyAny>, at: usize, run: &mut [u32]) -> usize {
    let items = items(list).get(at..).unwrap_or(&[]);
    let mut read = 0;
    for (&item, id) in items.iter().zip(run) {
        // SAFETY: the list keeps its items alive, the GIL is held, and the caller has checked
        // `reads_in_place`.
        let Some(value) = (unsafe { ints::small(item) }) else { break };
        *id = value;
        read += 1;
    }
    read
}

/// The items of an exact list or tuple. While they are in use, no Python code may run and the GIL may not be
/// released.
#[inline]
fn items<'a>(list: &'a Bound<'_, PyAny>) -> &'a [*mut ffi::PyObject] {
    let (at, len) = if list.is_exact_instance_of::<PyTuple>() {
        let tuple = list.as_ptr().cast::<ffi::PyTupleObject>();
        // SAFETY: the object is an exact tuple, whose items follow its header.
        unsafe { (std::ptr::addr_of!((*tuple).ob_item).cast(), ffi::Py_SIZE(list.as_ptr())) }
    } else {
        let object = list.as_ptr().cast::<ffi::PyListObject>();
        // SAFETY: the object is an exact list, as the caller guarantees.
        unsafe { ((*object).ob_item.cast_const(), ffi::Py_SIZE(list.as_ptr())) }
    };
    if len == 0 {
        return &[]; // an empty list may have a null pointer to its items
    }
    // SAFETY: the object has `len` items at `at`, and they stay there while the caller keeps its promise.
    unsafe { std::slice::from_raw_parts(at, len as usize) }
}

/// The ids of an iterable.
fn from_iterable(ids: &Bound<'_, PyAny>, max_id: u32) -> PyResult<Vec<u32>> {
    let mut yielder = call::GilYielder::new();
    let mut collected = room::for_items(objects::size_hint(ids))?;
    for id in objects::iterator(ids, "ids are a list, another iterable or an array of int")? {
        let id = extract_id(&id?, Some(collected.len()))?;
        if id > max_id {
            return Err(Error::UnknownId { id: i128::from(id), index: Some(collected.len()) }.into());
        }
        room::push(&mut collected, id)?;
        if collected.len().is_multiple_of(ITEMS_PER_CHECK) {
            yielder.tick(ids.py())?;
        }
    }
    Ok(collected)
}

/// Converts one id. `index` is its index in a list, for errors.
pub(super) fn extract_id(id: &Bound<'_, PyAny>, index: Option<usize>) -> PyResult<u32> {
    let error = match id.extract::<u32>() {
        Ok(id) => return Ok(id),
        Err(error) => error,
    };
    let place = index.map(|index| format!(" (at index {index})")).unwrap_or_default();
    if error.is_instance_of::<PyOverflowError>(id.py()) {
        // Python refuses to print numbers of thousands of digits.
        let shown =
            id.str().map_or_else(|_| "too long to write".to_owned(), |id| show_reason(&id.to_string()));
        return Err(PyKeyError::new_err(format!("there is no token of id {shown}{place}")));
    }
    if error.is_instance_of::<PyTypeError>(id.py()) {
        let is_row = index.is_some() && (id.is_instance_of::<PyList>() || id.is_instance_of::<PyTuple>());
        let hint = if is_row { "; decode_batch takes lists of ids" } else { "" };
        return Err(errors::wrong_type("a token id is an int", id, &format!("{place}{hint}")));
    }
    Err(error)
}

/// Reads an array of one of these types. `None` if the array has another type or a foreign byte order; the caller
/// then reads its items one by one.
fn array_runs(py: Python<'_>, buffer: &PyUntypedBuffer, take: Take<'_>) -> Option<PyResult<()>> {
    // NumPy before 2.3 lets its bools be read as ints, with a warning.
    if buffer.format().to_bytes() == b"?" && buffer.item_count() > 0 {
        return Some(Err(PyTypeError::new_err("a token id is an int, not bool (at index 0)")));
    }
    typed_runs::<u32>(py, buffer, take)
        .or_else(|| typed_runs::<u16>(py, buffer, take))
        .or_else(|| typed_runs::<i64>(py, buffer, take))
        .or_else(|| typed_runs::<i32>(py, buffer, take))
        .or_else(|| typed_runs::<u64>(py, buffer, take))
}

/// Reads an array of type `T`; `None` if it is not one.
fn typed_runs<T>(py: Python<'_>, buffer: &PyUntypedBuffer, take: Take<'_>) -> Option<PyResult<()>>
where
    T: Element + Display + Default,
    u32: TryFrom<T>,
{
    let buffer = buffer.as_typed::<T>().ok()?;
    // PyBuffer checks the type but not the byte order.
    if buffer.format().to_bytes().first().is_some_and(|order| b">!".contains(order)) {
        return None;
    }
    if buffer.dimensions() != 1 {
        return Some(Err(PyTypeError::new_err("an array of ids has one dimension")));
    }
    let mut copy;
    let ids = match buffer.as_slice_ptr() {
        Some(ids) => ids.cast::<T>(),
        None => {
            let copied = room::filled(T::default(), buffer.item_count()).map_err(PyErr::from);
            match copied.and_then(|mut items| buffer.copy_to_slice(py, &mut items).map(|()| items)) {
                Ok(items) => copy = items,
                Err(error) => return Some(Err(error)),
            }
            NonNull::from(&mut copy[..]).cast()
        }
    };
    // SAFETY: the buffer, or its copy, is held, so its items stay valid. Each item is read by value, and every bit
    // pattern is valid for `T`.
    Some(narrow_runs(py, buffer.item_count(), &|at| unsafe { ids.add(at).read() }, take))
}

/// Calls `take` with the ids that `get` returns for 0 to `len - 1`.
fn narrow_runs<T: Display + Copy>(
    py: Python<'_>,
    len: usize,
    get: &impl Fn(usize) -> T,
    take: Take<'_>,
) -> PyResult<()>
where
    u32: TryFrom<T>,
{
    let mut run = [0; IDS_PER_RUN];
    let mut yielder = call::GilYielder::new();
    take(IdRun::Length(len))?;
    for (count, start) in (0..len).step_by(IDS_PER_RUN).enumerate() {
        let mut read = 0;
        let wanted = IDS_PER_RUN.min(len - start);
        while read < wanted
            && let Ok(id) = u32::try_from(get(start + read))
        {
            run[read] = id;
            read += 1;
        }
        take(IdRun::Ids(&run[..read]))?;
        if read < wanted {
            let (id, index) = (get(start + read), start + read);
            return Err(PyKeyError::new_err(format!("there is no token of id {id} (at index {index})")));
        }
        if count % RUNS_PER_CHECK == RUNS_PER_CHECK - 1 {
            yielder.tick(py)?;
        }
    }
    Ok(())
}
