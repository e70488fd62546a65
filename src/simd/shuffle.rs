//! Tables that are read by shuffling, on x86-64.

use std::arch::x86_64::*;

use super::classes::BLOCK_BYTES;
use super::rows::{Rows, STEPS};

/// The row at `offset`. A state is in all 16 bytes of a register, so shuffling a row by it gives the next state in
/// all bytes again. The shuffle takes one cycle; a load from a table would take five.
#[inline(always)]
fn row(rows: &Rows, offset: u16) -> __m128i {
    // SAFETY: the load reads the 16 bytes of a row, and SSE2 is part of x86-64.
    unsafe { _mm_loadu_si128(rows.row(offset).as_ptr().cast()) }
}

/// [`super::Simd::state`].
#[inline(always)]
pub(super) fn state(state: u8) -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_set1_epi8(state.cast_signed()) }
}

/// [`super::Simd::follow`].
///
/// # Safety
/// The machine must have SSSE3.
#[inline(always)]
pub(super) unsafe fn follow(rows: &Rows, offsets: &[u16; STEPS], state: &mut __m128i) -> u16 {
    // SAFETY: the caller guarantees SSSE3.
    unsafe {
        let mut states = *state;
        let mut all = _mm_setzero_si128();
        for &offset in offsets {
            states = _mm_shuffle_epi8(row(rows, offset), states);
            // The lowest byte moves out, and this step's state in at the top.
            all = _mm_alignr_epi8::<1>(states, all);
        }
        *state = states;
        // The flag is bit 6; the mask takes bit 7.
        _mm_movemask_epi8(_mm_slli_epi16::<1>(all)) as u16
    }
}

/// [`super::Simd::follow_back`].
///
/// # Safety
/// The machine must have SSSE3.
#[inline(always)]
pub(super) unsafe fn follow_back(rows: &Rows, offsets: &[u16; STEPS], state: &mut __m128i) -> [u8; STEPS] {
    // SAFETY: the caller guarantees SSSE3; the store writes an array of 16 bytes.
    unsafe {
        let mut states = *state;
        let mut all = _mm_setzero_si128();
        for &offset in offsets.iter().rev() {
            states = _mm_shuffle_epi8(row(rows, offset), states);
            // The highest byte moves out, and this step's state in at the bottom.
            all = _mm_alignr_epi8::<15>(all, states);
        }
        *state = states;
        let mut output = [0; STEPS];
        _mm_storeu_si128(output.as_mut_ptr().cast(), all);
        output
    }
}

/// [`super::Simd::entries`] with VBMI.
///
/// # Safety
/// The machine must have AVX-512 F and VBMI.
#[inline(always)]
pub(super) unsafe fn entries_with_vbmi(bytes: &[u8; BLOCK_BYTES], table: &[u8; 128]) -> [u8; BLOCK_BYTES] {
    let mut output = [0; BLOCK_BYTES];
    // SAFETY: the caller guarantees the instructions. The loads read 64 bytes each, of arrays of 64 and 128 bytes,
    // and the store writes an array of 64.
    unsafe {
        let low = _mm512_loadu_si512(table.as_ptr().cast());
        let high = _mm512_loadu_si512(table.as_ptr().add(64).cast());
        let bytes = _mm512_loadu_si512(bytes.as_ptr().cast());
        _mm512_storeu_si512(output.as_mut_ptr().cast(), _mm512_permutex2var_epi8(low, bytes, high));
    }
    output
}

/// [`super::Simd::entries`] with AVX2.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
pub(super) unsafe fn entries(bytes: &[u8; BLOCK_BYTES], table: &[u8; 128]) -> [u8; BLOCK_BYTES] {
    let mut output = [0; BLOCK_BYTES];
    // SAFETY: the caller guarantees AVX2. The loads read 32 of 64 bytes and 16 of 128 bytes, the stores write 32 of
    // 64.
    unsafe {
        for half in 0..2 {
            let bytes = _mm256_loadu_si256(bytes.as_ptr().add(32 * half).cast());
            let mut all = _mm256_setzero_si256();
            for part in 0..8_u8 {
                let entries = _mm_loadu_si128(table.as_ptr().add(16 * usize::from(part)).cast());
                // Bytes with the upper nibble of this part become 0x70 and their lower nibble; all others reach 0x80,
                // for which a shuffle gives zero.
                let own = _mm256_xor_si256(bytes, _mm256_set1_epi8((part << 4).cast_signed()));
                let own = _mm256_adds_epu8(own, _mm256_set1_epi8(0x70));
                let entries = _mm256_broadcastsi128_si256(entries);
                all = _mm256_or_si256(all, _mm256_shuffle_epi8(entries, own));
            }
            _mm256_storeu_si256(output.as_mut_ptr().add(32 * half).cast(), all);
        }
    }
    output
}
