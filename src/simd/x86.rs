//! What AVX2 and AVX-512 have in common: kernels, keys, and tables that are read by shuffling.

use std::arch::x86_64::*;

pub(super) use crate::hashing::SALT;

use super::classes::BLOCK_BYTES;
use super::rows::Rows;

/// Compiles kernels for instructions; a value of `$simd` proves that the machine has all of them.
macro_rules! kernels_with {
    ($simd:ty, $($feature:tt)+) => {
        impl $simd {
            /// The proof, if this machine has the instructions.
            pub(super) fn detect() -> Option<Self> {
                ($(is_x86_feature_detected!($feature))&&+).then_some(Self(()))
            }

            #[inline]
            pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Out {
                #[target_feature($(enable = $feature),+)]
                fn run<K: Kernel>(simd: $simd, kernel: K) -> K::Out {
                    kernel.run(simd)
                }
                // SAFETY: `detect` made `self`, so this machine has all the features that the function
                // enables.
                unsafe { run(self, kernel) }
            }
        }
    };
}

/// The row at `offset`. A state is in all 16 bytes of a register, so shuffling a row by it gives the next
/// state in all bytes again. The shuffle takes one cycle; a load from a table would take five.
#[inline(always)]
pub(super) fn row(rows: &Rows, offset: u16) -> __m128i {
    // SAFETY: the load reads the 16 bytes of a row, and SSE2 is part of x86-64.
    unsafe { _mm_loadu_si128(rows.row(offset).as_ptr().cast()) }
}

/// Methods of [`super::Simd`] for types that prove AVX2, which includes SSSE3 and SSE4.1, and AES.
macro_rules! methods_with_avx2_and_aes {
    () => {
        type State = __m128i;

        #[inline(always)]
        fn state(self, state: u8) -> __m128i {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { _mm_set1_epi8(state.cast_signed()) }
        }

        #[inline(always)]
        fn follow(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut __m128i) -> u16 {
            // SAFETY: `self` proves that the instructions exist.
            unsafe {
                let mut states = *state;
                let mut all = _mm_setzero_si128();
                for &offset in offsets {
                    states = _mm_shuffle_epi8(x86::row(rows, offset), states);
                    // The lowest byte moves out, and this step's state in at the top.
                    all = _mm_alignr_epi8::<1>(states, all);
                }
                *state = states;
                // The flag is bit 6; the mask takes bit 7.
                _mm_movemask_epi8(_mm_slli_epi16::<1>(all)) as u16
            }
        }

        #[inline(always)]
        fn follow_back(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut __m128i) -> [u8; STEPS] {
            let mut output = [0; STEPS];
            // SAFETY: `self` proves that the instructions exist; the store writes an array of 16 bytes.
            unsafe {
                let mut states = *state;
                let mut all = _mm_setzero_si128();
                for &offset in offsets.iter().rev() {
                    states = _mm_shuffle_epi8(x86::row(rows, offset), states);
                    // The highest byte moves out, and this step's state in at the bottom.
                    all = _mm_alignr_epi8::<15>(all, states);
                }
                *state = states;
                _mm_storeu_si128(output.as_mut_ptr().cast(), all);
            }
            output
        }

        #[inline(always)]
        fn same(self, left: &[u64; 2], right: &[u64; 2], mask: &[u64; 2]) -> bool {
            // SAFETY: `self` proves that the instructions exist. All loads read arrays of 16 bytes.
            unsafe {
                let left = _mm_loadu_si128(left.as_ptr().cast());
                let right = _mm_loadu_si128(right.as_ptr().cast());
                _mm_testz_si128(_mm_xor_si128(left, right), _mm_loadu_si128(mask.as_ptr().cast())) != 0
            }
        }

        #[inline(always)]
        fn key(self, bytes: &[u8; 16], keep: &[u64; 2], add: &[u64; 2]) -> ([u64; 2], u64) {
            // SAFETY: `self` proves that the instructions exist. All loads read arrays of 16 bytes, and
            // `[u64; 2]` has the size of `__m128i`.
            unsafe {
                let (keep, add) =
                    (_mm_loadu_si128(keep.as_ptr().cast()), _mm_loadu_si128(add.as_ptr().cast()));
                let key = _mm_or_si128(_mm_and_si128(_mm_loadu_si128(bytes.as_ptr().cast()), keep), add);
                // After two rounds each byte of the hash depends on all bytes of the key.
                let salt = _mm_set_epi64x(x86::SALT[1].cast_signed(), x86::SALT[0].cast_signed());
                let hash = _mm_aesenc_si128(_mm_aesenc_si128(key, salt), salt);
                (std::mem::transmute::<__m128i, [u64; 2]>(key), _mm_cvtsi128_si64(hash).cast_unsigned())
            }
        }
    };
}

pub(super) use {kernels_with, methods_with_avx2_and_aes};

/// [`super::Simd::entries`] with AVX2.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
pub(super) unsafe fn entries(bytes: &[u8; BLOCK_BYTES], table: &[u8; 128]) -> [u8; BLOCK_BYTES] {
    let mut output = [0; BLOCK_BYTES];
    // SAFETY: the caller guarantees AVX2. The loads read 32 of 64 bytes and 16 of 128 bytes, the stores write
    // 32 of 64.
    unsafe {
        for half in 0..2 {
            let bytes = _mm256_loadu_si256(bytes.as_ptr().add(32 * half).cast());
            let mut all = _mm256_setzero_si256();
            for part in 0..8_u8 {
                let entries = _mm_loadu_si128(table.as_ptr().add(16 * usize::from(part)).cast());
                // Bytes with the upper nibble of this part become 0x70 and their lower nibble; all others
                // reach 0x80, for which a shuffle gives zero.
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
