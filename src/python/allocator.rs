//! The allocator of the extension module: the system's, with a reserve for when that has no memory left.
//!
//! Rust ends the process where a small allocation fails (a large one is an error: see [`crate::room`]). So some
//! address space is kept: where the system refuses, a piece of it is given back, and the system is asked again. What
//! runs then has some megabytes for its small allocations until it next looks at its [`crate::Control`], which ends it
//! with [`crate::Error::OutOfMemory`]. The next call takes the reserve anew.
//!
//! The reserve has no pages: it takes no memory but address space, or what the system counts as promised.
#![allow(unsafe_code)] // an allocator, and system calls

use std::alloc::{GlobalAlloc, Layout, System};

use crate::room::{self, LARGE_ALLOCATION_BYTES};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

struct Allocator;

// SAFETY: every call is handed to the system's allocator, with what it was called with, and what that returns is
// returned. Nothing here allocates or unwinds.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller promises.
        or_again(layout.size(), || unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller promises.
        or_again(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: what the caller promises; where it fails, the memory is as it was, so it may be tried again.
        or_again(size, || unsafe { System.realloc(memory, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: what the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Asks again, where the system has no memory, after a piece of the reserve was given back.
#[inline]
fn or_again(size: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let memory = ask();
    if memory.is_null() && size <= LARGE_ALLOCATION_BYTES { again(ask) } else { memory }
}

#[cold]
#[inline(never)]
fn again(ask: impl Fn() -> *mut u8) -> *mut u8 {
    while reserve::give_back() {
        room::set_short(true);
        let memory = ask();
        if !memory.is_null() {
            return memory;
        }
    }
    std::ptr::null_mut()
}

/// Takes the reserve, before the first call; and again before a call where another has used some of it.
#[inline]
pub(super) fn prepare() {
    if room::is_short() {
        restore();
    }
}

/// Takes what of the reserve is not there.
#[cold]
pub(super) fn restore() {
    if reserve::take() {
        room::set_short(false);
    }
}

/// Leaves memory to the interpreter, for the error that it is to raise.
#[cold]
pub(super) fn leave_some() {
    room::set_short(true);
    for _ in 0..INTERPRETER_PIECES {
        reserve::give_back();
    }
}

/// Sees to it that the interpreter has memory for some objects, of the reserve if there is no other: where it has none,
/// functions of the crates `pyo3` and `numpy` that make objects panic, or worse.
#[inline]
pub(super) fn leave_some_if_none() {
    let layout = Layout::new::<[u64; SMALL_OBJECTS_BYTES / size_of::<u64>()]>();
    // SAFETY: the layout has a size, and the memory goes back as it came.
    unsafe {
        let memory = System.alloc(layout);
        if memory.is_null() {
            return leave_some();
        }
        // Else a compiler may leave out both.
        System.dealloc(std::hint::black_box(memory), layout);
    }
}

/// Pieces for the interpreter, which asks for one or two at a time to make small objects of.
const INTERPRETER_PIECES: usize = 4;
/// Bytes of some small objects: where the interpreter has no memory of its own left, they come from the same heap. Few
/// enough that asking for them never makes the heap larger and smaller again.
const SMALL_OBJECTS_BYTES: usize = 8 << 10;

#[cfg(target_os = "linux")]
mod reserve {
    use std::ptr::null_mut;
    use std::sync::atomic::AtomicPtr;
    use std::sync::atomic::Ordering::{AcqRel, Acquire};

    use crate::room::LARGE_ALLOCATION_BYTES;

    /// Bytes of a piece: as much as an allocation that it is for, and what the allocator adds.
    const PIECE_BYTES: usize = LARGE_ALLOCATION_BYTES + (64 << 10);
    /// The fewest pieces to go on with.
    const MIN_PIECES: usize = 4;

    /// 17 MB; null for a piece that was given back.
    static PIECES: [AtomicPtr<libc::c_void>; 16] = [const { AtomicPtr::new(null_mut()) }; 16];

    /// So much address space, or null.
    fn map(bytes: usize) -> *mut libc::c_void {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, at a place that the system chooses; no memory in use changes.
        let memory = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
        if memory == libc::MAP_FAILED { null_mut() } else { memory }
    }

    fn unmap(memory: *mut libc::c_void, bytes: usize) {
        // SAFETY: `map` gave it out in this size, and nobody has used it.
        unsafe { libc::munmap(memory, bytes) };
    }

    /// Gives back a piece; `false` if there is none left.
    pub(super) fn give_back() -> bool {
        for piece in &PIECES {
            let memory = piece.swap(null_mut(), AcqRel);
            if !memory.is_null() {
                unmap(memory, PIECE_BYTES);
                return true;
            }
        }
        false
    }

    /// Takes all pieces that are not there; `false` if there are too few in the end.
    pub(super) fn take() -> bool {
        for piece in PIECES.iter().filter(|piece| piece.load(Acquire).is_null()) {
            let memory = map(PIECE_BYTES);
            if memory.is_null() {
                break;
            }
            // Another thread may have been faster.
            if piece.compare_exchange(null_mut(), memory, AcqRel, Acquire).is_err() {
                unmap(memory, PIECE_BYTES);
            }
        }
        PIECES.iter().filter(|piece| !piece.load(Acquire).is_null()).count() >= MIN_PIECES
    }
}

/// Elsewhere there is none.
#[cfg(not(target_os = "linux"))]
mod reserve {
    pub(super) fn give_back() -> bool {
        false
    }

    pub(super) fn take() -> bool {
        true
    }
}
