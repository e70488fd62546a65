//! A Bloom filter of keys: it may report a key that was never added, but never misses one that was.

use crate::hashing::spread;

/// Two bits of one word are set for each key.
#[derive(Clone, Debug)]
pub(super) struct Bloom {
    words: Vec<u64>,
    /// 64 minus log2 of the number of words: the upper bits of a hash choose the word.
    shift: u32,
}

/// Keys for each word at most, until [`MAX_WORD_BITS`] is reached. With 4 keys a word, 1.4% of the keys that
/// were never added are reported.
const KEYS_PER_WORD: usize = 4;
/// log2 of the maximum number of words. 2^15 words are 256 KB, which fit into a second-level cache.
const MAX_WORD_BITS: u32 = 15;

impl Bloom {
    /// An empty filter for `keys` keys.
    pub(super) fn new(keys: usize) -> Self {
        let bits = (keys / KEYS_PER_WORD + 1).next_power_of_two().trailing_zeros().clamp(1, MAX_WORD_BITS);
        Bloom { words: vec![0; 1 << bits], shift: 64 - bits }
    }

    /// The word of a key and its two bits. They come from the upper bits of the hash, which depend on all
    /// bits of the key.
    #[inline(always)]
    fn place(&self, key: u64) -> (usize, u64) {
        let hash = spread(key);
        let bit = |shift: u32| 1 << ((hash >> shift) & 63);
        ((hash >> self.shift) as usize, bit(self.shift - 6) | bit(self.shift - 12))
    }

    pub(super) fn add(&mut self, key: u64) {
        let (word, bits) = self.place(key);
        self.words[word] |= bits;
    }

    /// Returns `false` only for a key that was never added.
    #[inline(always)]
    pub(super) fn may_have(&self, key: u64) -> bool {
        let (word, bits) = self.place(key);
        self.words[word] & bits == bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_keys_are_found_and_few_others() {
        for keys in [1, 10, 1000, 100_000_u64] {
            let mut bloom = Bloom::new(keys as usize);
            (0..keys).for_each(|key| bloom.add(key << 20 | key));
            assert!((0..keys).all(|key| bloom.may_have(key << 20 | key)));
            let others = (0..10_000_u64).filter(|key| bloom.may_have(!(key << 3))).count();
            assert!(others < 500, "{others} of 10,000 beside {keys}");
        }
    }
}
