//! Large tables: in huge pages where the system has them, zeroed, and aligned to cache lines.
#![allow(unsafe_code)] // a system call, and memory that is used as zeros

use std::alloc::{Layout, alloc_zeroed};
use std::marker::PhantomData;

use crate::error::Result;
use crate::room;

/// From so many bytes on, memory is worth the advice; below it, the gain of a page or two of 2 MB is not.
const HUGE_PAGE_MIN_BYTES: usize = 4 << 20;
/// The size of a huge page: advice is given for whole ones.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Advises the system that all of the `len` bytes at `start`, newly allocated, will be written soon. It may then map
/// large memory in huge pages, which takes a fifth of the time that small pages take at their first use.
#[inline]
pub(crate) fn advise_huge_pages(start: *mut u8, len: usize) {
    if len >= HUGE_PAGE_MIN_BYTES {
        large_pages(start, len);
    }
}

/// Asks for huge pages for the whole ones among the `len` bytes at `start`.
#[inline]
fn large_pages(start: *mut u8, len: usize) {
    #[cfg(target_os = "linux")]
    if len >= HUGE_PAGE_BYTES {
        let skip = start.align_offset(HUGE_PAGE_BYTES);
        let whole = len.saturating_sub(skip) & !(HUGE_PAGE_BYTES - 1);
        // SAFETY: advice about memory that the caller has; it changes nothing that a program can see. What
        // the system answers does not matter.
        unsafe { libc::madvise(start.wrapping_add(skip).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}

/// `count` zeros. Where that is large memory, the system has it zeroed: it is not written.
///
/// # Errors
/// [`crate::Error::OutOfMemory`].
pub(crate) fn zeros<T: Zeroed>(count: usize) -> Result<Vec<T>> {
    let Some(layout) = Layout::array::<T>(count).ok().filter(|layout| layout.size() > 0) else {
        return if count == 0 { Ok(Vec::new()) } else { Err(room::out_of_memory(usize::MAX)) };
    };
    // SAFETY: the layout has a size. The memory is that of an array of `count` items of this allocator, all of them
    // zeros, which are values.
    unsafe {
        let memory = alloc_zeroed(layout);
        if memory.is_null() {
            return Err(room::out_of_memory(layout.size()));
        }
        Ok(Vec::from_raw_parts(memory.cast(), count, count))
    }
}

/// A table in huge pages where the system has them: reading a table of megabytes at random takes more time to find
/// its small pages than to read. It begins at a huge page, or at a cache line where it is smaller.
#[derive(Debug)]
pub(crate) struct LargeTable<T> {
    memory: Vec<u64>,
    /// The word of `memory` that the first item begins with.
    first: usize,
    count: usize,
    items: PhantomData<T>,
}

/// A type for which bytes of zeros are a value.
///
/// # Safety
/// Bytes of zeros, as many as the type has, must be a valid value of it.
pub(crate) unsafe trait Zeroed: Copy {}

// SAFETY: numbers.
unsafe impl Zeroed for u8 {}
// SAFETY: numbers.
unsafe impl Zeroed for u32 {}
// SAFETY: numbers.
unsafe impl Zeroed for u64 {}

/// Bytes of a cache line.
const CACHE_LINE_BYTES: usize = 64;
const WORD_BYTES: usize = size_of::<u64>();

impl<T: Copy> LargeTable<T> {
    /// `count` copies of `item`, which are written now.
    ///
    /// They are written even if they are zeros. Where zeroed memory is read before it is written, the system maps
    /// each page twice, and the second time interrupts all threads of the process: in a training on two threads that
    /// took 5 ms of 115.
    pub(crate) fn new(item: T, count: usize) -> Self {
        Self::unwritten(count).written(item)
    }

    /// The same, where there is memory for it.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(crate) fn try_new(item: T, count: usize) -> Result<Self> {
        let (bytes, align) = Self::measure(count);
        Ok(Self::within(zeros((bytes + align).div_ceil(WORD_BYTES))?, count).written(item))
    }

    fn written(mut self, item: T) -> Self {
        let item = std::hint::black_box(item); // a compiler that sees zeros leaves the writes out
        let first = self.memory[self.first..].as_mut_ptr().cast::<T>();
        for at in 0..self.count {
            // SAFETY: `unwritten` has made room for `count` items, suitably aligned, from there on.
            unsafe { first.add(at).write(item) };
        }
        self
    }

    /// `count` items of zeros, which large memory has without being written to.
    pub(crate) fn zeroed(count: usize) -> Self
    where
        T: Zeroed,
    {
        Self::unwritten(count)
    }

    /// The same, where there is memory for it.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(crate) fn try_zeroed(count: usize) -> Result<Self>
    where
        T: Zeroed,
    {
        let (bytes, align) = Self::measure(count);
        Ok(Self::within(zeros((bytes + align).div_ceil(WORD_BYTES))?, count))
    }

    /// A table of zeroed memory, which need not be values of `T` yet.
    fn unwritten(count: usize) -> Self {
        let (bytes, align) = Self::measure(count);
        Self::within(vec![0; (bytes + align).div_ceil(WORD_BYTES)], count)
    }

    /// The bytes of `count` items, and the alignment of the first one.
    fn measure(count: usize) -> (usize, usize) {
        let bytes = count * size_of::<T>();
        (bytes, if bytes < HUGE_PAGE_BYTES { CACHE_LINE_BYTES } else { HUGE_PAGE_BYTES })
    }

    /// A table in zeroed memory that is large enough, and that was not written to yet: pages are not made larger
    /// later.
    fn within(mut memory: Vec<u64>, count: usize) -> Self {
        const { assert!(CACHE_LINE_BYTES.is_multiple_of(align_of::<T>())) }
        let (_, align) = Self::measure(count);
        large_pages(memory.as_mut_ptr().cast(), memory.len() * WORD_BYTES);
        let first = (memory.as_ptr() as usize).next_multiple_of(align) - memory.as_ptr() as usize;
        LargeTable { memory, first: first / WORD_BYTES, count, items: PhantomData }
    }
}

impl<T: Copy> Default for LargeTable<T> {
    fn default() -> Self {
        Self::unwritten(0)
    }
}

impl<T: Copy> Clone for LargeTable<T> {
    fn clone(&self) -> Self {
        match self.split_first() {
            Some((&first, rest)) => {
                let mut table = Self::new(first, self.count);
                table[1..].copy_from_slice(rest);
                table
            }
            None => Self::default(),
        }
    }
}

impl<T> std::ops::Deref for LargeTable<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `LargeTable::unwritten` has made room for so many items there, at a multiple of a cache line, which is one
        // of their alignment; `LargeTable::new` has written them, or zeros are values. The vector never changes its size.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(self.first).cast(), self.count) }
    }
}

