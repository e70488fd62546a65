//! The table of merges: which pairs of adjacent tokens merge, at which rank, and into which token.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::first_tokens::FirstTokens;
use crate::hashing::spread;
use crate::memory::LargeTable;

/// The rank of a pair that does not merge; it is above all ranks.
pub(crate) const NEVER: u32 = u32::MAX;

/// Tokens and ranks below this fit into a slot of eight bytes: two tokens and a rank of [`FIELD_BITS`] each.
const MAX_PACKED: usize = 1 << FIELD_BITS;
const FIELD_BITS: u32 = 21;
const EMPTY_SLOT: u64 = u64::MAX;

/// Maps pairs of tokens (as indices) to ranks, and ranks to the tokens that result.
///
/// Pairs of two bytes have a table of their own: merging a pretoken starts with one lookup of it for each
/// byte, and never looks up two bytes again. All others are in a hash table with open addressing, at most
/// four fifths full, with slots of eight bytes. Most pairs that are looked up do not merge; one bit for each
/// hash tells this from a table an eighth as large, which stays in a near cache while the hash table does
/// not. For the same reason the hash table is filled as far as it is.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// The token of each byte.
    byte_tokens: [u32; 256],
    /// For each token that is a single byte, the byte plus 1; 0 for other tokens. Ends with the last such
    /// token.
    bytes: Vec<u16>,
    /// The ranks of all pairs of two bytes, by `left << 8 | right`.
    of_bytes: Vec<u32>,
    /// The hash table: both tokens and the rank of a pair, or [`EMPTY_SLOT`].
    slots: LargeTable<u64>,
    /// 64 minus log2 of the number of slots: the upper bits of a hash choose the slot.
    shift: u32,
    /// A bit for each hash of a pair in `slots`.
    present: Vec<u64>,
    /// Pairs that do not fit into a slot: in vocabularies of millions of tokens.
    others: HashMap<u64, u32, FxBuildHasher>,
    results: Results,
    /// The tokens with which merging begins; `None` if it begins with bytes.
    first_tokens: Option<Box<FirstTokens>>,
}

/// The token that results from each rank.
#[derive(Clone, Debug)]
enum Results {
    /// Ranks and tokens rise together, as under rank semantics and in every trained list. Needs no table.
    Shifted { by: u32, ranks: usize },
    Table {
        /// [`NEVER`] for a rank that pairs with different results share.
        of_ranks: Vec<u32>,
        /// The results of the pairs that share a rank.
        of_pairs: HashMap<u64, u32, FxBuildHasher>,
    },
}

impl Results {
    fn ranks(&self) -> usize {
        match self {
            Results::Shifted { ranks, .. } => *ranks,
            Results::Table { of_ranks, .. } => of_ranks.len(),
        }
    }

    fn insert(&mut self, rank: u32, result: u32) {
        let ranks = self.ranks().max(rank as usize + 1);
        if let Results::Shifted { by, ranks: so_far } = self {
            if *so_far == 0 {
                *by = result.wrapping_sub(rank);
            }
            if result == rank.wrapping_add(*by) {
                *so_far = ranks;
                return;
            }
        }
        self.table(ranks).0[rank as usize] = result;
    }

    /// Sets the result of a pair that shares its rank.
    fn insert_shared(&mut self, pair: (u32, u32), rank: u32, result: u32) {
        let (of_ranks, of_pairs) = self.table(self.ranks().max(rank as usize + 1));
        of_ranks[rank as usize] = NEVER;
        of_pairs.insert(wide_key(pair.0, pair.1), result);
    }

    /// Makes a table of so many ranks.
    fn table(&mut self, ranks: usize) -> (&mut Vec<u32>, &mut HashMap<u64, u32, FxBuildHasher>) {
        if let Results::Shifted { by, ranks } = *self {
            let of_ranks = (0..ranks as u32).map(|rank| rank.wrapping_add(by)).collect();
            *self = Results::Table { of_ranks, of_pairs: HashMap::default() };
        }
        match self {
            Results::Table { of_ranks, of_pairs } => {
                of_ranks.resize(ranks, NEVER);
                (of_ranks, of_pairs)
            }
            Results::Shifted { .. } => unreachable!("it has become a table"),
        }
    }

