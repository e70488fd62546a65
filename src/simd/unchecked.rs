//! Reads and writes of a fixed size with one comparison in place of a slice's two.

/// The 16 bytes of `text` from `at` on, if there are so many.
#[inline(always)]
pub(crate) fn sixteen(text: &[u8], at: usize) -> Option<[u8; 16]> {
    // One comparison, half of which does not change in a loop; a slice of a slice makes two.
    if at >= text.len().saturating_sub(15) {
        return None;
    }
    // SAFETY: at + 16 <= text.len(), since at < text.len() - 15.
    Some(unsafe { text.as_ptr().add(at).cast::<[u8; 16]>().read() })
}

/// The 8 bytes of `text` from `at` on as a number, the first in its lowest bits, if there are so many.
#[inline(always)]
pub(crate) fn eight(text: &[u8], at: usize) -> Option<u64> {
    if at >= text.len().saturating_sub(7) {
        return None;
    }
    // SAFETY: at + 8 <= text.len(), since at < text.len() - 7.
    Some(u64::from_le_bytes(unsafe { text.as_ptr().add(at).cast::<[u8; 8]>().read() }))
}

/// Writes some numbers at `at`, where there is room for so many; else it writes nothing.
#[inline(always)]
pub(crate) fn put<const N: usize>(numbers: &mut [u32], at: usize, some: &[u32; N]) {
    if at < (numbers.len() + 1).saturating_sub(N) {
        // SAFETY: at + N <= numbers.len(), since at < numbers.len() + 1 - N.
        unsafe { numbers.as_mut_ptr().add(at).cast::<[u32; N]>().write(*some) };
    }
}
