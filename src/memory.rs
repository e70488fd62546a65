//! Large memory in large pages.
#![allow(unsafe_code)] // a system call, and memory of zeros

use std::alloc::{Layout, alloc_zeroed};
use std::marker::PhantomData;

use crate::error::Result;
use crate::room;

/// Memory from here on is worth the advice; below it a page or two of 2 MB are not.
const HUGE_PAGE_MIN_BYTES: usize = 4 << 20;
/// Advice is given for whole pages of this size.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Says that all of the `len` bytes at `start`, newly allocated, will be written soon. Where that is much memory,
/// the system may give it in large pages: a fifth of the time that as many small ones take at their first use.
#[inline]
pub(crate) fn advise_huge_pages(start: *mut u8, len: usize) {
    if len >= HUGE_PAGE_MIN_BYTES {
        large_pages(start, len);
    }
}

/// Asks for large pages for those of the `len` bytes at `start` that make whole ones.
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

/// So many zeros, in memory that the system has them in where that is large: it is not written to.
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

/// A table in large pages where the system has them: one of megabytes that is read at random spends more time on
/// finding its small pages than on reading. It begins with such a page, or with a cache line.
#[derive(Debug)]
pub(crate) struct LargeTable<T> {
    memory: Vec<u64>,
    /// The word of `memory` that the first item begins with.
    first: usize,
    count: usize,
    items: PhantomData<T>,
}

/// A type of which a value may be zeros all over.
///
/// # Safety
/// It must.
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
    /// Also if they are zeros. A page that is read before it is written to is given out twice, and the second time all
    /// threads of the process are interrupted: of a training on two threads that took 5 ms of 115.
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
        let item = std::hint::black_box(item); // a compiler that sees zeros leaves them out: that memory has them
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

    /// One whose memory is zeros, which may be no values of `T` yet.
    fn unwritten(count: usize) -> Self {
        let (bytes, align) = Self::measure(count);
        Self::within(vec![0; (bytes + align).div_ceil(WORD_BYTES)], count)
    }

    /// Bytes of so many items, and what they begin at a multiple of.
    fn measure(count: usize) -> (usize, usize) {
        let bytes = count * size_of::<T>();
        (bytes, if bytes < HUGE_PAGE_BYTES { CACHE_LINE_BYTES } else { HUGE_PAGE_BYTES })
    }

    /// In memory of zeros that is large enough. It is fresh from the system where it is large, and not written to yet:
    /// pages are not made larger later.
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