    #[cold]
    fn of_shared(of_pairs: &HashMap<u64, u32, FxBuildHasher>, (left, right): (u32, u32)) -> u32 {
        of_pairs.get(&wide_key(left, right)).copied().unwrap_or(NEVER)
    }
}

/// log2 of the number of bits of [`Pairs::present`] for each slot: eight bits, so that few pairs without a
/// merge pass.
const FILTER_BITS_PER_SLOT: u32 = 3;

impl Pairs {
    /// An empty table with room for `count` pairs. `byte_tokens` has the token of each byte.
    pub(crate) fn new(byte_tokens: [u32; 256], count: usize) -> Self {
        let slots = (count.min(MAX_PACKED) * 5 / 4 + 1).next_power_of_two().max(16);
        let last = byte_tokens.iter().max().map_or(0, |&token| token as usize);
        let mut bytes = vec![0; last + 1];
        for (byte, &token) in (1..).zip(&byte_tokens) {
            bytes[token as usize] = byte;
        }
        Pairs {
            byte_tokens,
            bytes,
            of_bytes: vec![NEVER; 1 << 16],
            slots: LargeTable::new(EMPTY_SLOT, slots),
            shift: 64 - slots.trailing_zeros(),
            present: vec![0; (slots << FILTER_BITS_PER_SLOT).div_ceil(64)],
            others: HashMap::default(),
            results: Results::Shifted { by: 0, ranks: 0 },
            first_tokens: None,
        }
    }

    /// An empty table with room for `count` pairs, for merging that begins with the first tokens of a
    /// vocabulary of characters.
    pub(crate) fn of_first_tokens(first_tokens: FirstTokens, count: usize) -> Self {
        let pairs = Pairs::new(first_tokens.of_bytes(), count);
        Pairs { first_tokens: Some(Box::new(first_tokens)), ..pairs }
    }

    /// A table of the same first tokens, without a pair, with room for `count` pairs.
    pub(crate) fn without_merges(&self, count: usize) -> Self {
        Pairs { first_tokens: self.first_tokens.clone(), ..Pairs::new(self.byte_tokens, count) }
    }

    /// The tokens with which merging begins; `None` if it begins with bytes.
    #[inline(always)]
    pub(crate) fn first_tokens(&self) -> Option<&FirstTokens> {
        self.first_tokens.as_deref()
    }

    /// The rank of two first tokens; [`NEVER`] if they do not merge.
    #[inline(always)]
    pub(crate) fn rank_of_symbols(&self, left: u32, right: u32) -> u32 {
        match (self.byte_of(left), self.byte_of(right)) {
            (Some(left), Some(right)) => self.rank_of_bytes(left, right),
            _ => self.rank(left, right),
        }
    }

    /// A copy of the table with room for `more` further pairs.
    pub(crate) fn with_room(&self, more: usize) -> Self {
        let used = self.slots.iter().filter(|&&slot| slot != EMPTY_SLOT);
        let mut pairs = Pairs::new(self.byte_tokens, used.clone().count() + more);
        for &slot in used {
            let number = |shift: u32| (slot >> shift) as u32 & (MAX_PACKED as u32 - 1);
            pairs.insert_tokens(number(2 * FIELD_BITS), number(FIELD_BITS), number(0));
        }
        pairs.of_bytes.clone_from(&self.of_bytes);
        pairs.others.clone_from(&self.others);
        pairs.results = self.results.clone();
        pairs.first_tokens.clone_from(&self.first_tokens);
        pairs
    }

    /// Adds a pair that merges at `rank` into `result`. If the table has the pair already, returns its rank
    /// as an error.
    pub(crate) fn insert(&mut self, left: u32, right: u32, rank: u32, result: u32) -> Result<(), u32> {
        self.results.insert(rank, result);
        self.insert_rank(left, right, rank)
    }

    /// Adds a pair like [`Pairs::insert`], whose rank others have too: of all these pairs the leftmost merges
    /// first.
    pub(crate) fn insert_shared(&mut self, left: u32, right: u32, rank: u32, result: u32) -> Result<(), u32> {
        self.results.insert_shared((left, right), rank, result);
        self.insert_rank(left, right, rank)
    }

