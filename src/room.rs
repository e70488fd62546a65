//! Memory that follows the size of an input, allocated in a way that may fail.
//!
//! Rust aborts the process where an allocation fails. So all memory that may become large is allocated by the
//! functions here, which return [`Error::OutOfMemory`]. For the many small allocations beside it, the extension
//! module keeps a reserve of address space, which its allocator releases once the system has no memory left. Then
//! those allocations succeed, [`is_short`] says so, and the call ends at its next check of its [`crate::Control`].

use std::collections::TryReserveError;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::error::{Error, Result};

/// Allocations of more bytes than this are large: code that may need so much calls the functions here, and an
/// allocator's reserve is not for them.
pub(crate) const LARGE_ALLOCATION_BYTES: usize = 1 << 20;

/// Whether the allocator has released its reserve.
static RESERVE_IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether small allocations are served from the reserve: then the call that runs should end soon.
#[inline]
pub(crate) fn is_short() -> bool {
    RESERVE_IN_USE.load(Relaxed)
}

/// Notes whether the allocator has released its reserve.
#[cfg_attr(not(feature = "python"), expect(dead_code, reason = "the extension module alone has a reserve"))]
pub(crate) fn set_short(short: bool) {
    RESERVE_IN_USE.store(short, Relaxed);
}

/// The error of an allocation of so many bytes that failed.
#[cold]
pub(crate) fn out_of_memory(bytes: usize) -> Error {
    Error::OutOfMemory { bytes }
}

#[cold]
#[inline(never)]
fn grow<T>(vec: &mut Vec<T>, more: usize, exactly: bool) -> Result<()> {
    let found = if exactly { vec.try_reserve_exact(more) } else { vec.try_reserve(more) };
    found.or_else(|_| {
        // Twice the room is refused where just enough of it may be had.
        let needed = vec.len().saturating_add(more);
        let failed = |_: TryReserveError| out_of_memory(needed.saturating_mul(size_of::<T>()));
        vec.try_reserve_exact(more).map_err(failed)
    })
}

/// Fails where the system would not give so much memory now. For values that are made of many tables and lists, whose
/// sizes are known, about, before the first of them is allocated.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn check_available(bytes: usize) -> Result<()> {
    if bytes <= LARGE_ALLOCATION_BYTES || could_have(bytes) { Ok(()) } else { Err(out_of_memory(bytes)) }
}

/// Whether the system would give so much memory now, beside what the process has.
#[allow(unsafe_code)] // system calls
fn could_have(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, at a place that the system chooses, is taken and given back; no memory in use changes.
        unsafe {
            let memory = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
            memory != libc::MAP_FAILED && libc::munmap(memory, bytes) == 0
        }
    }
    #[cfg(not(target_os = "linux"))]
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// Makes room for so many more items, and for as many again later where that is to be had.
///
/// # Errors
/// [`Error::OutOfMemory`]; the items are as they were.
#[inline]
pub(crate) fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    if vec.capacity() - vec.len() < more { grow(vec, more, false) } else { Ok(()) }
}

/// Makes room for so many more items and no more.
///
/// # Errors
/// As [`reserve`].
#[inline]
pub(crate) fn reserve_exact<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    if vec.capacity() - vec.len() < more { grow(vec, more, true) } else { Ok(()) }
}

/// An empty vector with room for so many items.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn for_items<T>(count: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    reserve_exact(&mut vec, count)?;
    Ok(vec)
}

/// `count` copies of an item.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>> {
    let mut vec = for_items(count)?;
    vec.resize(count, item);
    Ok(vec)
}

/// A copy of some items.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut vec = for_items(items.len())?;
    vec.extend_from_slice(items);
    Ok(vec)
}

/// Appends an item.
///
/// # Errors
/// As [`reserve`].
#[inline]
pub(crate) fn push<T>(vec: &mut Vec<T>, item: T) -> Result<()> {
    reserve(vec, 1)?;
    vec.push(item);
    Ok(())
}

/// Appends items.
///
/// # Errors
/// As [`reserve`].
#[inline]
pub(crate) fn extend<T: Copy>(vec: &mut Vec<T>, items: &[T]) -> Result<()> {
    reserve(vec, items.len())?;
    vec.extend_from_slice(items);
    Ok(())
}

/// The items of an iterator, in a vector.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut vec = for_items(items.size_hint().0)?;
    for item in items {
        push(&mut vec, item)?;
    }
    Ok(vec)
}

/// Makes room for so many more bytes of text.
///
/// # Errors
/// [`Error::OutOfMemory`]; the text is as it was.
pub(crate) fn reserve_text(text: &mut String, more: usize) -> Result<()> {
    text.try_reserve_exact(more).map_err(|_| out_of_memory(text.len().saturating_add(more)))
}

/// Makes room for so many more bytes of text, and for as many again later where the system has them.
///
/// # Errors
/// As [`reserve_text`].
#[inline]
pub(crate) fn grow_text(text: &mut String, more: usize) -> Result<()> {
    if text.capacity() - text.len() >= more {
        return Ok(());
    }
    text.try_reserve(more).or_else(|_| reserve_text(text, more))
}

/// A copy of a text.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn text(text: &str) -> Result<String> {
    let mut copy = String::new();
    reserve_text(&mut copy, text.len())?;
    copy.push_str(text);
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_system_has_is_an_error_and_changes_nothing() {
        let mut items = vec![1_u64, 2, 3];
        let most = usize::MAX / 64;
        for found in [
            reserve(&mut items, most),
            reserve_exact(&mut items, most),
            reserve(&mut items, usize::MAX),
            for_items::<u64>(most).map(drop),
            filled(0_u64, most).map(drop),
            collected((0..).take(most)).map(drop),
        ] {
            assert!(matches!(found, Err(Error::OutOfMemory { bytes }) if bytes >= most), "{found:?}");
        }
        assert_eq!(items, [1, 2, 3]);
    }

    #[test]
    fn what_there_is_room_for_is_there() {
        let mut items = copied(&[1, 2, 3]).unwrap();
        push(&mut items, 4).unwrap();
        extend(&mut items, &[5, 6]).unwrap();
        assert_eq!(items, collected(1..7).unwrap());
        assert_eq!(filled(7, 3).unwrap(), [7, 7, 7]);
        assert_eq!(text("abé").unwrap(), "abé");
    }
}
