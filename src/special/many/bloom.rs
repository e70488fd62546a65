//! A Bloom filter of numbers: it may say that it has a number that was never added, but never the other way round.

use crate::simd;

/// Three bits of one word are set for each number; a lookup tests two of them.
#[derive(Clone, Debug)]
pub(super) struct Bloom {
    words: Vec<u64>,
    /// Of the number of words, which is a power of two.
    shift: u32,
}

/// Numbers for one word, on average at the most.
const MAX_NUMBERS_PER_WORD: usize = 4;
/// log2 of words at the most: 256 KB stay in a cache of the second level.
const MAX_WORD_BITS: u32 = 15;

impl Bloom {
    /// log2 of the words for so many numbers.
    fn bits(numbers: usize) -> u32 {
        (numbers / MAX_NUMBERS_PER_WORD + 1).next_power_of_two().trailing_zeros().clamp(1, MAX_WORD_BITS)
    }

    /// About how often a filter of so many numbers has one that was never added.
    pub(super) fn wrong(numbers: usize) -> f64 {
        let set = 2.0 * numbers as f64 / f64::from(64_u32 << Self::bits(numbers));
        (1.0 - (-set).exp()).powi(2)
    }

    /// An empty filter for so many numbers.
    pub(super) fn new(numbers: usize) -> Self {
        let bits = Self::bits(numbers);
        Bloom { words: vec![0; 1 << bits], shift: 64 - bits }
    }

    pub(super) fn add(&mut self, number: u64) {
        let hash = hash(number);
        self.words[(hash >> self.shift) as usize] |=
            1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63);
    }

    #[inline(always)]
    pub(super) fn may_have(&self, number: u64) -> bool {
        self.view().may_have(number) != 0
    }

    /// For a loop, which holds it in registers.
    #[inline(always)]
    pub(super) fn view(&self) -> BloomView<'_> {
        BloomView { words: &self.words, shift: self.shift }
    }
}

/// A view of a filter that a loop keeps in registers.
#[derive(Clone, Copy)]
pub(super) struct BloomView<'a> {
    words: &'a [u64],
    shift: u32,
}

impl BloomView<'_> {
    /// 1 for a number that the filter may have, else 0.
    #[inline(always)]
    pub(super) fn may_have(self, number: u64) -> u64 {
        let hash = hash(number);
        let word = self.words.get((hash >> self.shift) as usize).copied().unwrap_or(0);
        word >> (hash & 63) & word >> (hash >> 6 & 63) & 1
    }
}

#[inline(always)]
fn hash(number: u64) -> u64 {
    simd::fold(number, simd::SALT[1])
}
