//! Conversion of ids from and to Python.
#![allow(unsafe_code)] // lists are filled and read in place

use std::cell::Cell;
use std::fmt::Display;
use std::ptr::NonNull;

use pyo3::buffer::{Element, PyUntypedBuffer};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::errors::OrRaise;
use super::objects::{self, Any, IntoObject, List};
use super::{call, errors, ints};
use toksmith::encode::{EncodedBatch, recycle};
use toksmith::error::{Error, show_reason};
use toksmith::{memory, room};

/// Items that are converted between two checks of the clock; less than a millisecond.
const ITEMS_PER_CHECK: usize = 1 << 14;
/// The items whose conversion takes as long as making a list.
const ITEMS_PER_LIST: usize = 1 << 8;

thread_local! {
    /// Memory for the ids of a call, kept from call to call.
    static IDLE: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// The maximum number of ids whose memory a thread keeps: 64 KB.
const MAX_IDLE_IDS: usize = 1 << 14;

/// Ids that become a `list[int]`. Their memory is kept for the next call.
pub(super) struct IdList(pub(super) Vec<u32>);

impl IdList {
    /// Memory for ids that become a list. It is taken and not borrowed, since a signal handler may encode as
    /// well.
    #[inline]
    pub(super) fn memory() -> Vec<u32> {
        IDLE.take()
    }

    /// Keeps memory for the next call.
    #[inline]
    pub(super) fn keep(mut ids: Vec<u32>) {
        if ids.capacity() > MAX_IDLE_IDS {
            recycle(ids);
        } else {
            ids.clear();
            IDLE.set(ids);
        }
    }
}

impl<'py> IntoObject<'py> for IdList {
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let list = self.0.as_slice().object(py);
        IdList::keep(self.0);
        list
    }
}

impl<'py> IntoObject<'py> for &[u32] {
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(to_list(py, self)?.into_any())
    }
}

/// A `list[int]` of ids.
///
/// The list is filled in place, and the GIL is yielded from time to time: fifty million ids take a second.
fn to_list<'py>(py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
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
    let mut yielder = call::GilYielder::default();
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

impl<'py> IntoObject<'py> for EncodedBatch {
    fn object(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (mut yielder, mut items) = (call::GilYielder::default(), ITEMS_PER_CHECK);
        let lists = List(self.starts.windows(2).map(|text| {
            if items >= ITEMS_PER_CHECK {
                yielder.tick(py)?;
                items = 0;
            }
            items += ITEMS_PER_LIST + text[1] - text[0];
            to_list(py, &self.ids[text[0]..text[1]])
        }))
        .object(py);
        recycle(self.ids);
        lists
    }
}

/// Ids that are read at a time.
const IDS_PER_RUN: usize = 1 << 10;
/// Runs between two checks of the clock.
const RUNS_PER_CHECK: usize = ITEMS_PER_CHECK / IDS_PER_RUN;

/// Reads all ids of a list, of another iterable of int, or of an array of integers into an empty vector. An
/// id above `max_id` in an iterable is an error at once, since the iterable may be endless.
///
/// # Errors
/// `KeyError` for an int above `max_id` or below 0, `TypeError` for another object. The ids before it are
/// read.
pub(super) fn read(ids: Any, max_id: u32, all: &mut Vec<u32>) -> PyResult<()> {
    if (ids.is_exact_instance_of::<PyList>() || ids.is_exact_instance_of::<PyTuple>())
        && ints::reads_in_place(ids.py())
    {
        return read_list(ids, all);
    }
    if !ids.is_instance_of::<PyList>()
        && let Ok(buffer) = PyUntypedBuffer::get(ids)
        && let Some(done) = read_array(ids.py(), &buffer, all)
    {
        return done;
    }
    let mut yielder = call::GilYielder::default();
    room::reserve(all, objects::size_hint(ids)).or_raise()?;
    for id in objects::iterator(ids, "ids are a list, another iterable or an array of int")? {
        let id = extract_id(&id?, Some(all.len()))?;
        if id > max_id {
            return Err(Error::UnknownId { id: i128::from(id), index: Some(all.len()) }).or_raise();
        }
        room::push(all, id).or_raise()?;
        if all.len().is_multiple_of(ITEMS_PER_CHECK) {
            yielder.tick(ids.py())?;
        }
    }
    Ok(())
}

