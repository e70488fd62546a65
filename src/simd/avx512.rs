//! AVX-512: one register for each block, and a mask register for each kind of byte. The parts F, BW, DQ and
//! VL are enough, which all such machines for servers and laptops have.

use std::arch::x86_64::*;

use super::classes::{BLOCK_BYTES, ENDS};
use super::kernel::{Kernel, LANES, Simd};
use super::portable::Portable;
use super::rows::{Rows, STEPS};
use super::x86::{self, kernels_with, methods_with_avx2_and_aes};

/// Proof that this machine has AVX-512 F, BW, DQ and VL, AES and the bit instructions of AVX2's proof; with
/// `VBMI2` also VBMI and VBMI2, which came with Ice Lake and Zen 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Avx512<const VBMI2: bool>(());

kernels_with!(
    Avx512<false>,
    "avx512f" "avx512bw" "avx512dq" "avx512vl" "bmi1" "bmi2" "lzcnt" "popcnt" "aes"
);
kernels_with!(
    Avx512<true>,
    "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi" "avx512vbmi2" "bmi1" "bmi2" "lzcnt" "popcnt" "aes"
);

/// The 16 bytes of a table in each of the four lanes.
#[inline(always)]
fn rows(table: &[u8; 16]) -> __m512i {
    // SAFETY: this function is called by methods of `Avx512` only, and a value of that type proves that the
    // instructions exist. The load reads the 16 bytes of the table.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast())) }
}

/// A mask of the bytes that have any of `bits`.
#[inline(always)]
fn test(bytes: __m512i, bits: u8) -> u64 {
    // SAFETY: as in `rows`.
    unsafe { _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(bits.cast_signed())) }
}

impl<const VBMI2: bool> Simd for Avx512<VBMI2> {
    type Bytes = __m512i;
    type Lanes = __m512i;

    #[inline(always)]
    fn entries(self, bytes: &[u8; BLOCK_BYTES], table: &[u8; 128]) -> [u8; BLOCK_BYTES] {
        if !VBMI2 {
            // SAFETY: `self` proves that the machine has AVX-512, which includes AVX2.
            return unsafe { x86::entries(bytes, table) };
        }
        let mut output = [0; BLOCK_BYTES];
        // SAFETY: `self` proves that the machine has AVX-512, with `VBMI2` VBMI too. The loads read 64 bytes
        // each, of arrays of 64 and 128 bytes, and the store writes an array of 64.
        unsafe {
            let low = _mm512_loadu_si512(table.as_ptr().cast());
            let high = _mm512_loadu_si512(table.as_ptr().add(64).cast());
            let bytes = _mm512_loadu_si512(bytes.as_ptr().cast());
            _mm512_storeu_si512(output.as_mut_ptr().cast(), _mm512_permutex2var_epi8(low, bytes, high));
        }
        output
    }

    methods_with_avx2_and_aes!();

