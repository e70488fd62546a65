//! Memory that follows the size of an input, allocated in a way that may fail.
//!
//! Rust aborts the process if an allocation fails. So all memory whose size follows an input is allocated by
//! the functions here, which return [`Error::OutOfMemory`]. For the many small allocations beside it, the
//! extension module keeps a reserve of address space, which its allocator releases once the system has no
//! memory left. Small allocations then still succeed, [`is_short`] returns `true`, and the call ends at its
//! next check of its [`crate::Control`].

use std::collections::TryReserveError;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::error::{Error, Result};

/// Bytes above which an allocation is large. Code that may need more calls the functions here, and an
/// allocator does not use its reserve for it.
pub const LARGE_ALLOCATION_BYTES: usize = 1 << 20;

/// Whether the allocator has released its reserve.
static RESERVE_IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether small allocations are served from the reserve. A running call should then end soon.
#[inline]
pub fn is_short() -> bool {
    RESERVE_IN_USE.load(Relaxed)
}

/// Records whether the allocator has released its reserve.
pub fn set_short(short: bool) {
    RESERVE_IN_USE.store(short, Relaxed);
}

/// The error of a failed allocation of `bytes` bytes.
#[cold]
pub(crate) fn out_of_memory(bytes: usize) -> Error {
    Error::OutOfMemory { bytes }
}

#[cold]
#[inline(never)]
fn grow<T>(vec: &mut Vec<T>, more: usize, exactly: bool) -> Result<()> {
    let result = if exactly { vec.try_reserve_exact(more) } else { vec.try_reserve(more) };
    result.or_else(|_| {
        // `try_reserve` may ask for twice the room; the exact amount can still be available.
        let needed = vec.len().saturating_add(more);
        let failed = |_: TryReserveError| out_of_memory(needed.saturating_mul(size_of::<T>()));
        vec.try_reserve_exact(more).map_err(failed)
    })
}

/// Fails if the system would not give `bytes` bytes now. Called before a value of many tables and lists is
/// built, whose total size is known approximately.
pub fn check_available(bytes: usize) -> Result<()> {
    if bytes <= LARGE_ALLOCATION_BYTES || could_have(bytes) { Ok(()) } else { Err(out_of_memory(bytes)) }
}

/// Whether the system would give the process `bytes` more bytes now.
#[allow(unsafe_code)] // system calls
fn could_have(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the system chooses the address of a new mapping, which is removed again unused; no memory
        // in use changes.
        unsafe {
            let memory = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
            memory != libc::MAP_FAILED && libc::munmap(memory, bytes) == 0
        }
    }
    #[cfg(not(target_os = "linux"))]
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// Makes room for `more` items, and doubles the capacity if the system has the memory.
///
/// # Errors
/// [`Error::OutOfMemory`]; the vector is unchanged.
#[inline]
pub fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    if vec.capacity() - vec.len() < more { grow(vec, more, false) } else { Ok(()) }
}

/// Makes room for exactly `more` items.
#[inline]
pub(crate) fn reserve_exact<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    if vec.capacity() - vec.len() < more { grow(vec, more, true) } else { Ok(()) }
}

/// An empty vector with room for `count` items.
pub fn for_items<T>(count: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    reserve_exact(&mut vec, count)?;
    Ok(vec)
}

/// `count` copies of an item.
pub fn filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>> {
    let mut vec = for_items(count)?;
    vec.resize(count, item);
    Ok(vec)
}

/// A copy of `items`.
pub(crate) fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut vec = for_items(items.len())?;
    vec.extend_from_slice(items);
    Ok(vec)
}

/// Appends an item.
#[inline]
pub fn push<T>(vec: &mut Vec<T>, item: T) -> Result<()> {
    reserve(vec, 1)?;
    vec.push(item);
    Ok(())
}

/// Appends items.
#[inline]
pub fn extend<T: Copy>(vec: &mut Vec<T>, items: &[T]) -> Result<()> {
    reserve(vec, items.len())?;
    vec.extend_from_slice(items);
    Ok(())
}

/// Makes a vector `len` items long: leaves out the last ones, or appends default items.
pub(crate) fn resize<T: Clone + Default>(vec: &mut Vec<T>, len: usize) -> Result<()> {
    reserve_exact(vec, len.saturating_sub(vec.len()))?;
    vec.resize(len, T::default());
    Ok(())
}

/// Collects an iterator into a vector.
pub fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut vec = for_items(items.size_hint().0)?;
    for item in items {
        push(&mut vec, item)?;
    }
    Ok(vec)
}

/// Makes room for exactly `more` bytes of text.
///
/// # Errors
/// [`Error::OutOfMemory`]; the text is unchanged.
pub(crate) fn reserve_text(text: &mut String, more: usize) -> Result<()> {
    text.try_reserve_exact(more).map_err(|_| out_of_memory(text.len().saturating_add(more)))
}

/// Makes room for `more` bytes of text, and doubles the capacity if the system has the memory.
#[inline]
pub(crate) fn grow_text(text: &mut String, more: usize) -> Result<()> {
    text.try_reserve(more).or_else(|_| reserve_text(text, more))
}

/// Appends text.
#[inline]
pub(crate) fn push_text(text: &mut String, more: &str) -> Result<()> {
    grow_text(text, more.len())?;
    text.push_str(more);
    Ok(())
}

/// A copy of a text.
pub fn text(text: &str) -> Result<String> {
    let mut copy = String::new();
    reserve_text(&mut copy, text.len())?;
    copy.push_str(text);
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_errors_and_change_nothing() {
        let mut items = vec![1_u64, 2, 3];
        let too_many = usize::MAX / 64;
        for result in [
            reserve(&mut items, too_many),
            reserve_exact(&mut items, too_many),
            reserve(&mut items, usize::MAX),
            for_items::<u64>(too_many).map(drop),
            filled(0_u64, too_many).map(drop),
            collected((0..).take(too_many)).map(drop),
        ] {
            assert!(matches!(result, Err(Error::OutOfMemory { bytes }) if bytes >= too_many), "{result:?}");
        }
        assert_eq!(items, [1, 2, 3]);
    }
}
