//! Hash tables of tokens: the longest token that a text begins with.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The tokens of a group.
#[derive(Clone, Debug)]
pub(super) struct TokenTable {
    /// For each prefix, the lengths of its tokens: bit `n - 1` for `n` bytes.
    lengths: FxHashMap<u64, u128>,
    /// Indices of the tokens by the hash of all their bytes.
    tokens: HashTable<u32>,
}

/// The maximum number of bytes of a token: each length has a bit of a `u128`.
pub(super) const MAX_LENGTH: usize = u128::BITS as usize;

impl TokenTable {
    /// A table of the tokens `members` of `all`, by index; `prefix` returns the prefix of a token.
    pub(super) fn new(all: &[Vec<u8>], members: &[u32], prefix: impl Fn(&[u8]) -> u64) -> Self {
        let bytes = |index: u32| all[index as usize].as_slice();
        let mut tokens = HashTable::with_capacity(members.len());
        let mut lengths: FxHashMap<u64, u128> = FxHashMap::default();
        for &index in members {
            let token = bytes(index);
            tokens.insert_unique(hash(token), index, |&index| hash(bytes(index)));
            *lengths.entry(prefix(token)).or_default() |= 1 << (token.len() - 1);
        }
        TokenTable { lengths, tokens }
    }

    /// All prefixes, each once.
    pub(super) fn prefixes(&self) -> impl Iterator<Item = u64> + '_ {
        self.lengths.keys().copied()
    }

    /// The maximum number of different lengths among tokens with the same prefix.
    pub(super) fn max_lengths(&self) -> u32 {
        self.lengths.values().map(|lengths| lengths.count_ones()).max().unwrap_or(0)
    }

    /// The longest token that `text` begins with; `prefix` is the prefix of `text`.
    pub(super) fn longest(&self, all: &[Vec<u8>], text: &[u8], prefix: u64) -> Option<usize> {
        let mut lengths = *self.lengths.get(&prefix)?;
        while lengths != 0 {
            let length = lengths.ilog2() as usize + 1;
            if let Some(head) = text.get(..length)
                && let Some(&index) = self.tokens.find(hash(head), |&index| all[index as usize] == head)
            {
                return Some(index as usize);
            }
            lengths ^= 1 << (length - 1);
        }
        None
    }
}

fn hash(bytes: &[u8]) -> u64 {
    FxBuildHasher.hash_one(bytes)
}
