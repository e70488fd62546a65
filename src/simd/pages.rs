//! Large pages for large tables.

/// Tables from this size on are worth it.
const HUGE_PAGE: usize = 2 << 20;

/// `count` copies of `item`, in large pages where the system has them: a table of megabytes that is read at random
/// spends more time on finding its small pages than on reading. Asked for before the memory is first written to, since
/// pages are not made larger later.
pub(crate) fn in_large_pages<T: Copy>(item: T, count: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(count);
    advise(&items);
    items.resize(count, item);
    items
}

#[cfg(target_os = "linux")]
fn advise<T>(items: &Vec<T>) {
    let bytes = items.capacity() * size_of::<T>();
    if bytes < HUGE_PAGE {
        return;
    }
    // Whole large pages alone: those at the two ends may be shared with other memory.
    let start = (items.as_ptr() as usize).next_multiple_of(HUGE_PAGE);
    let end = (items.as_ptr() as usize + bytes) & !(HUGE_PAGE - 1);
    if start < end {
        let address = items.as_ptr().with_addr(start).cast_mut().cast();
        // SAFETY: a hint, about pages that lie wholly in memory that `items` owns. It changes no contents, and an
        // error means that there are no large pages, which is no harm.
        unsafe { libc::madvise(address, end - start, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &Vec<T>) {
    let _ = HUGE_PAGE;
}
