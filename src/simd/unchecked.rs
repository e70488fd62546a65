//! Reads and writes of a fixed size, each with one comparison instead of a slice's two.

/// The 16 bytes of `text` from `at` on, if there are 16.
#[inline(always)]
pub(crate) fn sixteen(text: &[u8], at: usize) -> Option<[u8; 16]> {
    // One side of this comparison is constant in a loop over `at`; slicing would compare twice.
    if at >= text.len().saturating_sub(15) {
        return None;
    }
    // SAFETY: `at < text.len() - 15`, so the 16 bytes from `at` on lie in `text`.
    Some(unsafe { text.as_ptr().add(at).cast::<[u8; 16]>().read() })
}

/// The 8 bytes of `text` from `at` on as a little-endian number, if there are 8.
#[inline(always)]
pub(crate) fn eight(text: &[u8], at: usize) -> Option<u64> {
    if at >= text.len().saturating_sub(7) {
        return None;
    }
    // SAFETY: `at < text.len() - 7`, so the 8 bytes from `at` on lie in `text`.
    Some(u64::from_le_bytes(unsafe { text.as_ptr().add(at).cast::<[u8; 8]>().read() }))
}

/// Writes `some` to `numbers[at..at + N]`; writes nothing if these are not all there.
#[inline(always)]
pub(crate) fn put<const N: usize>(numbers: &mut [u32], at: usize, some: &[u32; N]) {
    if at < (numbers.len() + 1).saturating_sub(N) {
        // SAFETY: `at < numbers.len() + 1 - N`, so the `N` numbers from `at` on lie in `numbers`.
        unsafe { numbers.as_mut_ptr().add(at).cast::<[u32; N]>().write(*some) };
    }
}