    #[inline(always)]
    fn lanes(self, numbers: &[u32; LANES]) -> __m512i {
        // SAFETY: `self` proves that the instruction exists; sixteen `u32` are the 64 bytes that it reads.
        unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn lowest<const N: usize>(self, groups: [__m512i; N]) -> u32 {
        // SAFETY: `self` proves that the instructions exist.
        unsafe {
            let mut lowest = _mm512_set1_epi32(-1);
            for group in groups {
                lowest = _mm512_min_epu32(lowest, group);
            }
            _mm512_reduce_min_epu32(lowest)
        }
    }

    #[inline(always)]
    fn put<const N: usize>(self, groups: &mut [__m512i; N], at: usize, number: u32) {
        // All groups are written to, most of them with no lane chosen: a group that is chosen by a number
        // would be in memory, and a load of it would wait for the store.
        let place = 1_u64 << (at % 64);
        for (index, group) in groups.iter_mut().enumerate() {
            let mask = (place >> (LANES * index)) as u16;
            // SAFETY: `self` proves that the instruction exists.
            *group = unsafe { _mm512_mask_set1_epi32(*group, mask, number.cast_signed()) };
        }
    }

    #[inline(always)]
    fn utf8(self, points: &[u32; LANES], room: &mut [u8; 4 * LANES]) -> usize {
        if VBMI2 {
            // SAFETY: `detect` made `self`, which with `VBMI2` it does only if VBMI2 exists.
            unsafe { utf8(points, room) }
        } else {
            Portable.utf8(points, room)
        }
    }

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK_BYTES]) -> __m512i {
        // SAFETY: `self` proves that the instruction exists; the block has the 64 bytes that it reads, and
        // the load needs no alignment.
        unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_padded(self, bytes: &[u8]) -> __m512i {
        let mask = (1 << (bytes.len() % BLOCK_BYTES)) - 1;
        // SAFETY: `self` proves that the instruction exists. It reads only the bytes of `mask`, all of which
        // lie in the slice, and masked-out bytes cannot fault.
        unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn look_up(self, bytes: __m512i, low: &[u8; 16], high: &[u8; 16]) -> __m512i {
        // SAFETY: `self` proves that the instructions exist.
        unsafe {
            let nibble = _mm512_set1_epi8(0x0F);
            let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), nibble);
            let lower = _mm512_and_si512(bytes, nibble);
            let (low, high) = (_mm512_shuffle_epi8(rows(low), lower), _mm512_shuffle_epi8(rows(high), upper));
            _mm512_and_si512(low, high)
        }
    }

    #[inline(always)]
    fn bit<const BIT: i32>(self, bytes: __m512i) -> u64 {
        test(bytes, 1 << BIT)
    }

    #[inline(always)]
    fn lowest_two(self, bytes: __m512i) -> u64 {
        test(bytes, 0b11)
    }

    #[inline(always)]
    fn equal(self, bytes: __m512i, byte: u8) -> u64 {
        // SAFETY: `self` proves that the instructions exist.
        unsafe { _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed())) }
    }

    #[inline(always)]
    fn continuing(self, bytes: __m512i) -> u64 {
        // SAFETY: `self` proves that the instructions exist.
        unsafe { _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(-64)) }
    }

    /// Otherwise the compiler computes masks that are needed late only then, and keeps the block in memory
    /// until that point: a fifth of the time of a scan was a wait for that memory.
    #[inline(always)]
    fn now(self, mut mask: u64) -> u64 {
        // SAFETY: the assembly is a comment; it contains no instruction.
        unsafe { std::arch::asm!("/* {} */", inout(reg) mask, options(nomem, nostack, preserves_flags)) };
        mask
    }

    #[inline(always)]
    fn add_places(self, bits: u64, base: usize, places: &mut [usize; ENDS], count: usize) -> usize {
        let Some(room) = places[count..].first_chunk_mut::<BLOCK_BYTES>() else { return count };
        if VBMI2 {
            // SAFETY: `detect` made `self`, which with `VBMI2` it does only if VBMI2 exists.
            unsafe { add_bytes(bits, base, room) }
            count + bits.count_ones() as usize
        } else {
            count + add_quarters(bits, base, room)
        }
    }
}

/// [`Simd::utf8`]: makes all four bytes that each character may have, then moves those that it does have
/// together.
///
/// # Safety
/// The machine must have AVX-512 with VBMI2.
#[inline(always)]
unsafe fn utf8(points: &[u32; LANES], room: &mut [u8; 4 * LANES]) -> usize {
    // SAFETY: the caller guarantees AVX-512 with VBMI2. 64 bytes are read and written, the sizes of the two
    // arrays.
    unsafe {
        let points = _mm512_loadu_si512(points.as_ptr().cast());
        let two = _mm512_cmpge_epu32_mask(points, _mm512_set1_epi32(0x80));
        let three = _mm512_cmpge_epu32_mask(points, _mm512_set1_epi32(0x800));
        let four = _mm512_cmpge_epu32_mask(points, _mm512_set1_epi32(0x1_0000));
        // Each byte gets six bits of the character. The bytes of a character are in the order of the text:
        // the first one in the lowest bits.
        let six = _mm512_set1_epi32(0x3f);
        let last = _mm512_and_si512(points, six);
        let third = _mm512_and_si512(_mm512_srli_epi32::<6>(points), six);
        let second = _mm512_and_si512(_mm512_srli_epi32::<12>(points), six);
        let first = _mm512_srli_epi32::<18>(points);
        let upper = _mm512_or_si512(first, _mm512_slli_epi32::<8>(second));
        let lower = _mm512_or_si512(_mm512_slli_epi32::<16>(third), _mm512_slli_epi32::<24>(last));
        let all =
            _mm512_or_si512(_mm512_or_si512(upper, lower), _mm512_set1_epi32(0x8080_8000_u32.cast_signed()));
        let lead = _mm512_mask_mov_epi32(_mm512_set1_epi32(0xc0_0000), three, _mm512_set1_epi32(0xe000));
        let lead = _mm512_mask_mov_epi32(lead, four, _mm512_set1_epi32(0xf0));
        let bytes = _mm512_mask_or_epi32(_mm512_slli_epi32::<24>(points), two, all, lead);
        let kept = _mm512_set1_epi32(0x8000_0000_u32.cast_signed());
        let kept = _mm512_mask_mov_epi32(kept, two, _mm512_set1_epi32(0x8080_0000_u32.cast_signed()));
        let kept = _mm512_mask_mov_epi32(kept, three, _mm512_set1_epi32(0x8080_8000_u32.cast_signed()));
        let kept = _mm512_mask_mov_epi32(kept, four, _mm512_set1_epi32(0x8080_8080_u32.cast_signed()));
        let kept = _mm512_movepi8_mask(kept);
        _mm512_storeu_si512(room.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(kept, bytes));
        kept.count_ones() as usize
    }
}

