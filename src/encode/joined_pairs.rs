//! Pairs of tokens that merges of several words join.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::error::Result;
use crate::{hashing, room};

/// Bits of the filter for each pair of tokens.
const FILTER_BITS_PER_PAIR: usize = 16;

/// Pairs of tokens with their ranks; that of pairs that never merge is [`crate::merge::NEVER`].
pub(super) struct JoinedPairs {
    ranks: HashMap<(u32, u32), u32, FxBuildHasher>,
    /// A bit for each hash of a pair. Most hashes of other pairs have one that is not set.
    filter: Vec<u64>,
    /// How many bits of a hash are not used.
    shift: u32,
}

impl JoinedPairs {
    /// An empty set with room for `count` pairs.
    pub(super) fn with_room(count: usize) -> Result<Self> {
        let mut ranks = HashMap::default();
        ranks.try_reserve(count).map_err(|_| room::out_of_memory(count))?;
        let bits = (count * FILTER_BITS_PER_PAIR).next_power_of_two().max(1 << u64::BITS.ilog2());
        let filter = room::filled(0, bits / u64::BITS as usize)?;
        Ok(JoinedPairs { ranks, filter, shift: u64::BITS - bits.ilog2() })
    }

    pub(super) fn insert(&mut self, left: u32, right: u32, rank: u32) {
        let (word, bit) = self.bit(left, right);
        self.filter[word] |= 1 << bit;
        self.ranks.insert((left, right), rank);
    }

    /// The rank of a pair; `None` if it is not joined.
    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> Option<u32> {
        self.ranks.get(&(left, right)).copied()
    }

    /// Whether a pair may be joined: false for most of the others, at the cost of one read of near memory.
    #[inline(always)]
    pub(super) fn may_have(&self, left: u32, right: u32) -> bool {
        let (word, bit) = self.bit(left, right);
        self.filter[word] >> bit & 1 != 0
    }

    #[inline(always)]
    fn bit(&self, left: u32, right: u32) -> (usize, u64) {
        let hash = hashing::spread(u64::from(left) << 32 | u64::from(right)) >> self.shift;
        ((hash / u64::from(u64::BITS)) as usize, hash % u64::from(u64::BITS))
    }
}
