//! Python's ints as ids: made once and shared, and read in place.
#![allow(unsafe_code)] // does what the macros of CPython's C API do

use std::ffi::c_ulong;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering::Relaxed};

use pyo3::ffi;
use pyo3::prelude::*;

/// Ids below this share their int objects. All of them take 8 MB, and 2 MB for the table; memory is used only
/// for the ids that occur.
const SHARED_INTS: usize = if cfg!(Py_GIL_DISABLED) { 0 } else { 1 << 18 };
/// Ids below this share theirs from the first list on: frequent tokens, in 16 pages of the table. If all did,
/// nearly each id of a first short text would touch a new page, which takes as long as making a hundred ints.
const FIRST_SHARED_INTS: usize = if cfg!(Py_GIL_DISABLED) { 0 } else { 1 << 13 };
/// Other ids share theirs after as many ints were made for one use.
const MAX_UNSHARED_INTS: usize = 1 << 15;

/// The int object of each id that has occurred, kept for ever; null for others. The table is all zeros at
/// first, so its pages take no memory before they are used. `Relaxed` is enough, since the GIL is held for
/// every access.
static INTS: [AtomicPtr<ffi::PyObject>; SHARED_INTS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; SHARED_INTS];
/// Ids below this share their int objects now.
static SHARED: AtomicUsize = AtomicUsize::new(FIRST_SHARED_INTS);
/// How many ints of other ids were made.
static UNSHARED: AtomicUsize = AtomicUsize::new(0);

/// A new reference to the int of a value; null with an exception set if it cannot be made.
///
/// Sharing an int takes a fifth of the time of making one, and the list that holds it is freed faster.
#[inline]
pub(super) fn new_reference(_py: Python<'_>, id: u32) -> *mut ffi::PyObject {
    if let Some(entry) = shared(id) {
        let int = entry.load(Relaxed);
        if !int.is_null() {
            // SAFETY: the table holds a reference for ever, so the object is alive; the GIL is held.
            unsafe { ffi::Py_INCREF(int) };
            return int;
        }
    }
    first_reference(id)
}

/// The entry of an id that shares its int object.
#[inline]
fn shared(id: u32) -> Option<&'static AtomicPtr<ffi::PyObject>> {
    if id as usize >= SHARED.load(Relaxed) { None } else { INTS.get(id as usize) }
}

/// Makes the int of an id and puts it into the table, if it is to be shared.
#[cold]
fn first_reference(id: u32) -> *mut ffi::PyObject {
    // SAFETY: the GIL is held, as the token of the caller proves.
    let int = unsafe { ffi::PyLong_FromUnsignedLong(c_ulong::from(id)) };
    if let Some(entry) = shared(id)
        && !int.is_null()
    {
        // SAFETY: `int` is an object, and the GIL is held. The table keeps this second reference.
        unsafe { ffi::Py_INCREF(int) };
        entry.store(int, Relaxed);
    } else if (id as usize) < SHARED_INTS {
        let unshared = UNSHARED.load(Relaxed) + 1;
        UNSHARED.store(unshared, Relaxed);
        if unshared > MAX_UNSHARED_INTS {
            SHARED.store(SHARED_INTS, Relaxed);
        }
    }
    int
}

/// The memory layout of an int below 2^30 in CPython 3.10 to 3.14, and perhaps later; [`reads_in_place`]
/// checks it.
#[repr(C)]
struct Small {
    head: ffi::PyObject,
    tag: usize,
    digit: u32,
}

/// The tag of an int that is zero.
const ZERO: usize = if cfg!(Py_3_12) { 1 } else { 0 };
/// The tag of a positive int of one digit.
const ONE_DIGIT: usize = if cfg!(Py_3_12) { 1 << 3 } else { 1 };

/// The value of an int from 0 to 2^30 - 1; `None` for any other object.
///
/// # Safety
/// `object` must be alive, the GIL must be held, and [`reads_in_place`] must have returned true.
#[inline]
pub(super) unsafe fn small(object: *mut ffi::PyObject) -> Option<u32> {
    // SAFETY: the object is alive, so it has a type. An exact int is at least as large as `Small` and has its
    // layout, which `reads_in_place` has checked.
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

/// Whether the ints of this interpreter have the layout of [`Small`]; checked once, with some ints of each
/// kind. Always false without a GIL, since lists cannot be read in place there.
pub(super) fn reads_in_place(py: Python<'_>) -> bool {
    const UNTRIED: u8 = 2;
    // An atomic, and not a cell on which other threads wait while one fills it: a child may be forked
    // meanwhile. It does no harm to check twice.
    static STATE: AtomicU8 = AtomicU8::new(UNTRIED);
    if STATE.load(Relaxed) == UNTRIED {
        STATE.store(u8::from(try_layout(py)), Relaxed);
    }
    STATE.load(Relaxed) == 1
}

/// Reads some ints and compares their values.
#[cold]
fn try_layout(py: Python<'_>) -> bool {
    let read = |value: i64| -> Option<Option<u32>> {
        let int = value.into_pyobject(py).ok()?;
        // SAFETY: the object is alive, and the GIL is held. The layout is what is being checked: a wrong one
        // gives wrong values, but they are read from within the object, whose size is checked first.
        Some(unsafe { small(int.as_ptr()) })
    };
    // SAFETY: the type object of int always exists.
    let size = unsafe { (*std::ptr::addr_of!(ffi::PyLong_Type)).tp_basicsize };
    let small = [0, 1, 7, 255, 256, 257, 0x7fff, 0x8000, 0x1234_5678, (1 << 30) - 1];
    let other = [-1, -7, -0x1234_5678, 1 << 30, (1 << 32) + 5, 1 << 60, i64::MIN, i64::MAX];
    !cfg!(Py_GIL_DISABLED)
        && size as usize == std::mem::offset_of!(Small, digit)
        && small.iter().all(|&value| read(value) == Some(Some(value as u32)))
        && other.iter().all(|&value| read(value) == Some(None))
}
