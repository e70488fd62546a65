//! Search for many special tokens: a filter of their first bytes, then a table.
//!
//! An automaton of 100,000 tokens takes 100 MB and most of a second to build, and is slow to walk: its states do
//! not fit any cache. Here text without tokens costs a hash of a few bytes at each place; where the tokens begin with at
//! most three different bytes (`<|…|>`, `[…]`), only at the places that have one of these.

use std::collections::BTreeSet;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// Tokens by their bytes, behind a filter.
#[derive(Clone, Debug)]
pub(super) struct Many {
    /// Bytes that a place is looked up by: the shortest token's length, or [`PREFIX`].
    prefix: usize,
    /// The first bytes of all tokens, if they are few.
    starts: Option<Starts>,
    /// One bit for each hash of a prefix.
    filter: Vec<u64>,
    /// By prefix: the lengths of the tokens that have it, the longest first.
    lengths: FxHashMap<u64, Box<[u32]>>,
    /// By the hash of its bytes: indices of tokens.
    tokens: FxHashMap<u64, Vec<u32>>,
}

/// Up to three bytes to search for.
#[derive(Clone, Copy, Debug)]
enum Starts {
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
}

impl Starts {
    fn of(tokens: &[Vec<u8>]) -> Option<Self> {
        let bytes: BTreeSet<u8> = tokens.iter().filter_map(|token| token.first().copied()).collect();
        match *bytes.into_iter().collect::<Vec<u8>>() {
            [a] => Some(Starts::One(a)),
            [a, b] => Some(Starts::Two(a, b)),
            [a, b, c] => Some(Starts::Three(a, b, c)),
            _ => None,
        }
    }

    fn find(self, text: &[u8]) -> Option<usize> {
        match self {
            Starts::One(a) => memchr::memchr(a, text),
            Starts::Two(a, b) => memchr::memchr2(a, b, text),
            Starts::Three(a, b, c) => memchr::memchr3(a, b, c, text),
        }
    }
}

/// Bytes of a prefix at the most.
const PREFIX: usize = 8;
/// Bits of the filter: 128 KB stay in a cache of the second level, and 100,000 tokens set a tenth of them.
const BITS: u32 = 20;
/// Lengths under one prefix at the most: each is tried at each place that has the prefix.
const LENGTHS: usize = 32;

impl Many {
    /// `None` where too many tokens of different lengths begin alike, or the lengths are such that trying
    /// them would not be linear.
    pub(super) fn new(all: &[Vec<u8>]) -> Option<Self> {
        let prefix = all.iter().map(Vec::len).min()?.min(PREFIX);
        let longest = all.iter().map(Vec::len).max()?;
        if prefix < 2 || longest > 256 {
            return None;
        }
        let mut many = Many {
            prefix,
            starts: Starts::of(all),
            filter: vec![0; 1 << (BITS - 6)],
            lengths: FxHashMap::default(),
            tokens: FxHashMap::with_capacity_and_hasher(all.len(), FxBuildHasher),
        };
        let mut lengths: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for (index, token) in all.iter().enumerate() {
            let key = key(token, prefix);
            let bit = bit(key);
            many.filter[bit >> 6] |= 1 << (bit & 63);
            let of_prefix = lengths.entry(key).or_default();
            if let Err(at) = of_prefix.binary_search_by(|len| token.len().cmp(&(*len as usize))) {
                of_prefix.insert(at, token.len() as u32);
            }
            many.tokens.entry(hash(token)).or_default().push(index as u32);
        }
        if lengths.values().any(|lengths| lengths.len() > LENGTHS) {
            return None;
        }
        many.lengths = lengths.into_iter().map(|(key, lengths)| (key, lengths.into_boxed_slice())).collect();
        Some(many)
    }

    /// The leftmost token from `from` on, of those the longest: its index and where it starts.
    pub(super) fn find(&self, all: &[Vec<u8>], text: &[u8], from: usize) -> Option<(usize, usize)> {
        let last = text.len().checked_sub(self.prefix)?;
        let mut next = from;
        while next <= last {
            let at = match self.starts {
                Some(starts) => next + starts.find(&text[next..=last])?,
                None => next,
            };
            next = at + 1;
            let rest = &text[at..];
            let key = key(rest, self.prefix);
            let bit = bit(key);
            if self.filter[bit >> 6] >> (bit & 63) & 1 != 0
                && let Some(index) = self.longest(all, rest, key)
            {
                return Some((index, at));
            }
        }
        None
    }

    /// The longest token that `text` begins with.
    fn longest(&self, all: &[Vec<u8>], text: &[u8], key: u64) -> Option<usize> {
        self.lengths.get(&key)?.iter().find_map(|&len| {
            let head = text.get(..len as usize)?;
            let same = |index: &&u32| all[**index as usize] == head;
            self.tokens.get(&hash(head))?.iter().find(same).map(|&index| index as usize)
        })
    }
}

/// The first `prefix` bytes, of at most 8, as a number. `bytes` has as many.
#[inline]
fn key(bytes: &[u8], prefix: usize) -> u64 {
    if let Some(eight) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*eight) << (64 - 8 * prefix);
    }
    let mut eight = [0; 8];
    eight[..prefix].copy_from_slice(&bytes[..prefix]);
    u64::from_le_bytes(eight) << (64 - 8 * prefix)
}

#[inline]
fn bit(key: u64) -> usize {
    ((key >> 7 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)) as usize
}

fn hash(bytes: &[u8]) -> u64 {
    FxBuildHasher.hash_one(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition.
    fn naive(all: &[Vec<u8>], text: &[u8], from: usize) -> Option<(usize, usize)> {
        (from..text.len()).find_map(|at| {
            let starts = (0..all.len()).filter(|&index| text[at..].starts_with(&all[index]));
            starts.max_by_key(|&index| all[index].len()).map(|index| (index, at))
        })
    }

    #[test]
    fn it_finds_what_a_naive_search_finds() {
        let mut state = 1u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut built = 0;
        for round in 0..3000 {
            let (letters, least) = (1 + below(5), 2 + below(9));
            let mut word = |least: u64, more: u64| -> Vec<u8> {
                (0..least + below(more)).map(|_| b'a' + below(letters) as u8).collect()
            };
            let mut all: Vec<Vec<u8>> = (0..1 + round % 40).map(|_| word(least, 12)).collect();
            all.sort();
            all.dedup();
            let text = word(0, 200);
            let Some(many) = Many::new(&all) else { continue };
            built += 1;
            for from in [0, text.len() / 3, text.len()] {
                assert_eq!(many.find(&all, &text, from), naive(&all, &text, from), "{all:?} in {text:?}");
            }
        }
        assert!(built > 2000);
        assert!(Many::new(&[b"a".to_vec()]).is_none() && Many::new(&[]).is_none());
    }
}
