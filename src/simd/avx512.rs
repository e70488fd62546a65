//! AVX-512: one register a block, and a mask register a kind. F, BW, DQ and VL are enough: every such machine of a server or a laptop has them.

use std::arch::x86_64::*;

use super::{Ascii, BLOCK, ENDS, Job, LANES, Leaf, Wide, tables};

/// Proof that this machine has AVX-512 F, BW, DQ and VL, and what came before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("aes");
        found.then_some(Avx512(()))
    }

    #[inline]
    pub(super) fn run<J: Job>(self, job: J) -> J::Out {
        // SAFETY: `self` exists only where `detect` has found all these features.
        unsafe { run(self, job) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt,aes")]
fn run<J: Job>(leaf: Avx512, job: J) -> J::Out {
    job.run(leaf)
}

/// The same 16 bytes in all four lanes.
#[inline(always)]
fn rows(table: &[u8; 16]) -> __m512i {
    // SAFETY: a value of type `Avx512` exists wherever this is called, all calls being in its methods.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast())) }
}

/// What both nibbles of each byte say.
#[inline(always)]
fn look_up(bytes: __m512i, low: &[u8; 16], high: &[u8; 16]) -> __m512i {
    // SAFETY: as in `rows`.
    unsafe {
        let nibble = _mm512_set1_epi8(0x0F);
        let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), nibble);
        let lower = _mm512_and_si512(bytes, nibble);
        let (low, high) = (_mm512_shuffle_epi8(rows(low), lower), _mm512_shuffle_epi8(rows(high), upper));
        _mm512_and_si512(low, high)
    }
}

/// Which bytes have one of `bits`.
#[inline(always)]
fn test(bytes: __m512i, bits: u8) -> u64 {
    // SAFETY: as in `rows`.
    unsafe { _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(bits.cast_signed())) }
}

impl Leaf for Avx512 {
    type Bytes = __m512i;
    type Lanes = __m512i;

    #[inline(always)]
    fn lanes(self, numbers: &[u32; LANES]) -> __m512i {
        // SAFETY: `self` proves that the instruction is there; sixteen numbers are the 64 bytes that it reads.
        unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn least(self, lanes: __m512i) -> u32 {
        // SAFETY: `self` proves that the instructions are there.
        unsafe { _mm512_reduce_min_epu32(lanes) }
    }

    #[inline(always)]
    fn put(self, lanes: __m512i, at: usize, number: u32) -> __m512i {
        // SAFETY: `self` proves that the instruction is there.
        unsafe { _mm512_mask_set1_epi32(lanes, 1 << (at % LANES), number.cast_signed()) }
    }

    #[inline(always)]
    fn key(self, bytes: &[u8; 16], keep: &[u64; 2], add: &[u64; 2]) -> ([u64; 2], u64) {
        // SAFETY: `detect` has found AES; no machine has AVX-512 without AVX.
        unsafe { super::avx2::key(bytes, keep, add) }
    }

    #[inline(always)]
    fn which(self, keys: &[[u64; 2]; 2], key: [u64; 2], mask: [u64; 2]) -> usize {
        // SAFETY: no machine has AVX-512 without AVX2.
        unsafe { super::avx2::which(keys, key, mask) }
    }

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK]) -> __m512i {
        // SAFETY: `self` proves that the instruction is there; the block has the 64 bytes that it reads, and it
        // asks for no alignment.
        unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load_padded(self, bytes: &[u8]) -> __m512i {
        let mask = (1 << (bytes.len() % BLOCK)) - 1;
        // SAFETY: `self` proves that the instruction is there; it reads only bytes that `mask` has, which are in
        // front of the slice's end, and faults on no other.
        unsafe { _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn ascii(self, bytes: __m512i) -> Ascii {
        let kinds = look_up(bytes, &tables::LOW, &tables::HIGH);
        let letters = test(kinds, tables::LETTER);
        Ascii {
            letters,
            upper: letters & !test(bytes, 0x20),
            digits: test(kinds, tables::DIGIT),
            spaces: test(kinds, tables::SPACE),
            blanks: test(kinds, tables::BLANK),
            newlines: test(kinds, tables::NEWLINE),
            apostrophes: test(kinds, tables::APOSTROPHE),
            slashes: test(kinds, tables::SLASH),
            beyond: test(bytes, 0x80),
        }
    }

    #[inline(always)]
    fn wide(self, bytes: __m512i) -> Wide {
        let kinds = look_up(bytes, &tables::WIDE_LOW, &tables::WIDE_HIGH);
        // SAFETY: `self` proves that the instructions are there.
        let (continuing, sharp_s) = unsafe {
            (
                _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(-64)),
                _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(0x9F_u8.cast_signed())),
            )
        };
        Wide {
            continuing,
            latin: test(kinds, tables::LATIN),
            accents: test(kinds, tables::ACCENTS),
            cyrillic: test(kinds, tables::CYRILLIC),
            cyrillic_lower: test(kinds, tables::CYRILLIC_LOWER),
            arabic: test(kinds, tables::ARABIC),
            han_first: test(kinds, tables::HAN_FIRST),
            caseless: test(kinds, tables::CASELESS),
            odd: test(kinds, tables::ODD),
            sharp_s,
            bit4: test(bytes, 0x10),
            bit5: test(bytes, 0x20),
        }
    }

    #[inline(always)]
    fn sets(self, bytes: __m512i, low: &[u8; 16], high: &[u8; 16]) -> [u64; 8] {
        let kinds = look_up(bytes, low, high);
        let mut sets = [0; 8];
        for (bit, set) in sets.iter_mut().enumerate() {
            *set = test(kinds, 1 << bit);
        }
        sets
    }

    /// Sixteen bits at a time: their numbers, pressed together. One store of eight, whatever their count; more are rare.
    #[inline(always)]
    fn add_places(self, bits: u64, base: usize, places: &mut [usize; ENDS], count: usize) -> usize {
        let mut end = count;
        let Some(room) = places[count..].first_chunk_mut::<BLOCK>() else { return count };
        for part in 0..4 {
            let bits = (bits >> (16 * part)) as u16;
            let from = end - count; // at most 16 for each part before
            // SAFETY: `self` proves that the instructions are there; the stores write 16 places from `from` on, which
            // is at most 16 times `part`, so at most 48 of the 64.
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
            end += bits.count_ones() as usize;
        }
        end
    }
}

/// 0 to 15.
#[inline(always)]
fn iota() -> __m512i {
    // SAFETY: as in `rows`.
    unsafe { _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
}
