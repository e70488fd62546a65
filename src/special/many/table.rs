//! Tokens by their bytes: the longest one that a text begins with.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::grams::Grams;
use super::sorted::Sorted;

/// The tokens of a group.
#[derive(Clone, Debug)]
pub(super) struct TokenTable {
    /// By their first bytes.
    prefixes: FxHashMap<u64, Prefix>,
    /// Indices of tokens by the hash of all their bytes.
    tokens: HashTable<u32>,
    sorted: Sorted,
}

/// The tokens that begin alike.
#[derive(Clone, Copy, Debug)]
enum Prefix {
    /// Their lengths, the longest first, and zeros.
    Few([u16; MAX_TRIED_LENGTHS]),
    /// So many different ones that trying them would take long: a range of the sorted ones.
    Many(u32, u32),
}

/// Lengths that are tried one by one.
const MAX_TRIED_LENGTHS: usize = 6;

impl TokenTable {
    /// Of the tokens with the indices `members`.
    pub(super) fn new(all: &[Vec<u8>], members: &[u32], grams: Grams) -> Self {
        let bytes = |index: u32| all[index as usize].as_slice();
        let mut tokens = HashTable::with_capacity(members.len());
        let mut prefixes: FxHashMap<u64, Prefix> = FxHashMap::default();
        let mut many = false;
        for &index in members {
            let token = bytes(index);
            tokens.insert_unique(hash(token), index, |&index| hash(bytes(index)));
            let prefix = prefixes.entry(grams.key(token)).or_insert(Prefix::Few([0; MAX_TRIED_LENGTHS]));
            prefix.add(token.len());
            many |= matches!(prefix, Prefix::Many(..));
        }
        let sorted = if many { Sorted::new(all, members) } else { Sorted::default() };
        if many {
            for (key, range) in sorted.ranges(all, grams) {
                if let Some(Prefix::Many(from, to)) = prefixes.get_mut(&key) {
                    (*from, *to) = (range.start, range.end);
                }
            }
        }
        TokenTable { prefixes, tokens, sorted }
    }

    /// The longest token that `text` begins with; its first bytes are `key`.
    pub(super) fn longest(&self, all: &[Vec<u8>], text: &[u8], key: u64) -> Option<usize> {
        match *self.prefixes.get(&key)? {
            Prefix::Few(lengths) => lengths.iter().take_while(|&&len| len != 0).find_map(|&len| {
                let head = text.get(..usize::from(len))?;
                let found = self.tokens.find(hash(head), |&index| all[index as usize] == head);
                found.map(|&index| index as usize)
            }),
            Prefix::Many(from, to) => self.sorted.longest(all, text, from..to),
        }
    }
}

impl Prefix {
    fn add(&mut self, len: usize) {
        let Prefix::Few(lengths) = self else { return };
        let same = lengths.iter().position(|&other| usize::from(other) == len);
        if same.is_some() {
            return;
        }
        if lengths[MAX_TRIED_LENGTHS - 1] != 0 {
            *self = Prefix::Many(0, 0);
            return;
        }
        lengths[MAX_TRIED_LENGTHS - 1] = len as u16;
        lengths.sort_unstable_by(|a, b| b.cmp(a));
    }
}

fn hash(bytes: &[u8]) -> u64 {
    FxBuildHasher.hash_one(bytes)
}
