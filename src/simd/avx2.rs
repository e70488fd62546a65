//! AVX2: two registers for each block. Machines with AVX2 also have AES, two rounds of which are a fast hash.

use std::arch::x86_64::*;

use super::classes::{Ascii, BLOCK_BYTES, NonAscii};
use super::kernel::{Kernel, LANES, Simd};
use super::rows::{Rows, STEPS};
use super::shuffle;
use super::tables;
use crate::hashing::SALT;

/// Proof that this machine has AVX2, AES and the bit instructions BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        let supported = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("aes");
        supported.then_some(Avx2(()))
    }

    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Out {
        // SAFETY: `detect` made `self`, so this machine has all the features that the function enables.
        unsafe { run(self, kernel) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,aes")]
fn run<K: Kernel>(simd: Avx2, kernel: K) -> K::Out {
    kernel.run(simd)
}

type Halves = [__m256i; 2];

// The functions below use no closures: a closure with an intrinsic in it is compiled without the instruction
// set, and the intrinsic becomes a call.

/// For each byte, the entry of `low` for its lower nibble and the entry of `high` for its upper nibble,
/// combined by AND.
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

/// A mask of bit `7 - UP` of each byte.
#[inline(always)]
fn bit<const UP: i32>([low, high]: Halves) -> u64 {
    // SAFETY: as in `look_up`. The shift works on 16-bit lanes; what it moves across the border of two bytes
    // ends in lower bits than bit 7, the only one that is read.
    let (low, high) = unsafe {
        (
            _mm256_movemask_epi8(_mm256_slli_epi16::<UP>(low)),
            _mm256_movemask_epi8(_mm256_slli_epi16::<UP>(high)),
        )
    };
    u64::from(high.cast_unsigned()) << 32 | u64::from(low.cast_unsigned())
}

/// A mask of the bytes that equal `byte`.
#[inline(always)]
fn equal([low, high]: Halves, byte: u8) -> u64 {
    // SAFETY: as in `look_up`.
    let same = unsafe {
        let byte = _mm256_set1_epi8(byte.cast_signed());
        [_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte)]
    };
    bit::<0>(same)
}

/// The result of [`which`] for each outcome of comparing the two 64-bit halves of two keys (one bit for each
/// half): 0 if both halves of the first key are equal, else 1 if those of the second are, else 2.
static FIRST_EQUAL_KEY: [u8; 16] = {
    let mut first = [2; 16];
    let mut same = 0;
    while same < 16 {
        if same & 0b11 == 0b11 {
            first[same] = 0;
        } else if same & 0b1100 == 0b1100 {
            first[same] = 1;
        }
        same += 1;
    }
    first
};

/// [`Simd::which`].
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
pub(super) unsafe fn which(keys: &[[u64; 2]; 2], key: [u64; 2], mask: [u64; 2]) -> usize {
    // SAFETY: the caller guarantees AVX2. The loads of 16 and 32 bytes read arrays of these sizes.
    let same = unsafe {
        let key = _mm256_broadcastsi128_si256(_mm_loadu_si128(key.as_ptr().cast()));
        let mask = _mm256_broadcastsi128_si256(_mm_loadu_si128(mask.as_ptr().cast()));
        let differing =
            _mm256_and_si256(_mm256_xor_si256(_mm256_loadu_si256(keys.as_ptr().cast()), key), mask);
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(differing, _mm256_setzero_si256())))
    };
    usize::from(FIRST_EQUAL_KEY[same as usize & 15])
}

/// [`Simd::same`].
///
/// # Safety
/// The machine must have AVX.
#[inline(always)]
pub(super) unsafe fn same(left: &[u64; 2], right: &[u64; 2], mask: &[u64; 2]) -> bool {
    // SAFETY: the caller guarantees AVX, which includes SSE4.1. All loads read arrays of 16 bytes.
    unsafe {
        let (left, right) = (_mm_loadu_si128(left.as_ptr().cast()), _mm_loadu_si128(right.as_ptr().cast()));
        _mm_testz_si128(_mm_xor_si128(left, right), _mm_loadu_si128(mask.as_ptr().cast())) != 0
    }
}

/// [`Simd::key`].
///
/// # Safety
/// The machine must have AVX and AES.
#[inline(always)]
pub(super) unsafe fn key(bytes: &[u8; 16], keep: &[u64; 2], add: &[u64; 2]) -> ([u64; 2], u64) {
    // SAFETY: the caller guarantees AVX and AES. All loads read arrays of 16 bytes, and `[u64; 2]` has the
    // size of `__m128i`.
    unsafe {
        let (keep, add) = (_mm_loadu_si128(keep.as_ptr().cast()), _mm_loadu_si128(add.as_ptr().cast()));
        let key = _mm_or_si128(_mm_and_si128(_mm_loadu_si128(bytes.as_ptr().cast()), keep), add);
        // After two rounds each byte of the hash depends on all bytes of the key.
        let salt = _mm_set_epi64x(SALT[1].cast_signed(), SALT[0].cast_signed());
        let hash = _mm_aesenc_si128(_mm_aesenc_si128(key, salt), salt);
        (std::mem::transmute::<__m128i, [u64; 2]>(key), _mm_cvtsi128_si64(hash).cast_unsigned())
    }
}

