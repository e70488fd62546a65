//! The operations of an instruction set, and kernels: code that is compiled for each of them.

use super::classes::{Ascii, BLOCK_BYTES, ENDS, NonAscii};
use super::rows::{Rows, STEPS};
use super::tables;
use crate::hashing::fold_words;

/// Numbers that are compared at once: one register of AVX-512.
pub(crate) const LANES: usize = 16;

/// The operations of one instruction set. A value of an implementing type proves that the machine has it.
pub(crate) trait Simd: Copy {
    /// A block of bytes in registers.
    type Bytes: Copy;

    fn load(self, block: &[u8; BLOCK_BYTES]) -> Self::Bytes;

    /// Loads fewer than 64 bytes, followed by zeros.
    #[inline(always)]
    fn load_padded(self, bytes: &[u8]) -> Self::Bytes {
        let mut block = [0; BLOCK_BYTES];
        block[..bytes.len()].copy_from_slice(bytes);
        self.load(&block)
    }

    /// For each byte, the AND of the entry of `low` for its lower nibble and the entry of `high` for its
    /// upper nibble.
    fn look_up(self, bytes: Self::Bytes, low: &[u8; 16], high: &[u8; 16]) -> Self::Bytes;

    /// A mask of the bytes that have a bit, by the number of the bit.
    fn bit<const BIT: i32>(self, bytes: Self::Bytes) -> u64;

    /// A mask of the bytes that have one of the lowest two bits.
    #[inline(always)]
    fn lowest_two(self, bytes: Self::Bytes) -> u64 {
        self.bit::<0>(bytes) | self.bit::<1>(bytes)
    }

    /// A mask of the bytes that equal `byte`.
    fn equal(self, bytes: Self::Bytes, byte: u8) -> u64;

    /// A mask of the continuation bytes.
    #[inline(always)]
    fn continuing(self, bytes: Self::Bytes) -> u64 {
        self.bit::<7>(bytes) & !self.bit::<6>(bytes)
    }

    /// The mask, which is computed before what follows.
    #[inline(always)]
    fn now(self, mask: u64) -> u64 {
        mask
    }

    /// The kinds of ASCII characters, in the bits that [`tables::ASCII_LOW`] says.
    #[inline(always)]
    fn ascii_kinds(self, bytes: Self::Bytes) -> Self::Bytes {
        self.look_up(bytes, &tables::ASCII_LOW, &tables::ASCII_HIGH)
    }

    /// The kinds of other bytes, in the bits that [`tables::NON_ASCII_LOW`] says.
    #[inline(always)]
    fn non_ascii_kinds(self, bytes: Self::Bytes) -> Self::Bytes {
        self.look_up(bytes, &tables::NON_ASCII_LOW, &tables::NON_ASCII_HIGH)
    }

    #[inline(always)]
    fn ascii(self, bytes: Self::Bytes) -> Ascii {
        let kinds = self.ascii_kinds(bytes);
        let letters = self.lowest_two(kinds);
        Ascii {
            letters: self.now(letters),
            upper: letters & !self.bit::<5>(bytes),
            digits: self.now(self.bit::<2>(kinds)),
            spaces: self.now(self.bit::<3>(kinds)),
            blanks: self.now(self.bit::<4>(kinds)),
            newlines: self.now(self.bit::<5>(kinds)),
            apostrophes: self.now(self.bit::<6>(kinds)),
            slashes: self.bit::<7>(kinds),
            beyond: self.bit::<7>(bytes),
        }
    }

    #[inline(always)]
    fn non_ascii(self, bytes: Self::Bytes) -> NonAscii {
        let kinds = self.non_ascii_kinds(bytes);
        NonAscii {
            continuing: self.continuing(bytes),
            latin: self.bit::<0>(kinds),
            accents: self.bit::<1>(kinds),
            cyrillic: self.bit::<2>(kinds),
            cyrillic_lower: self.bit::<3>(kinds),
            arabic: self.bit::<4>(kinds),
            han_first: self.bit::<5>(kinds),
            caseless: self.bit::<6>(kinds),
            odd: self.bit::<7>(kinds),
            sharp_s: self.equal(bytes, 0x9F),
            bit4: self.bit::<4>(bytes),
            bit5: self.bit::<5>(bytes),
        }
    }

    /// [`Simd::look_up`], as a mask for each bit of the result, the lowest bit first.
    #[inline(always)]
    fn sets(self, bytes: Self::Bytes, low: &[u8; 16], high: &[u8; 16]) -> [u64; 8] {
        let kinds = self.look_up(bytes, low, high);
        [
            self.bit::<0>(kinds),
            self.bit::<1>(kinds),
            self.bit::<2>(kinds),
            self.bit::<3>(kinds),
            self.bit::<4>(kinds),
            self.bit::<5>(kinds),
            self.bit::<6>(kinds),
            self.bit::<7>(kinds),
        ]
    }

