//! Large tables, zeroed and aligned to cache lines, in huge pages if the system provides them.
#![allow(unsafe_code)] // calls `madvise`, `sysconf` and `malloc_trim`, and reads zeroed memory as values

use std::alloc::{Layout, alloc_zeroed};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::room;

/// Allocations of fewer bytes are not advised: they hold at most two huge pages, which gains too little.
const HUGE_PAGE_MIN_BYTES: usize = 4 << 20;
/// The size of a huge page on x86-64 and on most other systems. Advice is given for whole pages only.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A huge page that takes longer to map is slow: where memory is at hand it takes a tenth of this.
const SLOW_HUGE_PAGE: Duration = Duration::from_millis(1);
/// Whether mapping a huge page was slow. A virtual machine that gives free memory back to its host takes 5 ms
/// for a huge page: seven times as long as for the same memory in small pages.
static HUGE_PAGES_ARE_SLOW: AtomicBool = AtomicBool::new(false);

/// Advises the system that all of the `len` bytes at `start`, newly allocated, will be written soon. The
/// system may then map the memory in huge pages, whose first use takes a fifth of the time of small pages.
#[inline]
pub fn advise_huge_pages(start: *mut u8, len: usize) {
    if len >= HUGE_PAGE_MIN_BYTES && !HUGE_PAGES_ARE_SLOW.load(Relaxed) {
        large_pages(start, len);
    }
}

/// Maps the whole huge pages of zeroed memory that was never written to. Where huge pages are slow, it maps
/// small ones, which the system may collapse later.
fn map_pages(memory: &mut [u64]) {
    let skip = memory.as_ptr().align_offset(HUGE_PAGE_BYTES).min(memory.len());
    for page in memory[skip..].chunks_exact_mut(HUGE_PAGE_BYTES / WORD_BYTES) {
        if HUGE_PAGES_ARE_SLOW.load(Relaxed) {
            page.iter_mut().step_by(SMALL_PAGE_BYTES / WORD_BYTES).for_each(write_zero);
            large_pages(page.as_mut_ptr().cast(), HUGE_PAGE_BYTES);
        } else {
            large_pages(page.as_mut_ptr().cast(), HUGE_PAGE_BYTES);
            let start = Instant::now();
            page.first_mut().into_iter().for_each(write_zero);
            if start.elapsed() > SLOW_HUGE_PAGE {
                HUGE_PAGES_ARE_SLOW.store(true, Relaxed);
            }
        }
    }
}

/// Writes a zero, even where the compiler knows that there is one.
fn write_zero(word: &mut u64) {
    *word = std::hint::black_box(0);
}

