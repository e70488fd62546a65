//! The allocator of the extension module: the system's allocator, with a reserve for when the system has no
//! memory left.
//!
//! Rust aborts the process if a small allocation fails (a large one is an error, see [`toksmith::room`]). So
//! some address space is reserved. When the system refuses an allocation, a block of the reserve is given
//! back and the allocation is tried again. The running call then has some megabytes for small allocations
//! until it next checks its [`toksmith::Control`], which ends it with [`toksmith::Error::OutOfMemory`]. The
//! next call takes the reserve again.
//!
//! The reserve only uses address space, without pages in physical memory. Where the system limits promised
//! memory, the reserve counts towards that limit.
#![allow(unsafe_code)] // implements an allocator, and calls the system

use std::alloc::{GlobalAlloc, Layout, System};

use toksmith::room::{self, LARGE_ALLOCATION_BYTES};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

struct Allocator;

// SAFETY: every method passes its arguments to the system's allocator and returns its result, so the
// guarantees of `System` hold here. Nothing here unwinds, and the reserve is handled by system calls that do
// not allocate through this allocator.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, and the arguments are the same.
        or_again(layout.size(), || unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, and the arguments are the same.
        or_again(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`, and the arguments are the same. A failed call
        // leaves the memory unchanged, so it can be repeated.
        or_again(size, || unsafe { System.realloc(memory, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and the arguments are the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Allocates by `ask`. If that fails for a small allocation, gives back blocks of the reserve and tries
/// again.
#[inline]
fn or_again(size: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let memory = ask();
    if memory.is_null() && size <= LARGE_ALLOCATION_BYTES { again(ask) } else { memory }
}

/// Gives back one block of the reserve after the other until `ask` succeeds.
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

/// Takes the reserve again if an earlier call has used some of it. Called before the work of a call.
#[inline]
pub(super) fn prepare() {
    if room::is_short() {
        restore();
    }
}

/// Takes the blocks of the reserve that are missing.
#[cold]
pub(super) fn restore() {
    if reserve::take() {
        room::set_short(false);
    }
}

/// Gives blocks of the reserve to the interpreter, for the exception that it is going to raise.
#[cold]
pub(super) fn leave_some() {
    room::set_short(true);
    for _ in 0..INTERPRETER_BLOCKS {
        reserve::give_back();
    }
}

/// Makes sure that the interpreter has memory for some objects, from the reserve if necessary. Without
/// memory, functions of the crates `pyo3` and `numpy` that make objects panic or worse.
#[inline]
pub(super) fn leave_some_if_none() {
    let layout = Layout::new::<[u64; SMALL_OBJECTS_BYTES / size_of::<u64>()]>();
    // SAFETY: the layout has a size above zero, and the memory is freed with the same layout.
    unsafe {
        let memory = System.alloc(layout);
        if memory.is_null() {
            return leave_some();
        }
        // `black_box` keeps the compiler from removing both calls.
        System.dealloc(std::hint::black_box(memory), layout);
    }
}

/// Blocks that are given to the interpreter, which needs one or two at a time for its small objects.
const INTERPRETER_BLOCKS: usize = 4;
/// Bytes that must be available for some small objects of the interpreter. These objects come from the same
/// heap once the interpreter's own memory is used up. The size is small enough that the allocation does not
/// make the heap grow and shrink.
const SMALL_OBJECTS_BYTES: usize = 8 << 10;

#[cfg(target_os = "linux")]
mod reserve {
    use std::ptr::null_mut;
    use std::sync::atomic::AtomicPtr;
    use std::sync::atomic::Ordering::{AcqRel, Acquire};

    use toksmith::room::LARGE_ALLOCATION_BYTES;

    /// Bytes of a block: the largest allocation that the reserve serves, and a margin for what the allocator
    /// adds.
    const BLOCK_BYTES: usize = LARGE_ALLOCATION_BYTES + (64 << 10);
    /// With fewer blocks than this, the reserve counts as used.
    const MIN_BLOCKS: usize = 4;

    /// The blocks of the reserve, 17 MB together; null for a block that was given back.
    static BLOCKS: [AtomicPtr<libc::c_void>; 16] = [const { AtomicPtr::new(null_mut()) }; 16];

    /// Maps `bytes` bytes of address space; null if the system refuses.
    fn map(bytes: usize) -> *mut libc::c_void {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the system chooses the address of a new mapping; no memory in use changes.
        let memory = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
        if memory == libc::MAP_FAILED { null_mut() } else { memory }
    }

    fn unmap(memory: *mut libc::c_void, bytes: usize) {
        // SAFETY: `map` returned this memory with this size, and nothing has used it.
        unsafe { libc::munmap(memory, bytes) };
    }

    /// Gives back a block; returns `false` if none is left.
    pub(super) fn give_back() -> bool {
        for block in &BLOCKS {
            let memory = block.swap(null_mut(), AcqRel);
            if !memory.is_null() {
                unmap(memory, BLOCK_BYTES);
                return true;
            }
        }
        false
    }

    /// Takes all missing blocks; returns `false` if there are fewer than [`MIN_BLOCKS`] afterwards.
    pub(super) fn take() -> bool {
        for block in BLOCKS.iter().filter(|block| block.load(Acquire).is_null()) {
            let memory = map(BLOCK_BYTES);
            if memory.is_null() {
                break;
            }
            // Another thread may have set the block in the meantime.
            if block.compare_exchange(null_mut(), memory, AcqRel, Acquire).is_err() {
                unmap(memory, BLOCK_BYTES);
            }
        }
        BLOCKS.iter().filter(|block| !block.load(Acquire).is_null()).count() >= MIN_BLOCKS
    }
}

/// On other systems there is no reserve.
#[cfg(not(target_os = "linux"))]
mod reserve {
    pub(super) fn give_back() -> bool {
        false
    }

    pub(super) fn take() -> bool {
        true
    }
}
