//! A short pretoken: a scan over all ranks for each merge.

use super::pairs::{NEVER, Pairs};
use crate::simd;

/// The longest pretoken that this takes: a place is six bits of a number.
pub(super) const LONGEST: usize = 64;
/// Bits of a number that hold a place; the others hold a rank.
const PLACE: u32 = 6;
/// Ranks from here on do not fit: vocabularies of 67 million merges.
pub(super) const RANKS: usize = (1 << (32 - PLACE)) - 1;

/// The parts of a pretoken of up to `N` bytes. A part has the place of its first byte; the others are empty.
struct Parts<const N: usize> {
    tokens: [u32; N],
    /// Of each part, the rank at which it merges with the next one, and its place below that: so the least of these
    /// is the lowest rank, and the leftmost of several. [`NEVER`] where nothing merges, and in empty places.
    merges: [u32; N],
    /// A bit for each part.
    live: u64,
}

/// Appends the tokens of `pretoken`, at most [`LONGEST`] bytes, to `out`: every merge of a rank below `limit`, all of
/// them below [`RANKS`].
#[inline]
pub(super) fn merge(pairs: &Pairs, pretoken: &[u8], limit: u32, out: &mut Vec<u32>) {
    // A length that is known: then the ranks of a short pretoken stay in registers.
    if pretoken.len() <= 16 {
        simd::vectored(
            #[inline(always)]
            || Parts::<16>::merge(pairs, pretoken, limit, out),
        );
    } else {
        simd::vectored(
            #[inline(always)]
            || Parts::<LONGEST>::merge(pairs, pretoken, limit, out),
        );
    }
}

impl<const N: usize> Parts<N> {
    #[inline(always)]
    fn merge(pairs: &Pairs, pretoken: &[u8], limit: u32, out: &mut Vec<u32>) {
        let mut parts = Parts::<N>::new(pairs, pretoken);
        let end = limit.min(RANKS as u32) << PLACE;
        loop {
            let lowest = parts.merges.into_iter().fold(NEVER, u32::min);
            if lowest >= end {
                break;
            }
            parts.apply(pairs, lowest);
        }
        let mut live = parts.live;
        while live != 0 {
            out.push(parts.tokens[live.trailing_zeros() as usize % N]);
            live &= live - 1;
        }
    }

    #[inline(always)]
    fn new(pairs: &Pairs, pretoken: &[u8]) -> Self {
        let mut parts = Parts { tokens: [0; N], merges: [NEVER; N], live: 0 };
        for (token, &byte) in parts.tokens.iter_mut().zip(pretoken) {
            *token = pairs.byte_token(byte);
        }
        for ((place, merge), pair) in (0..).zip(&mut parts.merges).zip(pretoken.windows(2)) {
            *merge = with_place(pairs.rank_of_bytes(pair[0], pair[1]), place);
        }
        parts.live = if pretoken.len() < LONGEST { (1 << pretoken.len()) - 1 } else { u64::MAX };
        parts
    }

    #[inline(always)]
    fn apply(&mut self, pairs: &Pairs, merge: u32) {
        let at = (merge as usize) % LONGEST;
        let token = pairs.result(merge >> PLACE);
        let right = self.after(at);
        self.live &= !(1 << right);
        self.tokens[at % N] = token;
        let next = self.after(at);
        let mut here = NEVER;
        if next < LONGEST {
            here = with_place(pairs.rank(token, self.tokens[next % N]), at as u32);
        }
        let before = self.live & ((1 << at) - 1);
        let (mut previous, mut there) = (LONGEST, NEVER);
        if before != 0 {
            previous = LONGEST - 1 - before.leading_zeros() as usize;
            there = with_place(pairs.rank(self.tokens[previous % N], token), previous as u32);
        }
        // A choice for every place instead of stores to three of them: what is in registers stays there.
        for (place, merge) in self.merges.iter_mut().enumerate() {
            let mut new = if place == right { NEVER } else { *merge };
            new = if place == at { here } else { new };
            *merge = if place == previous { there } else { new };
        }
    }

    /// The place of the part after the one at `at`; [`LONGEST`] after the last.
    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        (self.live & (u64::MAX - 1) << at).trailing_zeros() as usize
    }
}

#[inline(always)]
fn with_place(rank: u32, place: u32) -> u32 {
    if rank == NEVER { NEVER } else { rank << PLACE | place }
}