/// Asks for huge pages wherever a whole huge page lies within the `len` bytes at `start`.
#[inline]
fn large_pages(start: *mut u8, len: usize) {
    #[cfg(target_os = "linux")]
    if len >= HUGE_PAGE_BYTES {
        let skip = start.align_offset(HUGE_PAGE_BYTES);
        let whole = len.saturating_sub(skip) & !(HUGE_PAGE_BYTES - 1);
        // SAFETY: `MADV_HUGEPAGE` changes neither the contents nor the validity of memory, so any range may
        // be passed. An error means only that the pages stay small.
        unsafe { libc::madvise(start.wrapping_add(skip).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}

/// Gives the memory of unused capacity back to the system, in whole pages; the capacity stays. Shrinking a
/// vector of items that are aligned to more than 16 bytes would copy it.
pub(crate) fn release_unused<T>(vec: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        let unused = vec.spare_capacity_mut();
        let (start, len) = (unused.as_mut_ptr().cast::<u8>(), size_of_val(unused));
        // SAFETY: `sysconf` only returns a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
        let skip = start.align_offset(page);
        let whole = len.saturating_sub(skip) / page * page;
        if whole > 0 {
            // SAFETY: the pages lie within memory that the allocator has given to this vector, and hold no
            // item. `MADV_DONTNEED` replaces what is in them by zeros.
            unsafe { libc::madvise(start.wrapping_add(skip).cast(), whole, libc::MADV_DONTNEED) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    vec.shrink_to_fit();
}

/// Gives memory that was freed back to the system. The C library keeps up to 64 MB of it at the end of its
/// heap, and what lies between other allocations.
pub(crate) fn release_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function only looks at free memory of the C library, and takes its locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// `count` zeros. The system zeroes large allocations itself, so their pages are not touched here.
pub(crate) fn zeros<T: Zeroed>(count: usize) -> Result<Vec<T>> {
    let Some(layout) = Layout::array::<T>(count).ok().filter(|layout| layout.size() > 0) else {
        return if count == 0 { Ok(Vec::new()) } else { Err(room::out_of_memory(usize::MAX)) };
    };
    // SAFETY: the layout has a size above zero. The memory comes from the global allocator with the layout of
    // an array of `count` items, and it is zeroed, which is a valid value of a `Zeroed` type.
    unsafe {
        let memory = alloc_zeroed(layout);
        if memory.is_null() {
            return Err(room::out_of_memory(layout.size()));
        }
        Ok(Vec::from_raw_parts(memory.cast(), count, count))
    }
}

/// A table of `count` items, in huge pages if the system provides them: random reads of a table of megabytes
/// spend more time on translating the addresses of small pages than on reading. A table of 2 MB or more
/// begins at a huge page, a smaller one at a cache line.
#[derive(Debug)]
pub(crate) struct LargeTable<T> {
    memory: Vec<u64>,
    /// The index of the word of `memory` in which the first item begins.
    first: usize,
    count: usize,
    items: PhantomData<T>,
}

/// A type for which zero bytes are a valid value.
///
/// # Safety
/// `size_of::<Self>()` zero bytes must be a valid value of the type.
pub(crate) unsafe trait Zeroed: Copy {}

// SAFETY: 0 is a valid number.
unsafe impl Zeroed for u8 {}
// SAFETY: 0 is a valid number.
unsafe impl Zeroed for u16 {}
// SAFETY: 0 is a valid number.
unsafe impl Zeroed for u32 {}
// SAFETY: 0 is a valid number.
unsafe impl Zeroed for u64 {}

/// The smallest page of any system.
const SMALL_PAGE_BYTES: usize = 1 << 12;
/// Bytes of a cache line on x86-64 and on most aarch64 machines.
const CACHE_LINE_BYTES: usize = 64;
const WORD_BYTES: usize = size_of::<u64>();

impl<T: Copy> LargeTable<T> {
    /// `count` copies of `item`, written at once.
    ///
    /// They are written even if they are zeros. If zeroed memory is read before it is written, the system
    /// maps each page twice, and the second mapping interrupts all threads of the process: in a training on
    /// two threads that took 5 ms of 115.
    pub(crate) fn new(item: T, count: usize) -> Self {
        Self::unwritten(count).written(item)
    }

    /// [`LargeTable::new`] that reports a failed allocation.
    pub(crate) fn try_new(item: T, count: usize) -> Result<Self> {
        Ok(Self::within(zeros(Self::words(count))?, count).written(item))
    }

    fn written(mut self, item: T) -> Self {
        let item = std::hint::black_box(item); // otherwise the compiler leaves out writes of zeros
        let first = self.memory[self.first..].as_mut_ptr().cast::<T>();
        for part in Self::parts(self.count) {
            self.map(part.clone());
            for at in part {
                // SAFETY: `LargeTable::within` has made sure that `count` aligned items fit after `first`.
                unsafe { first.add(at).write(item) };
            }
        }
        self
    }

    /// `count` items of zeros, all of which will be used.
    pub(crate) fn zeroed(count: usize) -> Self
    where
        T: Zeroed,
    {
        let mut table = Self::unwritten(count);
        table.map(0..count);
        table
    }

    /// [`LargeTable::zeroed`] that reports a failed allocation, and leaves it to [`LargeTable::map`] to map
    /// the memory.
    pub(crate) fn try_unmapped(count: usize) -> Result<Self>
    where
        T: Zeroed,
    {
        Ok(Self::within(zeros(Self::words(count))?, count))
    }

    /// The items of a table of `count` by huge pages, for [`LargeTable::map`].
    pub(crate) fn parts(count: usize) -> impl Iterator<Item = Range<usize>> {
        let items = HUGE_PAGE_BYTES / size_of::<T>();
        (0..count).step_by(items).map(move |start| start..(start + items).min(count))
    }

    /// Maps the memory of some items that are not written yet: in huge pages until a slow one, then in small
    /// ones. Best done just before they are written, since a page is in a near cache then.
    pub(crate) fn map(&mut self, items: Range<usize>) {
        let word = |item: usize| self.first + (item * size_of::<T>()).div_ceil(WORD_BYTES);
        let words = word(items.start)..word(items.end);
        map_pages(&mut self.memory[words]);
    }

    /// A table in zeroed memory. The caller writes all items if zeros are not a value of `T`.
    fn unwritten(count: usize) -> Self {
        Self::within(vec![0; Self::words(count)], count)
    }

    /// The alignment of the first of `count` items.
    fn align(count: usize) -> usize {
        if count * size_of::<T>() < HUGE_PAGE_BYTES { CACHE_LINE_BYTES } else { HUGE_PAGE_BYTES }
    }

    /// Words that hold `count` items wherever they begin.
    fn words(count: usize) -> usize {
        (count * size_of::<T>() + Self::align(count)).div_ceil(WORD_BYTES)
    }

    /// A table in `memory`, which is zeroed, holds at least [`Self::words`],
    /// and was never written to: the system uses huge pages only for pages that are not mapped yet.
    fn within(memory: Vec<u64>, count: usize) -> Self {
        const { assert!(CACHE_LINE_BYTES.is_multiple_of(align_of::<T>())) }
        let first =
            (memory.as_ptr() as usize).next_multiple_of(Self::align(count)) - memory.as_ptr() as usize;
        LargeTable { memory, first: first / WORD_BYTES, count, items: PhantomData }
    }
}

impl<T: Copy> Default for LargeTable<T> {
    fn default() -> Self {
        Self::unwritten(0)
    }
}

impl<T> std::ops::Deref for LargeTable<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `within` placed `first` so that `count` items fit after it, at a multiple of a cache line,
        // which `align_of::<T>()` divides. All of them are valid: `new` and `try_new` wrote them, and the
        // other constructors require `T: Zeroed` or have no item. `memory` never changes its size.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(self.first).cast(), self.count) }
    }
}

impl<T> std::ops::DerefMut for LargeTable<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(self.first).cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: 0 is a valid number.
    unsafe impl Zeroed for [u64; 8] {}

    #[test]
    fn items_stay_where_unused_memory_is_released() {
        for kept in [0, 1, 511, 512, 1000, 99_999, 100_000] {
            let mut items: Vec<u64> = (0..100_000).collect();
            items.truncate(kept);
            for _ in 0..2 {
                release_unused(&mut items);
                assert!(items.iter().copied().eq(0..kept as u64));
                items.extend(kept as u64..kept as u64 + 50_000);
                items.truncate(kept);
            }
        }
    }

    #[test]
    fn tables_of_all_sizes_are_aligned_and_initialized() {
        let in_page = HUGE_PAGE_BYTES / 64;
        let counts = [1, 2, 1000, in_page - 1, in_page, in_page + 1, 3 * in_page + 7];
        // The second time in small pages.
        for (are_slow, count) in [false, true].into_iter().flat_map(|slow| counts.map(|count| (slow, count)))
        {
            HUGE_PAGES_ARE_SLOW.store(are_slow, Relaxed);
            let mut zeros = LargeTable::<[u64; 8]>::zeroed(count);
            let mut ones = LargeTable::new([1_u64; 8], count);
            assert_eq!((zeros.len(), ones.len()), (count, count));
            assert!(zeros.iter().all(|item| *item == [0; 8]) && ones.iter().all(|item| *item == [1; 8]));
            zeros[count - 1][7] = 2;
            ones[count - 1][7] = 2;
            let align = if count * 64 < HUGE_PAGE_BYTES { CACHE_LINE_BYTES } else { HUGE_PAGE_BYTES };
            assert_eq!([&zeros, &ones].map(|table| table.as_ptr() as usize % align), [0, 0]);
        }
        assert!(LargeTable::<[u64; 8]>::zeroed(0).is_empty());
    }
}
