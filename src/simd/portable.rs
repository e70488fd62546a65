//! Portable code without intrinsics: loops over bytes that compilers vectorize, and integer arithmetic.

use super::classes::BLOCK_BYTES;
use super::kernel::{LANES, Simd, mapped};
use super::rows::{FLAG, Rows, STEPS};

/// The portable code; a value needs no proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portable;

impl Simd for Portable {
    type Bytes = [u8; BLOCK_BYTES];
    type Lanes = [u32; LANES];
    type State = u8;

    #[inline(always)]
    fn state(self, state: u8) -> u8 {
        state
    }

    #[inline(always)]
    fn follow(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut u8) -> u16 {
        let mut flags = 0;
        for (step, &offset) in offsets.iter().enumerate() {
            *state = rows.entry(offset, *state);
            flags |= u16::from(*state & FLAG != 0) << step;
        }
        flags
    }

    #[inline(always)]
    fn follow_back(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut u8) -> [u8; STEPS] {
        let mut output = [0; STEPS];
        for (output, &offset) in output.iter_mut().zip(offsets).rev() {
            *state = rows.entry(offset, *state);
            *output = *state;
        }
        output
    }

    #[inline(always)]
    fn lanes(self, numbers: &[u32; LANES]) -> [u32; LANES] {
        *numbers
    }

    #[inline(always)]
    fn lowest<const N: usize>(self, groups: [[u32; LANES]; N]) -> u32 {
        let mut lowest = u32::MAX;
        for group in groups {
            for number in group {
                lowest = lowest.min(number);
            }
        }
        lowest
    }

    #[inline(always)]
    fn put<const N: usize>(self, groups: &mut [[u32; LANES]; N], at: usize, number: u32) {
        groups[at / LANES % N][at % LANES] = number;
    }

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
        *block
    }

    #[inline(always)]
    fn look_up(self, bytes: [u8; BLOCK_BYTES], low: &[u8; 16], high: &[u8; 16]) -> [u8; BLOCK_BYTES] {
        mapped(&bytes, |byte| low[usize::from(byte & 0xF)] & high[usize::from(byte >> 4)])
    }

    #[inline(always)]
    fn bit<const BIT: i32>(self, bytes: [u8; BLOCK_BYTES]) -> u64 {
        gather(&bytes, BIT)
    }

    #[inline(always)]
    fn lowest_two(self, kinds: [u8; BLOCK_BYTES]) -> u64 {
        gather(&kinds, 0)
    }

    #[inline(always)]
    fn equal(self, bytes: [u8; BLOCK_BYTES], other: u8) -> u64 {
        gather(&mapped(&bytes, |byte| u8::from(byte == other)), 0)
    }

    #[inline(always)]
    fn ascii_kinds(self, bytes: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
        mapped(&bytes, ascii_kinds)
    }

    #[inline(always)]
    fn non_ascii_kinds(self, bytes: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
        mapped(&bytes, non_ascii_kinds)
    }
}

/// [`Simd::ascii_kinds`] of a byte. A letter has the lower one of its two bits.
#[inline(always)]
fn ascii_kinds(byte: u8) -> u8 {
    let letter = within(byte | 0x20, b'a', b'z');
    let digit = within(byte, b'0', b'9');
    let newline = u8::from(byte == b'\n') | u8::from(byte == b'\r');
    let blank = within(byte, b'\t', b'\r') & !newline;
    let space = u8::from(byte == b' ');
    let apostrophe = u8::from(byte == b'\'');
    let slash = u8::from(byte == b'/');
    letter | digit << 2 | space << 3 | blank << 4 | newline << 5 | apostrophe << 6 | slash << 7
}

/// [`Simd::non_ascii_kinds`] of a byte.
#[inline(always)]
fn non_ascii_kinds(byte: u8) -> u8 {
    let latin = within(byte, 0xC4, 0xCA);
    let [accents, cyrillic, cyrillic_lower, arabic, han_first] =
        mapped(&[0xC3, 0xD0, 0xD1, 0xD8, 0xE4], |lead| u8::from(byte == lead));
    let caseless = within(byte, 0xE5, 0xE9) | within(byte, 0xEB, 0xEC);
    let odd = u8::from(byte | 0x20 == 0xB7);
    latin
        | accents << 1
        | cyrillic << 2
        | cyrillic_lower << 3
        | arabic << 4
        | han_first << 5
        | caseless << 6
        | odd << 7
}

#[inline(always)]
fn within(byte: u8, first: u8, last: u8) -> u8 {
    u8::from(byte.wrapping_sub(first) <= last - first)
}

/// A mask of bit `which` of each of the flags.
///
/// Eight bytes take three operations, and the whole block one transposition at the end. Measured: packing
/// eight bytes with a multiplication takes twice as long (SSE2 has no 64-bit one), a table lookup for each
/// byte nearly as long.
#[inline(always)]
fn gather(flags: &[u8; BLOCK_BYTES], which: i32) -> u64 {
    let mut matrix = 0;
    for (row, chunk) in flags.as_chunks::<8>().0.iter().enumerate() {
        matrix |= (u64::from_le_bytes(*chunk) >> which & ONES) << row;
    }
    transpose(matrix)
}

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// Transposes a matrix of 8 by 8 bits: bit `8 * i + j` moves to bit `8 * j + i`.
#[inline(always)]
fn transpose(mut matrix: u64) -> u64 {
    for (shift, upper) in [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0xF0F0_F0F0)] {
        let swap = (matrix ^ matrix >> shift) & upper;
        matrix ^= swap ^ swap << shift;
    }
    matrix
}
