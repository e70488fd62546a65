//! BPE of a short pretoken: each merge scans the ranks of all pairs.

use super::first_tokens::Symbols;
use super::pairs::{NEVER, Pairs};
use crate::simd::{Isa, Kernel, LANES, Simd, mapped};

/// The longest pretoken for this scan, in bytes: a place has [`PLACE_BITS`] bits, and the places that have a
/// part fit into a `u64`.
pub(super) const MAX_SHORT_BYTES: usize = 64;
/// Bits of a place in a number that holds a rank and a place.
const PLACE_BITS: u32 = 6;
/// Ranks below this fit beside a place; only vocabularies of 67 million merges have others.
pub(super) const MAX_SHORT_RANKS: usize = (1 << (32 - PLACE_BITS)) - 1;
/// Groups of places; an instruction set compares the places of a group at once.
const MAX_GROUPS: usize = MAX_SHORT_BYTES / LANES;

/// Appends the tokens of `pretoken` to `out`. It must have at most [`MAX_SHORT_BYTES`] bytes, and all ranks
/// must be below [`MAX_SHORT_RANKS`]. Returns a mask of the places where tokens begin.
#[inline]
pub(super) fn merge(isa: Isa, pairs: &Pairs, pretoken: &[u8], out: &mut Vec<u32>) -> u64 {
    match pretoken.len() {
        0..=LANES => isa.run(MergeShort::<1> { pairs, pretoken, out }),
        _ => isa.run(MergeShort::<MAX_GROUPS> { pairs, pretoken, out }),
    }
}

/// Merges a pretoken of up to `N` groups of places. `N` is a constant so that the ranks stay in registers;
/// one group instead of four is faster for up to 16 bytes, two groups for 32 bytes are not.
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
        let mut parts = match pairs.first_tokens() {
            None => ShortParts::<L, N>::new(simd, pairs, pretoken),
            Some(first_tokens) => ShortParts::<L, N>::of_symbols(simd, pairs, first_tokens.symbols(pretoken)),
        };
        loop {
            let lowest = parts.simd.lowest(parts.merges);
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

/// The parts of a pretoken. A part is at the place of its first byte; the other places are empty.
struct ShortParts<L: Simd, const N: usize> {
    simd: L,
    tokens: [u32; MAX_SHORT_BYTES],
    /// For each part, `rank << PLACE_BITS | place`, where `rank` is that of merging with the next part. So
    /// the smallest number has the lowest rank, at the leftmost place. [`NEVER`] for parts that do not merge,
    /// and for empty places.
    merges: [L::Lanes; N],
    /// A mask of the places that have a part.
    live: u64,
}

impl<L: Simd, const N: usize> ShortParts<L, N> {
    #[inline(always)]
    fn new(simd: L, pairs: &Pairs, pretoken: &[u8]) -> Self {
        let (mut tokens, mut merges) = ([0; MAX_SHORT_BYTES], [[NEVER; LANES]; N]);
        for (token, &byte) in tokens.iter_mut().zip(pretoken) {
            *token = pairs.byte_token(byte);
        }
        for (place, pair) in pretoken.windows(2).enumerate() {
            merges[place / LANES][place % LANES] =
                with_place(pairs.rank_of_bytes(pair[0], pair[1]), place as u32);
        }
        let live = if pretoken.len() < MAX_SHORT_BYTES { (1 << pretoken.len()) - 1 } else { u64::MAX };
        ShortParts { simd, tokens, merges: mapped(&merges, |lanes| simd.lanes(&lanes)), live }
    }

    /// The parts of a pretoken of characters.
    #[inline(always)]
    fn of_symbols(simd: L, pairs: &Pairs, symbols: Symbols<'_>) -> Self {
        let (mut tokens, mut merges) = ([0; MAX_SHORT_BYTES], [[NEVER; LANES]; N]);
        let (mut live, mut last) = (0_u64, None);
        for (place, token) in symbols {
            tokens[place] = token;
            live |= 1 << place;
            if let Some(before) = last.replace(place) {
                let rank = pairs.rank_of_symbols(tokens[before], token);
                merges[before / LANES][before % LANES] = with_place(rank, before as u32);
            }
        }
        ShortParts { simd, tokens, merges: mapped(&merges, |lanes| simd.lanes(&lanes)), live }
    }

    /// Does the merge of a number of `merges`.
    #[inline(always)]
    fn apply(&mut self, pairs: &Pairs, merge: u32) {
        let at = (merge as usize) % MAX_SHORT_BYTES;
        let right = self.after(at);
        let token =
            pairs.result(merge >> PLACE_BITS, (self.tokens[at], self.tokens[right % MAX_SHORT_BYTES]));
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
            let merge = with_place(pairs.rank(self.tokens[previous], token), previous as u32);
            self.simd.put(&mut self.merges, previous, merge);
        }
        self.simd.put(&mut self.merges, at, here);
        self.simd.put(&mut self.merges, right, NEVER);
    }

    /// The place of the part after the one at `at`; [`MAX_SHORT_BYTES`] after the last part.
    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        (self.live & (u64::MAX - 1) << at).trailing_zeros() as usize
    }
}

#[inline(always)]
fn with_place(rank: u32, place: u32) -> u32 {
    if rank == NEVER { NEVER } else { rank << PLACE_BITS | place }
}
/// The maximum number of tokens that [`merge_tokens`] takes.
pub(super) const MAX_FEW_TOKENS: usize = 32;

/// Merges few tokens by looking for the lowest rank again and again. `ranks` has the rank of each token with
/// the next one, and is empty afterwards.
pub(super) fn merge_tokens(pairs: &Pairs, tokens: &mut Vec<u32>, ranks: &mut Vec<u32>) {
    while let Some((at, &rank)) = ranks.iter().enumerate().min_by_key(|&(_, rank)| rank)
        && rank != NEVER
    {
        tokens[at] = pairs.result(rank, (tokens[at], tokens[at + 1]));
        tokens.remove(at + 1);
        ranks.remove(at);
        if at < ranks.len() {
            ranks[at] = pairs.rank_of_symbols(tokens[at], tokens[at + 1]);
        }
        if at > 0 {
            ranks[at - 1] = pairs.rank_of_symbols(tokens[at - 1], tokens[at]);
        }
    }
    ranks.clear();
}
