//! Tokens of similar length, and what tells at most places of a text that none of them starts there.
//!
//! Every token of a group is at least `stride + gram - 1` bytes long, so of the places where one could start, any
//! `stride` neighbouring ones share a gram that each token would have there: only that one is looked at. First in vector
//! code: whether each byte of it is one that some token has in that part; then by a hash, in a filter of all grams.

use super::bloom::{Bloom, BloomView};
use super::grams::{Grams, MAX_GRAM_BYTES, eight};
use super::heads::Heads;
use super::table::TokenTable;
use crate::simd::{self, BLOCK_BYTES, ENDS, Kernel, Simd};

/// The bytes that stand at each place of a gram. Those of a place are told by their nibbles: some may be too many.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteSets {
    /// By the lower nibble, and by the upper one: bit `i` for the `i`th byte from the end of a gram.
    low: [u8; 16],
    high: [u8; 16],
}

impl ByteSets {
    pub(super) fn new<'t>(grams: Grams, tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let unused = !(u8::MAX >> (MAX_GRAM_BYTES - grams.len));
        let (mut low, mut high) = ([unused; 16], [unused; 16]);
        for token in tokens {
            for start in 0..grams.stride {
                for (at, byte) in token[start..start + grams.len].iter().rev().enumerate() {
                    low[usize::from(byte & 0xF)] |= 1 << at;
                    high[usize::from(byte >> 4)] |= 1 << at;
                }
            }
        }
        ByteSets { low, high }
    }

    /// Whether each byte of a gram is one that stands there.
    pub(super) fn have(&self, gram: &[u8]) -> bool {
        gram.iter().rev().enumerate().all(|(at, byte)| {
            self.low[usize::from(byte & 0xF)] & self.high[usize::from(byte >> 4)] >> at & 1 != 0
        })
    }
}

/// Tokens of at least so many bytes, up to those of the next group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    grams: Grams,
    sets: ByteSets,
    /// All grams.
    bloom: Bloom,
    heads: Heads,
    /// The tokens by their first bytes.
    table: TokenTable,
    /// Which bits of 64 are each `stride`th, by the first one.
    samples: [u64; MAX_GRAM_BYTES],
}

impl Group {
    pub(super) fn new(grams: Grams, all: &[Vec<u8>], members: &[u32]) -> Self {
        let tokens = || members.iter().map(|&index| all[index as usize].as_slice());
        let mut bloom = Bloom::new(members.len() * grams.stride);
        for token in tokens() {
            grams.of(token).for_each(|gram| bloom.add(gram));
        }
        let every = (0..BLOCK_BYTES).step_by(grams.stride).fold(0, |bits, at| bits | 1 << at);
        Group {
            grams,
            sets: ByteSets::new(grams, tokens()),
            bloom,
            heads: Heads::new(tokens()),
            table: TokenTable::new(all, members, grams),
            samples: std::array::from_fn(|first| every << first),
        }
    }

    /// The longest token of the group that `text` begins with.
    pub(super) fn longest(&self, all: &[Vec<u8>], text: &[u8]) -> Option<usize> {
        if text.len() < self.grams.len || !self.heads.may_begin(text) {
            return None;
        }
        self.table.longest(all, text, self.grams.key(text))
    }
}

/// Which of up to 64 grams, told by their ends, the filter may have.
///
/// Without a branch for what it says: one that is seldom wrong is still wrong often. And bits instead of a list: a store
/// whose place is known late holds up the loads behind it.
#[inline(always)]
fn known(bloom: BloomView<'_>, text: &[u8], ends: &[usize], len: usize) -> u64 {
    let mask = u64::MAX >> (64 - 8 * len);
    // From the last 8 bytes on, those that are left.
    let tail = text.len().saturating_sub(MAX_GRAM_BYTES);
    let last = eight(&text[tail..]);
    ends.iter().rev().fold(0, |known, &end| {
        let gram = end + 1 - len;
        let eight = simd::eight(text, gram).unwrap_or_else(|| last.wrapping_shr(8 * (gram - tail) as u32));
        known << 1 | bloom.may_have(eight & mask)
    })
}

/// Searches a stretch of a text for the first place from `from` to `to` where `check` finds a token, among those that
/// the grams of one group leave.
pub(super) struct Search<'a, F> {
    pub(super) group: &'a Group,
    pub(super) text: &'a [u8],
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) check: F,
}

impl<T, F: FnMut(usize) -> Option<T>> Search<'_, F> {
    /// Looks at the grams that end at `ends`.
    #[inline(always)]
    fn check_grams(&mut self, ends: &[usize]) -> Option<T> {
        let Group { grams, bloom, heads, .. } = self.group;
        for ends in ends.chunks(BLOCK_BYTES) {
            let mut known = known(bloom.view(), self.text, ends, grams.len);
            while known != 0 {
                let gram = ends[known.trailing_zeros() as usize] + 1 - grams.len;
                for start in gram + 1 - grams.stride..self.to.min(gram + 1) {
                    if heads.may_begin(&self.text[start..])
                        && let Some(found) = (self.check)(start)
                    {
                        return Some(found);
                    }
                }
                known &= known - 1;
            }
        }
        None
    }
}

impl<T, F: FnMut(usize) -> Option<T>> Kernel for Search<'_, F> {
    type Out = Option<T>;

    #[inline(always)]
    fn run<L: Simd>(mut self, simd: L) -> Option<T> {
        let Group { grams: Grams { len, stride }, sets, samples, .. } = self.group;
        let (len, stride) = (*len, *stride);
        // Where the first gram begins, and where the last one must have ended.
        let mut base = self.from + stride - 1;
        let limit = self.text.len().min(self.to + stride + len - 2);
        // Of each byte of a gram, whether the block before ended with all that come before it. A gram that began
        // before the first block is none.
        let mut carries: [u64; MAX_GRAM_BYTES] = std::array::from_fn(|back| u64::from(back + 1 >= len));
        let (mut first, step) = ((len - 1) % stride, (stride - BLOCK_BYTES % stride) % stride);
        let (mut ends, mut count) = ([0; ENDS], 0);
        while base < limit {
            let bytes = match self.text[base..].first_chunk() {
                Some(block) => simd.load(block),
                None => simd.load_padded(&self.text[base..]),
            };
            let masks = simd.sets(bytes, &sets.low, &sets.high);
            let mut hits = masks[MAX_GRAM_BYTES - 1];
            for back in (0..MAX_GRAM_BYTES - 1).rev() {
                // An addition: a shift of two words is slow on many machines.
                let shifted = hits.wrapping_add(hits).wrapping_add(carries[back]);
                carries[back] = hits >> (BLOCK_BYTES - 1);
                hits = shifted & masks[back];
            }
            hits &= samples[first];
            if limit - base < BLOCK_BYTES {
                hits &= (1 << (limit - base)) - 1;
            }
            if hits != 0 {
                count = simd.add_places(hits, base, &mut ends, count);
                if count > ENDS - BLOCK_BYTES {
                    let found = self.check_grams(&ends[..count]);
                    if found.is_some() {
                        return found;
                    }
                    count = 0;
                }
            }
            first += step;
            first -= if first < stride { 0 } else { stride };
            base += BLOCK_BYTES;
        }
        self.check_grams(&ends[..count])
    }
}
