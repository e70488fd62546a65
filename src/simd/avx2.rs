//! AVX2: two registers for each block. Machines with AVX2 also have AES, two rounds of which are a fast hash.

use std::arch::x86_64::*;

use super::classes::BLOCK_BYTES;
use super::kernel::{Kernel, LANES, Simd};
use super::rows::{Rows, STEPS};
use super::x86::{self, kernels_with, methods_with_avx2_and_aes};

/// Proof that this machine has AVX2, AES and the bit instructions BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Avx2(());

kernels_with!(Avx2, "avx2" "bmi1" "bmi2" "lzcnt" "popcnt" "aes");

type Halves = [__m256i; 2];

// The functions below use no closures: a closure with an intrinsic in it is compiled without the instruction
// set, and the intrinsic becomes a call.

/// [`Simd::look_up`] in one of the halves.
#[inline(always)]
fn look_up(bytes: __m256i, low: &[u8; 16], high: &[u8; 16]) -> __m256i {
    // SAFETY: this function is called by methods of `Avx2` only, and a value of that type proves that the
    // instructions exist. Both loads read the 16 bytes of a table.
    unsafe {
        let nibble = _mm256_set1_epi8(0x0F);
        let low = _mm256_broadcastsi128_si256(_mm_loadu_si128(low.as_ptr().cast()));
        let high = _mm256_broadcastsi128_si256(_mm_loadu_si128(high.as_ptr().cast()));
        let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
        let lower = _mm256_and_si256(bytes, nibble);
        _mm256_and_si256(_mm256_shuffle_epi8(low, lower), _mm256_shuffle_epi8(high, upper))
    }
}

impl Simd for Avx2 {
    type Bytes = Halves;
    type Lanes = Halves;

    #[inline(always)]
    fn entries(self, bytes: &[u8; BLOCK_BYTES], table: &[u8; 128]) -> [u8; BLOCK_BYTES] {
        // SAFETY: `self` proves that the machine has AVX2.
        unsafe { x86::entries(bytes, table) }
    }

    methods_with_avx2_and_aes!();

    #[inline(always)]
    fn lanes(self, numbers: &[u32; LANES]) -> Halves {
        let half = numbers.as_ptr().cast::<__m256i>();
        // SAFETY: `self` proves that the instruction exists; sixteen `u32` are 64 bytes, and the load needs
        // no alignment.
        unsafe { [_mm256_loadu_si256(half), _mm256_loadu_si256(half.add(1))] }
    }

    #[inline(always)]
    fn lowest<const N: usize>(self, groups: [Halves; N]) -> u32 {
        // SAFETY: `self` proves that the instructions exist.
        unsafe {
            let mut eight = _mm256_set1_epi32(-1);
            for [low, high] in groups {
                eight = _mm256_min_epu32(eight, _mm256_min_epu32(low, high));
            }
            let four = _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
            let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            let min = _mm_min_epu32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
            _mm_cvtsi128_si32(min).cast_unsigned()
        }
    }

    #[inline(always)]
    fn put<const N: usize>(self, groups: &mut [Halves; N], at: usize, number: u32) {
        // SAFETY: `self` proves that the instructions exist.
        unsafe {
            let number = _mm256_set1_epi32(number.cast_signed());
            let at = _mm256_set1_epi32(at as i32);
            let mut places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            // All halves are written to: see `Avx512`.
            for group in groups {
                for half in group {
                    *half = _mm256_blendv_epi8(*half, number, _mm256_cmpeq_epi32(at, places));
                    places = _mm256_add_epi32(places, _mm256_set1_epi32(8));
                }
            }
        }
    }

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK_BYTES]) -> Halves {
        let half = block.as_ptr().cast::<__m256i>();
        // SAFETY: `self` proves that the instruction exists; the block has the 64 bytes that the two loads
        // read, and the loads need no alignment.
        unsafe { [_mm256_loadu_si256(half), _mm256_loadu_si256(half.add(1))] }
    }

    #[inline(always)]
    fn look_up(self, [first, second]: Halves, low: &[u8; 16], high: &[u8; 16]) -> Halves {
        [look_up(first, low, high), look_up(second, low, high)]
    }

    #[inline(always)]
    fn bit<const BIT: i32>(self, [low, high]: Halves) -> u64 {
        // SAFETY: `self` proves that the instructions exist. The shift works on 16-bit lanes; what it moves
        // across the border of two bytes ends in lower bits than bit 7, the only one that is read.
        let (low, high) = unsafe {
            let to_bit_7 = _mm_cvtsi32_si128(7 - BIT);
            (
                _mm256_movemask_epi8(_mm256_sll_epi16(low, to_bit_7)),
                _mm256_movemask_epi8(_mm256_sll_epi16(high, to_bit_7)),
            )
        };
        u64::from(high.cast_unsigned()) << 32 | u64::from(low.cast_unsigned())
    }

    #[inline(always)]
    fn equal(self, [low, high]: Halves, byte: u8) -> u64 {
        // SAFETY: `self` proves that the instructions exist.
        self.bit::<7>(unsafe {
            let byte = _mm256_set1_epi8(byte.cast_signed());
            [_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte)]
        })
    }
}