/// Appends ids up to the first item that is none, as far as there is room; returns how many.
#[inline]
fn extend_while(all: &mut Vec<u32>, ids: impl Iterator<Item = Option<u32>>) -> usize {
    let mut read = 0;
    for (id, slot) in ids.zip(all.spare_capacity_mut()) {
        let Some(id) = id else { break };
        slot.write(id);
        read += 1;
    }
    // SAFETY: so many items behind the last one are written.
    unsafe { all.set_len(all.len() + read) };
    read
}

/// Reads the ids of a list or tuple in place. Nothing can change the list while the GIL is held and no Python
/// code runs. After anything else, its length is read again, as the list's own iterator does.
fn read_list(list: Any, all: &mut Vec<u32>) -> PyResult<()> {
    let mut yielder = call::GilYielder::default();
    for count in 1.. {
        let left = items(list).get(all.len()..).unwrap_or(&[]);
        room::reserve(all, left.len()).or_raise()?;
        // SAFETY: the list keeps its items alive, the GIL is held, and the caller has checked
        // `reads_in_place`.
        let small = |&item: &*mut ffi::PyObject| unsafe { ints::small(item) };
        let read = extend_while(all, left.iter().take(IDS_PER_RUN).map(small));
        if read < IDS_PER_RUN {
            // The end of the list, or an item that is not a small int.
            let Some(&item) = left.get(read) else { break };
            // SAFETY: the list keeps its item alive, and this takes a reference of its own before anything
            // else can run.
            let item = unsafe { Bound::from_borrowed_ptr(list.py(), item) };
            room::push(all, extract_id(&item, Some(all.len()))?).or_raise()?;
        }
        if count % RUNS_PER_CHECK == 0 {
            yielder.tick(list.py())?;
        }
    }
    Ok(())
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

/// Converts one id. `index` is its index in a list, for errors.
pub(super) fn extract_id(id: Any, index: Option<usize>) -> PyResult<u32> {
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

/// Reads an array of one of these types. `None` if the array has another type or a foreign byte order; the
/// caller then reads its items one by one.
fn read_array(py: Python<'_>, buffer: &PyUntypedBuffer, all: &mut Vec<u32>) -> Option<PyResult<()>> {
    // NumPy before 2.3 lets its bools be read as ints, with a warning.
    if buffer.format().to_bytes() == b"?" && buffer.item_count() > 0 {
        return Some(Err(PyTypeError::new_err("a token id is an int, not bool (at index 0)")));
    }
    read_typed::<u32>(py, buffer, all)
        .or_else(|| read_typed::<u16>(py, buffer, all))
        .or_else(|| read_typed::<i64>(py, buffer, all))
        .or_else(|| read_typed::<i32>(py, buffer, all))
        .or_else(|| read_typed::<u64>(py, buffer, all))
}

/// Reads an array of type `T`; `None` if it is not one.
fn read_typed<T>(py: Python<'_>, buffer: &PyUntypedBuffer, all: &mut Vec<u32>) -> Option<PyResult<()>>
where
    T: Element + Display + Default,
    u32: TryFrom<T>,
{
    let buffer = buffer.as_typed::<T>().ok()?;
    // PyBuffer checks the type but not the byte order.
    let is_foreign = buffer.format().to_bytes().first().is_some_and(|order| b">!".contains(order));
    (!is_foreign).then(|| {
        if buffer.dimensions() != 1 {
            return Err(PyTypeError::new_err("an array of ids has one dimension"));
        }
        let mut copy;
        let mut yielder = call::GilYielder::default();
        let count = buffer.item_count();
        let ids = match buffer.as_slice_ptr() {
            Some(ids) => ids.cast::<T>(),
            None => {
                copy = room::filled(T::default(), count).or_raise()?;
                buffer.copy_to_slice(py, &mut copy)?;
                NonNull::from(&mut copy[..]).cast()
            }
        };
        // SAFETY: the buffer, or its copy, is held, so its items stay valid. Each item is read by value, and
        // every bit pattern is valid for `T`.
        let get = |at: usize| unsafe { ids.add(at).read() };
        room::reserve(all, count).or_raise()?;
        for start in (0..count).step_by(ITEMS_PER_CHECK) {
            let end = count.min(start + ITEMS_PER_CHECK);
            let read = extend_while(all, (start..end).map(|at| u32::try_from(get(at)).ok()));
            if start + read < end {
                let (id, index) = (get(start + read), start + read);
                return Err(PyKeyError::new_err(format!("there is no token of id {id} (at index {index})")));
            }
            yielder.tick(py)?;
        }
        Ok(())
    })
}
