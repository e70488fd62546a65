//! Tokens of similar length, and how places where none of them starts are passed over.
//!
//! A place is looked at in up to three steps: whether its first bytes are ones that some token has there, in vector code
//! for 64 places at once; whether all of them together may be the prefix of a token, in a filter of hashes; whether a
//! token stands there.

use super::bloom::Bloom;
use super::table::TokenTable;
use crate::simd::{self, BLOCK_BYTES, ENDS, Kernel, Simd};

/// Bytes of a prefix at the most.
const MAX_PREFIX_BYTES: usize = 8;

/// Tokens of at least so many bytes, up to those of the next group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Bytes of a prefix: those of the shortest token, [`MAX_PREFIX_BYTES`] at the most.
    prefix_len: usize,
    sets: ByteSets,
    filter: Bloom,
    table: TokenTable,
}

impl Group {
    /// The tokens `members` of `all`, by index. None is longer than [`MAX_LENGTH`](super::table::MAX_LENGTH).
    pub(super) fn new(all: &[Vec<u8>], members: &[u32]) -> Self {
        let tokens = || members.iter().map(|&index| all[index as usize].as_slice());
        let prefix_len = tokens().map(<[u8]>::len).min().unwrap_or(0).clamp(1, MAX_PREFIX_BYTES);
        let table = TokenTable::new(all, members, |token| prefix(token, prefix_len));
        let mut filter = Bloom::new(table.prefixes().count());
        table.prefixes().for_each(|prefix| filter.add(prefix));
        Group { prefix_len, sets: ByteSets::new(prefix_len, tokens()), filter, table }
    }

    /// The most lengths that tokens with the same prefix have: each may be tried at a place.
    pub(super) fn most_lengths(&self) -> u32 {
        self.table.most_lengths()
    }

    /// The longest token of the group that `text` begins with.
    pub(super) fn longest(&self, all: &[Vec<u8>], text: &[u8]) -> Option<usize> {
        self.table.longest(all, text, prefix(text, self.prefix_len))
    }

    /// Whether a token may stand at a place of a text.
    #[inline(always)]
    fn may_start(&self, text: &[u8], at: usize) -> bool {
        let eight = simd::eight(text, at).unwrap_or_else(|| padded(&text[at..]));
        self.filter.may_have(eight & mask(self.prefix_len))
    }
}

/// The first `len` bytes of a text as a number; zeros behind its end.
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

/// The bytes that prefixes have at each place, told by their two halves of four bits: some bytes may be too many.
#[derive(Clone, Copy, Debug)]
struct ByteSets {
    /// By the lower half, and by the upper one: bit `i` for the `i`th byte from the end of a prefix.
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

/// Searches a range of a text for the first place from `from` to `to` where `check` finds a token, among those that the
/// filters of one group leave.
pub(super) struct Search<'a, F> {
    pub(super) group: &'a Group,
    pub(super) text: &'a [u8],
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) check: F,
}

impl<T, F: FnMut(usize) -> Option<T>> Search<'_, F> {
    /// Looks at the places whose prefixes end at `ends`.
    #[inline(always)]
    fn check_places(&mut self, ends: &[usize]) -> Option<T> {
        for &end in ends {
            let at = end + 1 - self.group.prefix_len;
            if self.group.may_start(self.text, at)
                && let Some(found) = (self.check)(at)
            {
                return Some(found);
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
        // For each place of a prefix, whether the block before ended with all bytes up to it. A prefix that began
        // before the first block is none.
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
                // An addition: a shift of two words is slow on many machines.
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
                    let found = self.check_places(&ends[..count]);
                    if found.is_some() {
                        return found;
                    }
                    count = 0;
                }
            }
            base += BLOCK_BYTES;
        }
        self.check_places(&ends[..count])
    }
}
