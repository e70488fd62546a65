//! A short pretoken: a look at all ranks for each merge.

use super::pairs::{NEVER, Pairs};
use crate::simd::{Isa, Kernel, LANES, Simd};

/// The longest pretoken that this takes: a place is six bits of a number.
pub(super) const MAX_SHORT_BYTES: usize = 64;
/// Bits of a number that hold a place; the others hold a rank.
const PLACE_BITS: u32 = 6;
/// Ranks from here on do not fit: vocabularies of 67 million merges.
pub(super) const MAX_SHORT_RANKS: usize = (1 << (32 - PLACE_BITS)) - 1;
/// Groups of places, each as many as an instruction set compares at once.
const MAX_GROUPS: usize = MAX_SHORT_BYTES / LANES;

/// Appends the tokens of `pretoken`, at most [`MAX_SHORT_BYTES`] bytes, to `out`; ranks are below [`MAX_SHORT_RANKS`]. Returns a bit for
/// each place where one begins.
#[inline]
pub(super) fn merge(isa: Isa, pairs: &Pairs, pretoken: &[u8], out: &mut Vec<u32>) -> u64 {
    match pretoken.len() {
        0..=LANES => isa.run(MergeShort::<1> { pairs, pretoken, out }),
        _ => isa.run(MergeShort::<MAX_GROUPS> { pairs, pretoken, out }),
    }
}

/// A pretoken of up to `N` groups of places. With a number that is known the ranks stay in registers.
struct MergeShort<'a, const N: usize> {
    pairs: &'a Pairs,
    pretoken: &'a [u8],
    out: &'a mut Vec<u32>,
}

impl<const N: usize> Kernel for MergeShort<'_, N> {
    type Out = u64;

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> u64 {
        let MergeShort { pairs, pretoken, out } = self;
        let mut parts = ShortParts::<L, N>::new(simd, pairs, pretoken);
        loop {
            let lowest = parts.lowest();
            if lowest >= (MAX_SHORT_RANKS as u32) << PLACE_BITS {
                break;
            }
            parts.apply(pairs, lowest);
        }
        let mut live = parts.live;
        while live != 0 {
            out.push(parts.tokens[live.trailing_zeros() as usize]);
            live &= live - 1;
        }
        parts.live
    }
}

/// The parts of a pretoken. A part has the place of its first byte; the others are empty.
struct ShortParts<L: Simd, const N: usize> {
    simd: L,
    tokens: [u32; MAX_SHORT_BYTES],
    /// Of each part, the rank at which it merges with the next one, and its place below that: so the least of these
    /// is the lowest rank, and the leftmost of several. [`NEVER`] where nothing merges, and in empty places.
    merges: [L::Lanes; N],
    /// A bit for each part.
    live: u64,
}

impl<L: Simd, const N: usize> ShortParts<L, N> {
    #[inline(always)]
    fn new(simd: L, pairs: &Pairs, pretoken: &[u8]) -> Self {
        let (mut tokens, mut merges) = ([0; MAX_SHORT_BYTES], [[NEVER; LANES]; N]);
        for (token, &byte) in tokens.iter_mut().zip(pretoken) {
            *token = pairs.byte_token(byte);
        }
        for ((place, merge), pair) in (0..).zip(merges.as_flattened_mut()).zip(pretoken.windows(2)) {
            *merge = with_place(pairs.rank_of_bytes(pair[0], pair[1]), place);
        }
        let live = if pretoken.len() < MAX_SHORT_BYTES { (1 << pretoken.len()) - 1 } else { u64::MAX };
        ShortParts { simd, tokens, merges: merges.map(|lanes| simd.lanes(&lanes)), live }
    }

    /// The least of the merges.
    #[inline(always)]
    fn lowest(&self) -> u32 {
        self.merges.into_iter().fold(NEVER, |least, lanes| least.min(self.simd.least(lanes)))
    }

    #[inline(always)]
    fn apply(&mut self, pairs: &Pairs, merge: u32) {
        let at = (merge as usize) % MAX_SHORT_BYTES;
        let token = pairs.result(merge >> PLACE_BITS);
        let right = self.after(at);
        self.live &= !(1 << right);
        self.tokens[at] = token;
        let next = self.after(at);
        let mut here = NEVER;
        if next < MAX_SHORT_BYTES {
            here = with_place(pairs.rank(token, self.tokens[next]), at as u32);
        }
        let before = self.live & ((1 << at) - 1);
        if before != 0 {
            let previous = MAX_SHORT_BYTES - 1 - before.leading_zeros() as usize;
            self.put(previous, with_place(pairs.rank(self.tokens[previous], token), previous as u32));
        }
        self.put(at, here);
        self.put(right, NEVER);
    }

    /// The place of the part after the one at `at`; [`MAX_SHORT_BYTES`] after the last.
    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        (self.live & (u64::MAX - 1) << at).trailing_zeros() as usize
    }

    #[inline(always)]
    fn put(&mut self, place: usize, merge: u32) {
        let group = if N == 1 { 0 } else { place / LANES };
        self.merges[group] = self.simd.put(self.merges[group], place % LANES, merge);
    }
}

#[inline(always)]
fn with_place(rank: u32, place: u32) -> u32 {
    if rank == NEVER { NEVER } else { rank << PLACE_BITS | place }
}
