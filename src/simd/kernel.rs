//! What code for an instruction set can do, and code that is compiled for each of them.

use super::classes::{Ascii, BLOCK_BYTES, ENDS, NonAscii};

/// Numbers that are compared at once.
pub(crate) const LANES: usize = 16;

/// Numbers without a pattern, for hashes.
pub(crate) const SALT: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];

/// The two halves of the product, mixed: one multiplication.
#[inline(always)]
pub(crate) fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// Code for one instruction set.
pub(crate) trait Simd: Copy {
    /// A block in registers.
    type Bytes: Copy;

    fn load(self, block: &[u8; BLOCK_BYTES]) -> Self::Bytes;

    /// Fewer than 64 bytes, and zeros behind them.
    #[inline(always)]
    fn load_padded(self, bytes: &[u8]) -> Self::Bytes {
        let mut block = [0; BLOCK_BYTES];
        block[..bytes.len()].copy_from_slice(bytes);
        self.load(&block)
    }

    fn ascii(self, bytes: Self::Bytes) -> Ascii;

    fn non_ascii(self, bytes: Self::Bytes) -> NonAscii;

    /// The bits of each byte that both its nibbles' rows have: a mask for each bit, the lowest first.
    fn sets(self, bytes: Self::Bytes, low: &[u8; 16], high: &[u8; 16]) -> [u64; 8];

    /// [`LANES`] numbers in registers.
    type Lanes: Copy;

    fn lanes(self, numbers: &[u32; LANES]) -> Self::Lanes;

    /// The least of them.
    fn least(self, lanes: Self::Lanes) -> u32;

    /// With another number at `at`.
    fn put(self, lanes: Self::Lanes, at: usize, number: u32) -> Self::Lanes;

    /// Writes the UTF-8 of characters, and anything behind it; returns how many bytes it is.
    #[inline(always)]
    fn utf8(self, points: &[u32; LANES], room: &mut [u8; 4 * LANES]) -> usize {
        let mut len = 0;
        for &point in points {
            let low = |shift: u32| 0x80 | point >> shift & 0x3f;
            let longer = [0x80, 0x800, 0x1_0000].map(|least| usize::from(point >= least));
            let longer = longer[0] + longer[1] + longer[2];
            // All forms are made and one is chosen, and always four bytes are written: branches would be mispredicted
            // in text of many scripts.
            let bytes = [
                point,
                0xc0 | point >> 6 | low(0) << 8,
                0xe0 | point >> 12 | low(6) << 8 | low(0) << 16,
                0xf0 | point >> 18 | low(12) << 8 | low(6) << 16 | low(0) << 24,
            ];
            if let Some(four) = room.get_mut(len..len + 4) {
                four.copy_from_slice(&bytes[longer].to_le_bytes());
            }
            len += 1 + longer;
        }
        len
    }

    /// Whether two keys are the same, where only the bits of `mask` count.
    #[inline(always)]
    fn same(self, one: &[u64; 2], other: &[u64; 2], mask: &[u64; 2]) -> bool {
        (one[0] ^ other[0]) & mask[0] | (one[1] ^ other[1]) & mask[1] == 0
    }

    /// Which of two keys is `key`, where only the bits of `mask` count: 0, 1, or 2 for none.
    #[inline(always)]
    fn which(self, keys: &[[u64; 2]; 2], key: [u64; 2], mask: [u64; 2]) -> usize {
        let differs = |[low, high]: [u64; 2]| (low ^ key[0]) & mask[0] | (high ^ key[1]) & mask[1];
        let [first, second] = keys.map(differs);
        usize::from(first != 0) + usize::from((first != 0) & (second != 0))
    }

    /// What `keep` has of these bytes, and `add`; and a number that depends on all of it, the upper bits of which are
    /// the better ones, and which differs from leaf to leaf.
    #[inline(always)]
    fn key(self, bytes: &[u8; 16], keep: &[u64; 2], add: &[u64; 2]) -> ([u64; 2], u64) {
        let all = u128::from_le_bytes(*bytes);
        let (low, high) = (all as u64 & keep[0] | add[0], (all >> 64) as u64 & keep[1] | add[1]);
        ([low, high], fold(low ^ SALT[0], high ^ SALT[1]))
    }

    /// Adds `base` and the number of each bit of `bits` to the `count` places there are; returns how many there
    /// are then. With room for fewer than 64, none.
    #[inline(always)]
    fn add_places(self, mut bits: u64, base: usize, places: &mut [usize; ENDS], count: usize) -> usize {
        let found = bits.count_ones() as usize;
        let Some(room) = places[count..].first_chunk_mut::<BLOCK_BYTES>() else { return count };
        for eight in room.as_chunks_mut::<8>().0 {
            // Without a branch for each: what is too much is overwritten later.
            for place in eight {
                *place = base + bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
        count + found
    }
}

/// Something to do with whichever leaf there is; inlined into code that is compiled for its instruction set.
pub(crate) trait Kernel {
    type Out;

    /// To be marked `#[inline(always)]`, like all that it calls.
    fn run<L: Simd>(self, simd: L) -> Self::Out;
}
