//! Advice to the system about large memory.
#![allow(unsafe_code)] // a system call

/// Memory from here on is worth the advice; below it a page or two of 2 MB are not.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;
/// Advice is given for whole pages of this size.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Says that all of the `len` bytes at `start`, newly allocated, will be written soon. Where that is much memory,
/// the system may give it in large pages: a fifth of the time that as many small ones take at their first use.
#[inline]
pub(crate) fn will_fill(start: *mut u8, len: usize) {
    #[cfg(target_os = "linux")]
    if len >= LARGE {
        let skip = start.align_offset(PAGE);
        let whole = len.saturating_sub(skip) & !(PAGE - 1);
        // SAFETY: advice about memory that the caller has; it changes nothing that a program can see. What
        // the system answers does not matter.
        unsafe { libc::madvise(start.wrapping_add(skip).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}