    /// Adds a pair with the rank and the result that it has in another table, which has it.
    pub(crate) fn insert_from(&mut self, other: &Pairs, left: u32, right: u32) {
        let rank = other.rank_of_symbols(left, right);
        let result = other.result(rank, (left, right));
        let is_shared =
            matches!(&other.results, Results::Table { of_ranks, .. } if of_ranks[rank as usize] == NEVER);
        let _ = match is_shared {
            true => self.insert_shared(left, right, rank, result),
            false => self.insert(left, right, rank, result),
        };
    }

    fn insert_rank(&mut self, left: u32, right: u32, rank: u32) -> Result<(), u32> {
        let present = match (self.byte_of(left), self.byte_of(right)) {
            (Some(left), Some(right)) => {
                let place = &mut self.of_bytes[usize::from(left) << 8 | usize::from(right)];
                let present = *place;
                *place = rank;
                present
            }
            _ => self.insert_tokens(left, right, rank),
        };
        if present == NEVER { Ok(()) } else { Err(present) }
    }

    /// Adds a pair that is not two bytes; returns the rank that it has already, or [`NEVER`].
    fn insert_tokens(&mut self, left: u32, right: u32, rank: u32) -> u32 {
        let fits = |number: u32| (number as usize) < MAX_PACKED;
        if !(fits(left) && fits(right) && fits(rank)) {
            return self.others.insert(wide_key(left, right), rank).unwrap_or(NEVER);
        }
        let key = packed_key(left, right);
        let hash = spread(key);
        let bit = (hash >> (self.shift - FILTER_BITS_PER_SLOT)) as usize;
        self.present[bit / 64] |= 1 << (bit % 64);
        let mut at = (hash >> self.shift) as usize;
        while self.slots[at] != EMPTY_SLOT {
            if self.slots[at] >> FIELD_BITS == key {
                return self.slots[at] as u32 & (MAX_PACKED as u32 - 1);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = key << FIELD_BITS | u64::from(rank);
        NEVER
    }

    /// The byte that a token is, if it is a single one.
    fn byte_of(&self, token: u32) -> Option<u8> {
        let byte = self.bytes.get(token as usize)?.checked_sub(1)?;
        u8::try_from(byte).ok()
    }

    /// The token of a byte.
    #[inline(always)]
    pub(crate) fn byte_token(&self, byte: u8) -> u32 {
        self.byte_tokens[usize::from(byte)]
    }

    /// The rank of two bytes; [`NEVER`] if they do not merge.
    #[inline(always)]
    pub(crate) fn rank_of_bytes(&self, left: u8, right: u8) -> u32 {
        self.of_bytes[usize::from(left) << 8 | usize::from(right)]
    }

    /// The rank of two tokens, at least one of which is longer than a byte; [`NEVER`] if they do not merge.
    #[inline(always)]
    pub(crate) fn rank(&self, left: u32, right: u32) -> u32 {
        if (left | right) as usize >= MAX_PACKED {
            return self.rank_of_others(left, right);
        }
        let key = packed_key(left, right);
        let hash = spread(key);
        let bit = (hash >> (self.shift - FILTER_BITS_PER_SLOT)) as usize;
        if self.present[bit / 64] >> (bit % 64) & 1 == 0 {
            return if self.others.is_empty() { NEVER } else { self.rank_of_others(left, right) };
        }
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot >> FIELD_BITS == key {
                return slot as u32 & (MAX_PACKED as u32 - 1);
            }
            if slot == EMPTY_SLOT {
                return if self.others.is_empty() { NEVER } else { self.rank_of_others(left, right) };
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[cold]
    fn rank_of_others(&self, left: u32, right: u32) -> u32 {
        self.others.get(&wide_key(left, right)).copied().unwrap_or(NEVER)
    }

    /// The highest rank plus 1.
    pub(crate) fn ranks(&self) -> usize {
        self.results.ranks()
    }

    /// The token that two first tokens or longer ones merge into. The table must have the pair.
    pub(crate) fn made(&self, pair: (u32, u32)) -> u32 {
        self.result(self.rank_of_symbols(pair.0, pair.1), pair)
    }

    /// The token that a pair of a rank merges into.
    #[inline(always)]
    pub(crate) fn result(&self, rank: u32, pair: (u32, u32)) -> u32 {
        match &self.results {
            Results::Shifted { by, .. } => rank.wrapping_add(*by),
            Results::Table { of_ranks, of_pairs } => match of_ranks[rank as usize] {
                NEVER => Results::of_shared(of_pairs, pair),
                token => token,
            },
        }
    }
}

#[inline(always)]
fn packed_key(left: u32, right: u32) -> u64 {
    u64::from(left) << FIELD_BITS | u64::from(right)
}

fn wide_key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte_tokens() -> [u32; 256] {
        std::array::from_fn(|byte| byte as u32 + 3)
    }

    #[test]
    fn pairs_are_found_and_no_others() {
        let mut pairs = Pairs::new(byte_tokens(), 4);
        let huge = MAX_PACKED as u32 + 7;
        let inserted = [
            (3, 4, 0, 300),
            (300, 4, 1, 301),
            (4, 300, 5, 302),
            (huge, 300, 6, 303),
            (300, huge, 7, 304),
            (300, 301, MAX_PACKED as u32, 302), // a rank that is too large for a slot
        ];
        for (left, right, rank, result) in inserted {
            assert_eq!(pairs.insert(left, right, rank, result), Ok(()));
        }
        for (left, right, rank, result) in inserted {
            assert_eq!(pairs.insert(left, right, rank, result), Err(rank));
            assert_eq!(pairs.result(rank, (left, right)), result);
        }
        assert_eq!(pairs.rank_of_bytes(0, 1), 0);
        assert_eq!(pairs.rank_of_bytes(1, 0), NEVER);
        assert_eq!(pairs.rank(300, 4), 1);
        assert_eq!(pairs.rank(huge, 300), 6);
        assert_eq!(pairs.rank(300, 301), MAX_PACKED as u32);
        assert_eq!([(300, 300), (huge, 4), (0, 300), (301, 300)].map(|(a, b)| pairs.rank(a, b)), [NEVER; 4]);
    }

    #[test]
    fn a_copy_with_more_room_has_all_pairs() {
        let mut pairs = Pairs::new(byte_tokens(), 2);
        let huge = MAX_PACKED as u32 + 7;
        let inserted = [(3, 4, 0, 300), (300, 4, 1, 301), (301, 301, 2, 302), (huge, 3, 3, 303)];
        for (left, right, rank, result) in inserted {
            pairs.insert(left, right, rank, result).unwrap();
        }
        let mut larger = pairs.with_room(1000);
        for more in 0..1000 {
            larger.insert(400 + more, 300, 4 + more, 304 + more).unwrap();
        }
        for (left, right, rank, result) in inserted {
            assert_eq!(larger.insert(left, right, rank, result), Err(rank));
            assert_eq!(larger.result(rank, (left, right)), result);
        }
        assert_eq!(larger.rank(1399, 300), 1003);
        assert_eq!(larger.ranks(), 1004);
    }

    #[test]
    fn results_of_ranks_need_not_rise() {
        for results in [[5, 6, 7, 8], [5, 6, 6, 9], [9, 3, 2, 1]] {
            let mut pairs = Pairs::new(byte_tokens(), 4);
            for (rank, result) in (0..).zip(results) {
                pairs.insert(300 + rank, 300, rank, result).unwrap();
            }
            assert_eq!([0, 1, 2, 3].map(|rank| pairs.result(rank, (300 + rank, 300))), results);
            assert_eq!(pairs.ranks(), 4);
        }
    }

    #[test]
    fn pairs_that_share_a_rank_have_results_of_their_own() {
        let mut pairs = Pairs::new(byte_tokens(), 4);
        pairs.insert(300, 300, 0, 5).unwrap();
        for (left, right, result) in [(3, 4, 6), (300, 301, 7), (301, 301, 7)] {
            pairs.insert_shared(left, right, 1, result).unwrap();
            assert_eq!(pairs.insert_shared(left, right, 1, result), Err(1));
        }
        pairs.insert(301, 300, 4, 8).unwrap();
        let mut pairs = pairs.with_room(3);
        pairs.insert(302, 300, 5, 9).unwrap();
        let ranked = [
            (0, (300, 300)),
            (1, (3, 4)),
            (1, (300, 301)),
            (1, (301, 301)),
            (4, (301, 300)),
            (5, (302, 300)),
        ];
        assert_eq!(ranked.map(|(rank, pair)| pairs.result(rank, pair)), [5, 6, 7, 7, 8, 9]);
    }
}
