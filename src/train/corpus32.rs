//! A corpus in cells of 32 bits, for vocabularies of any size, with the words in the given order.

use super::corpus::{self, Corpus, WORDS_PER_CHECK};
use super::options::Words;
use super::tokens::BYTE_TOKENS;
use crate::control::Control;
use crate::error::Result;
use crate::merge::Merger;
use crate::room;
use crate::simd::{self, Isa};
use crate::vocab::{Semantics, Vocab};

/// The corpus in cells of 32 bits.
///
/// A cell holds a token id in its low bits and the weight of its word in the others. So position, id and
/// weight share one cache line of sixteen cells. The few weights that are too large for these bits are in a
/// side table, found by binary search.
pub(super) struct Corpus32 {
    cells: Vec<u32>,
    /// Bits of a token id; the other bits of a cell hold the weight.
    id_bits: u32,
    /// The value between words; also the mask of the bits of an id.
    sentinel: u32,
    /// The number of tokens before the first merge.
    first: u32,
    /// The start and the weight of words whose weight is too large for a cell, by ascending start.
    heavy: Vec<(u32, u64)>,
    /// The weighted number of pairs, if tokens were laid out.
    pairs: u64,
}

impl Corpus32 {
    /// Lays out the words that have pairs, in the given order: as bytes, or as `vocab` encodes them.
    pub(super) fn new<'w>(
        words: impl Words<'w>,
        vocab: Option<&Vocab>,
        max_merges: usize,
        control: &Control,
    ) -> Result<Self> {
        let size = corpus::measure(words.clone(), control, |_, _| ())?;
        // Each merge removes at least one token from the text, so there are fewer merges than cells.
        let merges = (max_merges as u64).min(u64::from(size)).min(1 << 30) as u32;
        let first = vocab.map_or(BYTE_TOKENS, |vocab| vocab.tokens().len() as u32);
        // Ids must leave room for the sentinel and the mark of dead cells.
        let id_bits = (32 - (first.saturating_add(merges).saturating_add(1)).leading_zeros()).min(31);
        let sentinel = (1 << id_bits) - 1;
        let mut corpus32 =
            Corpus32 { cells: Vec::new(), id_bits, sentinel, first, heavy: Vec::new(), pairs: 0 };
        match vocab {
            None => corpus32.lay_out_bytes(words, size, control)?,
            Some(vocab) => corpus32.lay_out_tokens(words, vocab, control)?,
        }
        Ok(corpus32)
    }

    /// Lays out the words as bytes.
    fn lay_out_bytes<'w>(&mut self, words: impl Words<'w>, size: u32, control: &Control) -> Result<()> {
        room::reserve_exact(&mut self.cells, size as usize)?;
        self.cells.push(self.sentinel);
        for (i, (word, weight)) in words.filter(corpus::has_pairs).enumerate() {
            if i % WORDS_PER_CHECK == 0 {
                control.check()?;
            }
            self.push(word, weight)?;
        }
        Ok(())
    }

    /// Lays out the words as the vocabulary encodes them.
    fn lay_out_tokens<'w>(&mut self, words: impl Words<'w>, vocab: &Vocab, control: &Control) -> Result<()> {
        self.cells.push(self.sentinel);
        let (mut merger, mut tokens) = (Merger::new(Isa::best()), Vec::new());
        let whole = vocab.semantics() == Semantics::Ranks && vocab.has_unmergeable();
        for (i, (word, weight)) in words.filter(corpus::has_pairs).enumerate() {
            if i % WORDS_PER_CHECK == 0 {
                control.check()?;
            }
            // Under rank semantics a pretoken that is a token is not merged, so it has no pairs.
            if whole && vocab.ordinary_index(word).is_some() {
                continue;
            }
            tokens.clear();
            merger.merge(vocab.pairs(), word, &mut tokens, control)?;
            if tokens.len() > 1 {
                room::reserve(&mut self.cells, word.len() + 1)?;
                self.push_tokens(&tokens, weight, vocab)?;
            }
        }
        Ok(())
    }

    fn push_tokens(&mut self, tokens: &[u32], weight: u64, vocab: &Vocab) -> Result<()> {
        let high = self.high(weight)?;
        self.pairs = self.pairs.saturating_add(weight.saturating_mul(tokens.len() as u64 - 1));
        for &token in tokens {
            let length = vocab.tokens().bytes_at(token).len();
            let start = self.cells.len();
            self.cells.resize(start + length, self.dead() | high);
            self.cells[start] = token | high;
            self.cells[start + length - 1] = token | high;
        }
        self.cells.push(self.sentinel);
        Ok(())
    }

    /// The weight in the upper bits of a cell. A weight that is too large is added to the side table.
    fn high(&mut self, weight: u64) -> Result<u32> {
        let escape = u32::MAX >> self.id_bits;
        if weight >= u64::from(escape) {
            room::push(&mut self.heavy, (self.cells.len() as u32, weight))?;
        }
        Ok((weight.min(u64::from(escape)) as u32) << self.id_bits)
    }

    fn push(&mut self, word: &[u8], weight: u64) -> Result<()> {
        let high = self.high(weight)?;
        self.cells.extend(word.iter().map(|&byte| u32::from(byte) | high));
        self.cells.push(self.sentinel);
        Ok(())
    }

    /// The mark in the first cell of a token that was merged into its left neighbour, so that no posting
    /// matches it.
    fn dead(&self) -> u32 {
        self.sentinel - 1
    }

    /// The weight of a word that is in the side table.
    #[cold]
    fn heavy_weight(&self, position: u32) -> u64 {
        let after = self.heavy.partition_point(|&(start, _)| start <= position);
        self.heavy[after - 1].1
    }

    /// Replaces the id of a cell, but not its weight.
    #[inline]
    fn write(&mut self, position: u32, token: u32) {
        let cell = &mut self.cells[position as usize];
        *cell = *cell & !self.sentinel | token;
    }
}

impl Corpus for Corpus32 {
    fn max_merges(&self) -> usize {
        self.dead().saturating_sub(self.first) as usize
    }

    fn pairs(&self) -> u64 {
        self.pairs
    }

    fn common_weight(&self, _: usize) -> u64 {
        0
    }

    fn len(&self) -> usize {
        self.cells.len()
    }

    fn sentinel(&self) -> u32 {
        self.sentinel
    }

    #[inline]
    fn prefetch(&self, position: u32) {
        simd::prefetch(&self.cells, position as usize);
    }

    #[inline]
    fn token(&self, position: u32) -> u32 {
        self.cells[position as usize] & self.sentinel
    }

    #[inline]
    fn weight(&self, position: u32) -> u64 {
        let weight = self.cells[position as usize] >> self.id_bits;
        if weight == u32::MAX >> self.id_bits { self.heavy_weight(position) } else { u64::from(weight) }
    }

    #[inline]
    fn next_weight(&self, position: u32, _: &mut usize) -> u64 {
        self.weight(position)
    }

    #[inline]
    fn merge(&mut self, first: u32, second: u32, end: u32, token: u32) {
        let dead = self.dead();
        self.write(first, token);
        // The second token is marked before the end is written: if it has one byte, its cell is the end.
        self.write(second, dead);
        self.write(end - 1, token);
    }
}
