//! The classes of a block of 64 bytes as bit masks, without intrinsics: loops over bytes that compilers turn into
//! vector code on every platform, and integer arithmetic.

/// Bytes in a block; one bit of a `u64` each, the first in the lowest.
pub(super) const BLOCK: usize = 64;

/// Which bytes of a block are what; bytes beyond ASCII are in `beyond_ascii` alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Masks {
    pub(super) letters: u64,
    pub(super) digits: u64,
    /// U+0020 alone.
    pub(super) spaces: u64,
    /// `\s`, with `spaces`.
    pub(super) whitespace: u64,
    pub(super) apostrophes: u64,
    pub(super) beyond_ascii: u64,
}

impl Masks {
    #[inline(always)]
    pub(super) fn of(block: &[u8; BLOCK]) -> Self {
        let flags = block.map(flags_of);
        Masks {
            letters: gather(&flags, 0),
            digits: gather(&flags, 1),
            spaces: gather(&flags, 2),
            whitespace: gather(&flags, 3),
            apostrophes: gather(&flags, 4),
            beyond_ascii: gather(&flags, 5),
        }
    }
}

/// What one byte is, a bit for each mask.
#[inline(always)]
fn flags_of(byte: u8) -> u8 {
    let letter = within(byte | 0x20, b'a', b'z');
    let digit = within(byte, b'0', b'9');
    let space = u8::from(byte == b' ');
    let whitespace = space | within(byte, b'\t', b'\r');
    let apostrophe = u8::from(byte == b'\'');
    letter | digit << 1 | space << 2 | whitespace << 3 | apostrophe << 4 | byte >> 7 << 5
}

#[inline(always)]
fn within(byte: u8, first: u8, last: u8) -> u8 {
    u8::from(byte.wrapping_sub(first) <= last - first)
}

/// Bit `which` of each of the flags.
///
/// Three operations for eight bytes, and a turn at the end. Measured: a multiplication that packs each eight
/// bytes takes twice as long (SSE2 has none of that width), a table look-up per byte nearly so.
#[inline(always)]
fn gather(flags: &[u8; BLOCK], which: u32) -> u64 {
    let mut matrix = 0;
    for (row, chunk) in flags.as_chunks::<8>().0.iter().enumerate() {
        matrix |= (u64::from_le_bytes(*chunk) >> which & ONES) << row;
    }
    transpose(matrix)
}

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// Bit `8 * i + j` to bit `8 * j + i`.
#[inline(always)]
fn transpose(mut matrix: u64) -> u64 {
    for (shift, upper) in [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0xF0F0_F0F0)] {
        let swap = (matrix ^ matrix >> shift) & upper;
        matrix ^= swap ^ swap << shift;
    }
    matrix
}

const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);

/// How many bytes at the start of `word`, read little-endian, are ASCII letters.
#[inline(always)]
pub(super) fn leading_letters(word: u64) -> usize {
    let splat = |byte: u8| u64::from_le_bytes([byte; 8]);
    // Lower case, and bit 7 away, so that no sum carries into the next byte.
    let folded = (word | splat(0x20)) & !HIGH_BITS;
    let letters = (folded + splat(0x80 - b'a')) & !(folded + splat(0x7F - b'z')) & !word;
    ((!letters & HIGH_BITS).trailing_zeros() / 8) as usize
}
