//! Large memory in large pages.
#![allow(unsafe_code)] // a system call

/// Memory from here on is worth the advice; below it a page or two of 2 MB are not.
const LARGE: usize = 4 << 20;
/// Advice is given for whole pages of this size.
const PAGE: usize = 2 << 20;

/// Says that all of the `len` bytes at `start`, newly allocated, will be written soon. Where that is much memory,
/// the system may give it in large pages: a fifth of the time that as many small ones take at their first use.
#[inline]
pub(crate) fn will_fill(start: *mut u8, len: usize) {
    if len >= LARGE {
        large_pages(start, len);
    }
}

/// Asks for large pages for those of the `len` bytes at `start` that make whole ones.
#[inline]
fn large_pages(start: *mut u8, len: usize) {
    #[cfg(target_os = "linux")]
    if len >= PAGE {
        let skip = start.align_offset(PAGE);
        let whole = len.saturating_sub(skip) & !(PAGE - 1);
        // SAFETY: advice about memory that the caller has; it changes nothing that a program can see. What
        // the system answers does not matter.
        unsafe { libc::madvise(start.wrapping_add(skip).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}

/// A table in large pages where the system has them: one of megabytes that is read at random spends more time on
/// finding its small pages than on reading.
#[derive(Clone, Debug)]
pub(crate) struct Table<T> {
    items: Vec<T>,
    /// Where the table begins: so that it begins with a page.
    start: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { items: Vec::new(), start: 0 }
    }
}

impl<T: Copy> Table<T> {
    /// `count` copies of `item`.
    pub(crate) fn new(item: T, count: usize) -> Self {
        let page = if count * size_of::<T>() < PAGE { 1 } else { PAGE / size_of::<T>() };
        let mut items: Vec<T> = Vec::with_capacity(count + page - 1);
        // Asked for before the memory is first written to: pages are not made larger later.
        let bytes = items.capacity() * size_of::<T>();
        large_pages(items.as_mut_ptr().cast(), bytes);
        let beyond = items.as_ptr() as usize / size_of::<T>() % page;
        let start = if beyond == 0 { 0 } else { page - beyond };
        items.resize(start + count, item);
        Table { items, start }
    }
}

impl<T> std::ops::Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items[self.start..]
    }
}

impl<T> std::ops::DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.start..]
    }
}