impl<T> std::ops::DerefMut for LargeTable<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; and what is borrowed is all of the table.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(self.first).cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: numbers.
    unsafe impl Zeroed for [u64; 8] {}

    #[test]
    fn tables_of_all_sizes_have_what_they_begin_with() {
        for count in [
            1,
            2,
            1000,
            HUGE_PAGE_BYTES / 64 - 1,
            HUGE_PAGE_BYTES / 64,
            HUGE_PAGE_BYTES / 64 + 1,
            3 * HUGE_PAGE_BYTES / 64 + 7,
        ] {
            let mut zeros = LargeTable::<[u64; 8]>::zeroed(count);
            let mut ones = LargeTable::new([1_u64; 8], count);
            assert_eq!((zeros.len(), ones.len()), (count, count));
            assert!(zeros.iter().all(|item| *item == [0; 8]) && ones.iter().all(|item| *item == [1; 8]));
            zeros[count - 1][7] = 2;
            ones[count - 1][7] = 2;
            let align = if count * 64 < HUGE_PAGE_BYTES { CACHE_LINE_BYTES } else { HUGE_PAGE_BYTES };
            for table in [&zeros, &ones, &zeros.clone()] {
                assert_eq!(table.as_ptr() as usize % align, 0);
                assert_eq!(**table, **if table[0][0] == 0 { &zeros } else { &ones });
            }
        }
        assert!(LargeTable::<[u64; 8]>::zeroed(0).is_empty());
    }
}
