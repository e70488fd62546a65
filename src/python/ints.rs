//! Python's ints, as ids: made once and shared, and read in place.
#![allow(unsafe_code)] // what the interpreter's own C code does by its macros

use std::ffi::c_ulong;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};

use pyo3::ffi;
use pyo3::prelude::*;

/// Ids below this share their int objects. All of them take 8 MB, and 2 MB for the table; both grow with the ids
/// that are seen.
const SHARED_INTS: usize = if cfg!(Py_GIL_DISABLED) { 0 } else { 1 << 18 };

/// The int of each id seen, for ever; null before. All zero, so memory is used from the first entry of a page
/// on. Read and written with the GIL held: `Relaxed` costs nothing and is enough.
static INTS: [AtomicPtr<ffi::PyObject>; SHARED_INTS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; SHARED_INTS];

/// A new reference to the int of this value; null with an exception set.
///
/// An int that is there is taken at a fifth of the time that a new one takes, and the list that holds it is
/// freed faster too.
#[inline]
pub(super) fn new_reference(_py: Python<'_>, id: u32) -> *mut ffi::PyObject {
    if let Some(entry) = INTS.get(id as usize) {
        let int = entry.load(Relaxed);
        if !int.is_null() {
            // SAFETY: the table holds a reference for ever; the GIL is held.
            unsafe { ffi::Py_INCREF(int) };
            return int;
        }
    }
    first_reference(id)
}

#[cold]
fn first_reference(id: u32) -> *mut ffi::PyObject {
    // SAFETY: the GIL is held, as the caller shows by its token.
    let int = unsafe { ffi::PyLong_FromUnsignedLong(c_ulong::from(id)) };
    if let Some(entry) = INTS.get(id as usize)
        && !int.is_null()
    {
        // SAFETY: it is an object, and the GIL is held. The table keeps this second reference.
        unsafe { ffi::Py_INCREF(int) };
        entry.store(int, Relaxed);
    }
    int
}

/// How an int of less than 30 bits lies in memory, from 3.10 to 3.14 at least; see [`reads_in_place`].
#[repr(C)]
struct Small {
    head: ffi::PyObject,
    tag: usize,
    digit: u32,
}

/// The tags of a zero and of a positive int of one digit.
const ZERO: usize = if cfg!(Py_3_12) { 1 } else { 0 };
const ONE_DIGIT: usize = if cfg!(Py_3_12) { 1 << 3 } else { 1 };

/// The value of an int from 0 to 2^30 - 1; `None` for any other object.
///
/// # Safety
/// `object` is alive, the GIL is held, and [`reads_in_place`] is true.
#[inline]
pub(super) unsafe fn small(object: *mut ffi::PyObject) -> Option<u32> {
    // SAFETY: an object has a type. An exact int is at least as large as `Small`, which is laid out as it is.
    unsafe {
        if ffi::PyLong_CheckExact(object) == 0 {
            return None;
        }
        let int = object.cast::<Small>();
        match (*int).tag {
            ONE_DIGIT => Some((*int).digit),
            ZERO => Some(0),
            _ => None,
        }
    }
}

/// Whether ints of this interpreter lie in memory as [`Small`] has them: tried once, on some of each kind.
/// Without a GIL a list cannot be read in place anyway.
pub(super) fn reads_in_place(py: Python<'_>) -> bool {
    const UNTRIED: u8 = 2;
    // No cell that a thread fills while others wait: a child may be forked meanwhile. Trying twice does no harm.
    static FOUND: AtomicU8 = AtomicU8::new(UNTRIED);
    if FOUND.load(Relaxed) == UNTRIED {
        FOUND.store(u8::from(try_layout(py)), Relaxed);
    }
    FOUND.load(Relaxed) == 1
}

#[cold]
fn try_layout(py: Python<'_>) -> bool {
    let read = |value: i64| -> Option<Option<u32>> {
        let int = value.into_pyobject(py).ok()?;
        // SAFETY: it is alive, and the GIL is held. That the layout is right is being tried: wrong values
        // may be read, but from within the object, whose size is looked at first.
        Some(unsafe { small(int.as_ptr()) })
    };
    // SAFETY: the type of ints is always there.
    let size = unsafe { (*std::ptr::addr_of!(ffi::PyLong_Type)).tp_basicsize };
    let small = [0, 1, 7, 255, 256, 257, 0x7fff, 0x8000, 0x1234_5678, (1 << 30) - 1];
    let other = [-1, -7, -0x1234_5678, 1 << 30, (1 << 32) + 5, 1 << 60, i64::MIN, i64::MAX];
    !cfg!(Py_GIL_DISABLED)
        && size as usize == std::mem::offset_of!(Small, digit)
        && small.iter().all(|&value| read(value) == Some(Some(value as u32)))
        && other.iter().all(|&value| read(value) == Some(None))
}
