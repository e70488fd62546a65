//! Asking for memory before it is needed.

/// Hints the processor to load the cache line of `items[index]`. Does nothing where the machine, or this code, knows
/// no such hint.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], index: usize) {
    let item = items.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it reads nothing and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(item.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