impl Simd for Avx2 {
    type Bytes = Halves;
    type Lanes = Halves;

    #[inline(always)]
    fn entries(self, bytes: &[u8; BLOCK_BYTES], table: &[u8; 128]) -> [u8; BLOCK_BYTES] {
        // SAFETY: `self` proves that the machine has AVX2.
        unsafe { shuffle::entries(bytes, table) }
    }

    type State = __m128i;

    #[inline(always)]
    fn state(self, state: u8) -> __m128i {
        shuffle::state(state)
    }

    #[inline(always)]
    fn follow(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut __m128i) -> u16 {
        // SAFETY: `self` proves that the machine has AVX2, which includes SSSE3.
        unsafe { shuffle::follow(rows, offsets, state) }
    }

    #[inline(always)]
    fn follow_back(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut __m128i) -> [u8; STEPS] {
        // SAFETY: as above.
        unsafe { shuffle::follow_back(rows, offsets, state) }
    }

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
            let all = _mm256_set1_epi32(-1);
            let eight =
                groups.as_flattened().iter().fold(all, |lowest, &half| _mm256_min_epu32(lowest, half));
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
            for half in groups.as_flattened_mut() {
                *half = _mm256_blendv_epi8(*half, number, _mm256_cmpeq_epi32(at, places));
                places = _mm256_add_epi32(places, _mm256_set1_epi32(8));
            }
        }
    }

    #[inline(always)]
    fn key(self, bytes: &[u8; 16], keep: &[u64; 2], add: &[u64; 2]) -> ([u64; 2], u64) {
        // SAFETY: `self` proves that AVX and AES exist.
        unsafe { key(bytes, keep, add) }
    }

    #[inline(always)]
    fn same(self, left: &[u64; 2], right: &[u64; 2], mask: &[u64; 2]) -> bool {
        // SAFETY: `self` proves AVX2, which includes AVX.
        unsafe { same(left, right, mask) }
    }

    #[inline(always)]
    fn which(self, keys: &[[u64; 2]; 2], key: [u64; 2], mask: [u64; 2]) -> usize {
        // SAFETY: `self` proves that AVX2 exists.
        unsafe { which(keys, key, mask) }
    }

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK_BYTES]) -> Halves {
        let half = block.as_ptr().cast::<__m256i>();
        // SAFETY: `self` proves that the instruction exists; the block has the 64 bytes that the two loads
        // read, and the loads need no alignment.
        unsafe { [_mm256_loadu_si256(half), _mm256_loadu_si256(half.add(1))] }
    }

    #[inline(always)]
    fn ascii(self, bytes: Halves) -> Ascii {
        let kinds = [
            look_up(bytes[0], &tables::ASCII_LOW, &tables::ASCII_HIGH),
            look_up(bytes[1], &tables::ASCII_LOW, &tables::ASCII_HIGH),
        ];
        let letters = bit::<7>(kinds) | bit::<6>(kinds);
        Ascii {
            letters,
            upper: letters & !bit::<2>(bytes),
            digits: bit::<5>(kinds),
            spaces: bit::<4>(kinds),
            blanks: bit::<3>(kinds),
            newlines: bit::<2>(kinds),
            apostrophes: bit::<1>(kinds),
            slashes: bit::<0>(kinds),
            beyond: bit::<0>(bytes),
        }
    }

    #[inline(always)]
    fn non_ascii(self, bytes: Halves) -> NonAscii {
        let kinds = [
            look_up(bytes[0], &tables::NON_ASCII_LOW, &tables::NON_ASCII_HIGH),
            look_up(bytes[1], &tables::NON_ASCII_LOW, &tables::NON_ASCII_HIGH),
        ];
        NonAscii {
            continuing: bit::<0>(bytes) & !bit::<1>(bytes),
            latin: bit::<7>(kinds),
            accents: bit::<6>(kinds),
            cyrillic: bit::<5>(kinds),
            cyrillic_lower: bit::<4>(kinds),
            arabic: bit::<3>(kinds),
            han_first: bit::<2>(kinds),
            caseless: bit::<1>(kinds),
            odd: bit::<0>(kinds),
            sharp_s: equal(bytes, 0x9F),
            bit4: bit::<3>(bytes),
            bit5: bit::<2>(bytes),
        }
    }

    #[inline(always)]
    fn sets(self, bytes: Halves, low: &[u8; 16], high: &[u8; 16]) -> [u64; 8] {
        let kinds = [look_up(bytes[0], low, high), look_up(bytes[1], low, high)];
        [
            bit::<7>(kinds),
            bit::<6>(kinds),
            bit::<5>(kinds),
            bit::<4>(kinds),
            bit::<3>(kinds),
            bit::<2>(kinds),
            bit::<1>(kinds),
            bit::<0>(kinds),
        ]
    }
}
