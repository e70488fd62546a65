//! Large pages for large tables.

/// Tables from this size on are worth it.
const HUGE_PAGE: usize = 2 << 20;

/// A table in large pages where the system has them: one of megabytes that is read at random spends more time on
/// finding its small pages than on reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table<T> {
    items: Vec<T>,
    /// Where the table begins: so that it begins with a page.
    start: usize,
}

impl<T: Copy> Table<T> {
    /// `count` copies of `item`.
    pub(crate) fn new(item: T, count: usize) -> Self {
        let page = if count * size_of::<T>() < HUGE_PAGE { 1 } else { HUGE_PAGE / size_of::<T>() };
        let mut items = Vec::with_capacity(count + page - 1);
        // Asked for before the memory is first written to: pages are not made larger later.
        advise(&items);
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