    /// [`LANES`] numbers in registers.
    type Lanes: Copy;

    fn lanes(self, numbers: &[u32; LANES]) -> Self::Lanes;

    /// The minimum of all numbers in groups of [`LANES`].
    fn lowest<const N: usize>(self, groups: [Self::Lanes; N]) -> u32;

    /// Replaces one number; `at` is its place among those of all groups, and less than `N` times [`LANES`].
    fn put<const N: usize>(self, groups: &mut [Self::Lanes; N], at: usize, number: u32);

    /// Writes the UTF-8 of characters to the front of `room` and returns its length. The bytes after it are
    /// undefined.
    #[inline(always)]
    fn utf8(self, points: &[u32; LANES], room: &mut [u8; 4 * LANES]) -> usize {
        let mut len = 0;
        for &point in points {
            let low = |shift: u32| 0x80 | point >> shift & 0x3f;
            let longer =
                usize::from(point >= 0x80) + usize::from(point >= 0x800) + usize::from(point >= 0x1_0000);
            // All four forms are made and one is chosen, and four bytes are always written: in text of many
            // scripts, branches would be mispredicted.
            let bytes = [
                point,
                0xc0 | point >> 6 | low(0) << 8,
                0xe0 | point >> 12 | low(6) << 8 | low(0) << 16,
                0xf0 | point >> 18 | low(12) << 8 | low(6) << 16 | low(0) << 24,
            ];
            if let Some(four) = room[len..].first_chunk_mut() {
                *four = bytes[longer].to_le_bytes();
            }
            len += 1 + longer;
        }
        len
    }

    /// Whether two keys are equal in the bits of `mask`.
    #[inline(always)]
    fn same(self, left: &[u64; 2], right: &[u64; 2], mask: &[u64; 2]) -> bool {
        (left[0] ^ right[0]) & mask[0] | (left[1] ^ right[1]) & mask[1] == 0
    }

    /// The key `bytes & keep | add`, and a hash of it. The upper bits of the hash are the better ones.
    /// Instruction sets hash differently, so hashes must not leave the process.
    #[inline(always)]
    fn key(self, bytes: &[u8; 16], keep: &[u64; 2], add: &[u64; 2]) -> ([u64; 2], u64) {
        let all = u128::from_le_bytes(*bytes);
        let (low, high) = (all as u64 & keep[0] | add[0], (all >> 64) as u64 & keep[1] | add[1]);
        ([low, high], fold_words(low, high))
    }

    /// For each byte below 128 its entry in `table`; for any other byte an arbitrary value.
    #[inline(always)]
    fn entries(self, bytes: &[u8; BLOCK_BYTES], table: &[u8; 128]) -> [u8; BLOCK_BYTES] {
        mapped(bytes, |byte| table[usize::from(byte % 128)])
    }

    /// A state of an automaton, in a register.
    type State: Copy;

    fn state(self, state: u8) -> Self::State;

    /// Follows an automaton: from `state`, to the entry of the row at the first offset, from there to that of
    /// the row at the next offset, and so on. Leaves the last entry in `state`, and returns which entries
    /// have [`super::rows::FLAG`], the first in the lowest bit.
    fn follow(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut Self::State) -> u16;

    /// Follows an automaton from the last offset to the first. Leaves the last entry, which is that of the
    /// first offset, in `state`, and returns all entries, each where its offset is.
    fn follow_back(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut Self::State) -> [u8; STEPS];

    /// Appends `base` plus the number of each bit of `bits` to the first `count` of `places` and returns the
    /// new count. Appends nothing if there is room for fewer than 64.
    #[inline(always)]
    fn add_places(self, mut bits: u64, base: usize, places: &mut [usize; ENDS], count: usize) -> usize {
        let matches = bits.count_ones() as usize;
        let Some(room) = places[count..].first_chunk_mut::<BLOCK_BYTES>() else { return count };
        for eight in room.as_chunks_mut::<8>().0 {
            // Eight are written without a branch for each; those that are too many are overwritten later.
            for place in eight {
                *place = base + bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
        count + matches
    }
}

/// Code that is compiled for every instruction set.
pub(crate) trait Kernel {
    type Out;

    /// Implementations, and all functions they call, must be `#[inline(always)]`: only then are they compiled
    /// for the instruction set of `L`.
    fn run<L: Simd>(self, simd: L) -> Self::Out;
}

/// `items.map(f)` for kernels, always inlined: that of `core` may be compiled without the instruction set of
/// its caller.
#[inline(always)]
pub(crate) fn mapped<T: Copy, U: Copy, const N: usize>(items: &[T; N], f: impl Fn(T) -> U) -> [U; N] {
    let mut all = [f(items[0]); N];
    for at in 1..N {
        all[at] = f(items[at]);
    }
    all
}