/// Writes `base` plus the number of each bit of `bits` to the front of `room`. The bit numbers are bytes,
/// moved together by one instruction. The first half, four stores of eight numbers, is always written; the
/// second half is rarely needed.
///
/// # Safety
/// The machine must have AVX-512 with VBMI2.
#[inline(always)]
unsafe fn add_bytes(bits: u64, base: usize, room: &mut [usize; BLOCK_BYTES]) {
    let place = room.as_mut_ptr();
    // SAFETY: the caller guarantees AVX-512 with VBMI2. The two halves write 32 numbers each, and `room` has
    // 64.
    unsafe {
        let mut numbers = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(BYTE_NUMBERS.as_ptr().cast()));
        let base = _mm512_set1_epi64(base as i64);
        for half in 0..2 {
            let low = _mm512_castsi512_si128(numbers);
            let high = _mm512_extracti32x4_epi32::<1>(numbers);
            let eights = [low, _mm_srli_si128::<8>(low), high, _mm_srli_si128::<8>(high)];
            let mut at = 32 * half;
            for eight in eights {
                _mm512_storeu_si512(
                    place.add(at).cast(),
                    _mm512_add_epi64(_mm512_cvtepu8_epi64(eight), base),
                );
                at += 8;
            }
            if bits.count_ones() <= 32 {
                break;
            }
            numbers = _mm512_shuffle_i64x2::<0b1110>(numbers, numbers);
        }
    }
}

/// The numbers 0 to 63.
static BYTE_NUMBERS: [u8; BLOCK_BYTES] = {
    let mut bytes = [0; BLOCK_BYTES];
    let mut at = 0;
    while at < BLOCK_BYTES {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};

/// [`add_bytes`] without VBMI2, for sixteen bits at a time; returns how many numbers there are. The first
/// store of eight numbers is always done; the second is rarely needed.
#[inline(always)]
fn add_quarters(bits: u64, base: usize, room: &mut [usize; BLOCK_BYTES]) -> usize {
    let mut from = 0; // each part adds at most 16
    for part in 0..4 {
        let bits = (bits >> (16 * part)) as u16;
        // SAFETY: the instructions exist, as in `rows`. The stores write up to 16 numbers from `from` on,
        // which is at most 16 * `part`, so at most 48; `room` has 64.
        unsafe {
            let numbers =
                _mm512_maskz_compress_epi32(bits, _mm512_add_epi32(iota(), _mm512_set1_epi32(16 * part)));
            let base = _mm512_set1_epi64(base as i64);
            let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(numbers));
            let place = room.as_mut_ptr().add(from);
            _mm512_storeu_si512(place.cast(), _mm512_add_epi64(low, base));
            if bits.count_ones() > 8 {
                let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(numbers));
                _mm512_storeu_si512(place.add(8).cast(), _mm512_add_epi64(high, base));
            }
        }
        from += bits.count_ones() as usize;
    }
    from
}

/// The numbers 0 to 15.
#[inline(always)]
fn iota() -> __m512i {
    // SAFETY: as in `rows`.
    unsafe { _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
}
