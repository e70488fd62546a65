//! Prefetching.

/// Hints the processor to load the cache line of `items[index]`. Does nothing on other machines than x86-64.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    let item = items.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(item.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
