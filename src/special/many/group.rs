//! Tokens of similar length, and filters that skip places where none of them starts.
//!
//! A place is checked in up to three steps: whether each of its first bytes occurs at that position of some
//! token, in vector code for 64 places at once; whether the bytes together may be the prefix of a token, in a
//! Bloom filter; and whether a token stands there.

use super::bloom::Bloom;
use super::table::TokenTable;
use crate::simd::{self, BLOCK_BYTES, ENDS, Kernel, Simd};

/// The maximum number of bytes of a prefix: those of a `u64`.
const MAX_PREFIX_BYTES: usize = 8;

/// The tokens whose lengths lie in the range of the group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Bytes of a prefix: those of the shortest token of the group, at most [`MAX_PREFIX_BYTES`].
    prefix_len: usize,
    sets: ByteSets,
    filter: Bloom,
    table: TokenTable,
}

impl Group {
    /// A group of the tokens `members` of `all`, by index. None may be longer than
    /// [`MAX_LENGTH`](super::table::MAX_LENGTH).
    pub(super) fn new(all: &[Vec<u8>], members: &[u32]) -> Self {
        let tokens = || members.iter().map(|&index| all[index as usize].as_slice());
        let prefix_len = tokens().map(<[u8]>::len).min().unwrap_or(0).clamp(1, MAX_PREFIX_BYTES);
        let table = TokenTable::new(all, members, |token| prefix(token, prefix_len));
        let mut filter = Bloom::new(table.prefixes().count());
        table.prefixes().for_each(|prefix| filter.add(prefix));
        Group { prefix_len, sets: ByteSets::new(prefix_len, tokens()), filter, table }
    }

    /// The maximum number of different lengths among tokens with the same prefix. Each of them may have to be
    /// tried at a place.
    pub(super) fn max_lengths(&self) -> u32 {
        self.table.max_lengths()
    }

    /// The longest token of the group that `text` begins with.
    pub(super) fn longest(&self, all: &[Vec<u8>], text: &[u8]) -> Option<usize> {
        self.table.longest(all, text, prefix(text, self.prefix_len))
    }

    /// Whether a token may stand at a place of a text; checked in the Bloom filter only.
    #[inline(always)]
    fn may_start(&self, text: &[u8], at: usize) -> bool {
        let eight = simd::eight(text, at).unwrap_or_else(|| padded(&text[at..]));
        self.filter.may_have(eight & mask(self.prefix_len))
    }
}

/// The first `len` bytes of a text as a number, with zeros after the end of the text.
fn prefix(text: &[u8], len: usize) -> u64 {
    text.first_chunk().map_or_else(|| padded(text), |eight| u64::from_le_bytes(*eight)) & mask(len)
}

fn mask(len: usize) -> u64 {
    u64::MAX >> (64 - 8 * len)
}

#[cold]
fn padded(text: &[u8]) -> u64 {
    let mut eight = [0; MAX_PREFIX_BYTES];
    eight[..text.len()].copy_from_slice(text);
    u64::from_le_bytes(eight)
}

/// For each position of a prefix, the set of bytes that occur there. A set is stored by nibbles, so it may
/// contain bytes that do not occur.
#[derive(Clone, Copy, Debug)]
struct ByteSets {
    /// The positions that contain each lower nibble, and below each upper nibble: bit `i` stands for the
    /// `i`th byte from the end of a prefix.
    low: [u8; 16],
    high: [u8; 16],
}

impl ByteSets {
    fn new<'t>(prefix_len: usize, tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let unused = !(u8::MAX >> (MAX_PREFIX_BYTES - prefix_len));
        let (mut low, mut high) = ([unused; 16], [unused; 16]);
        for token in tokens {
            for (at, byte) in token[..prefix_len].iter().rev().enumerate() {
                low[usize::from(byte & 0xF)] |= 1 << at;
                high[usize::from(byte >> 4)] |= 1 << at;
            }
        }
        ByteSets { low, high }
    }
}

/// Searches for the first place in `from..to` where `check` finds a token. `check` is called for the places
/// that the filters of the group let through.
pub(super) struct Search<'a, F> {
    pub(super) group: &'a Group,
    pub(super) text: &'a [u8],
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) check: F,
}

impl<T, F: FnMut(usize) -> Option<T>> Search<'_, F> {
    /// Checks the places whose prefixes end at `ends`.
    #[inline(always)]
    fn check_places(&mut self, ends: &[usize]) -> Option<T> {
        for &end in ends {
            let at = end + 1 - self.group.prefix_len;
            if self.group.may_start(self.text, at)
                && let Some(hit) = (self.check)(at)
            {
                return Some(hit);
            }
        }
        None
    }
}

impl<T, F: FnMut(usize) -> Option<T>> Kernel for Search<'_, F> {
    type Out = Option<T>;

    #[inline(always)]
    fn run<L: Simd>(mut self, simd: L) -> Option<T> {
        let Group { prefix_len, sets, .. } = self.group;
        let limit = self.text.len().min(self.to + prefix_len - 1);
        // For each position of a prefix, whether the last byte of the block before matched all positions up
        // to it. Positions that the prefix does not use match always; a prefix that began before the first
        // block does not count.
        let mut carries: [u64; MAX_PREFIX_BYTES] =
            std::array::from_fn(|back| u64::from(back + 1 >= *prefix_len));
        let (mut ends, mut count) = ([0; ENDS], 0);
        let mut base = self.from;
        while base < limit {
            let bytes = match self.text[base..].first_chunk() {
                Some(block) => simd.load(block),
                None => simd.load_padded(&self.text[base..]),
            };
            let masks = simd.sets(bytes, &sets.low, &sets.high);
            let mut hits = masks[MAX_PREFIX_BYTES - 1];
            for back in (0..MAX_PREFIX_BYTES - 1).rev() {
                // This addition shifts by one bit and carries one in; shifting two words together is slow on
                // many machines.
                let shifted = hits.wrapping_add(hits).wrapping_add(carries[back]);
                carries[back] = hits >> (BLOCK_BYTES - 1);
                hits = shifted & masks[back];
            }
            if limit - base < BLOCK_BYTES {
                hits &= (1 << (limit - base)) - 1;
            }
            if hits != 0 {
                count = simd.add_places(hits, base, &mut ends, count);
                if count > ENDS - BLOCK_BYTES {
                    let hit = self.check_places(&ends[..count]);
                    if hit.is_some() {
                        return hit;
                    }
                    count = 0;
                }
            }
            base += BLOCK_BYTES;
        }
        self.check_places(&ends[..count])
    }
}
