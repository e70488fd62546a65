//! A corpus in cells of 32 bits, for vocabularies of any size, with the words in the given order.

use super::corpus::{self, Corpus};
use super::tokens::{BYTE_TOKENS, TokenInfo};
use crate::control::Control;
use crate::error::Result;
use crate::merge::Merger;
use crate::room;
use crate::simd::{self, Isa};
use crate::vocab::Vocab;

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

/// A corpus to which words are appended.
pub(super) struct Layout<'v> {
    pub(super) corpus: Corpus32,
    /// The vocabulary that encodes the words; `None` for bytes.
    vocab: Option<&'v Vocab>,
    merger: Merger,
    tokens: Vec<u32>,
    /// Whether a token of the vocabulary has one cell, not one for each byte.
    pub(super) has_token_cells: bool,
}

impl<'v> Layout<'v> {
    /// A layout for words that need `size` cells, as bytes or as `vocab` encodes them, and for ids of so many
    /// merges.
    pub(super) fn new(size: u32, vocab: Option<&'v Vocab>, merges: u64) -> Result<Self> {
        let merges = merges.min(1 << 30) as u32;
        let first = vocab.map_or(BYTE_TOKENS, |vocab| vocab.tokens().len() as u32);
        // Ids must leave room for the sentinel and the mark of dead cells.
        let id_bits = (32 - (first.saturating_add(merges).saturating_add(1)).leading_zeros()).min(31);
        let sentinel = (1 << id_bits) - 1;
        let mut cells = Vec::new();
        room::reserve_exact(&mut cells, if vocab.is_none() { size as usize } else { 1 })?;
        cells.push(sentinel);
        let corpus = Corpus32 { cells, id_bits, sentinel, first, heavy: Vec::new(), pairs: 0 };
        let merger = Merger::new(Isa::best());
        Ok(Layout { corpus, vocab, merger, tokens: Vec::new(), has_token_cells: false })
    }

    /// Appends a word.
    pub(super) fn write(&mut self, word: &[u8], weight: u64, control: &Control) -> Result<()> {
        if !corpus::has_pairs(&(word, weight)) {
            return Ok(());
        }
        let Some(vocab) = self.vocab else { return self.corpus.push(word, weight) };
        // A pretoken that is a token may not be merged, as under rank semantics, so it has no pairs.
        if vocab.ignores_merges() && vocab.has_unmergeable() && vocab.ordinary_index(word).is_some() {
            return Ok(());
        }
        self.tokens.clear();
        vocab.merge(&mut self.merger, word, &mut self.tokens, control)?;
        if self.tokens.len() > 1 {
            let has_token_cells = self.has_token_cells;
            let bytes = |token: u32| vocab.tokens().bytes_at(token).len();
            room::reserve(&mut self.corpus.cells, word.len() + 1)?;
            let length = |token| if has_token_cells { 1 } else { bytes(token) };
            self.corpus.push_tokens(&self.tokens, weight, length)?;
        }
        Ok(())
    }
}

impl Corpus32 {
    fn push_tokens(&mut self, tokens: &[u32], weight: u64, length: impl Fn(u32) -> usize) -> Result<()> {
        let high = self.high(weight)?;
        self.pairs = self.pairs.saturating_add(weight.saturating_mul(tokens.len() as u64 - 1));
        for &token in tokens {
            let length = length(token);
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

    fn len(&self) -> usize {
        self.cells.len()
    }

    fn memory(&self) -> u64 {
        (size_of_val(&*self.cells) + size_of_val(&*self.heavy)) as u64
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
    fn merge(&mut self, first: u32, second: u32, end: u32, token: u32) {
        let dead = self.dead();
        self.write(first, token);
        // The second token is marked before the end is written: if it has one byte, its cell is the end.
        self.write(second, dead);
        self.write(end - 1, token);
    }

    fn compact(&mut self, tokens: &TokenInfo, control: &Control) -> Result<()> {
        let (sentinel, mut heavy) = (self.sentinel, self.heavy.iter_mut().peekable());
        corpus::compact(
            &mut self.cells,
            |cell| cell & sentinel,
            tokens,
            control,
            |from, to| {
                while let Some(word) = heavy.next_if(|word| word.0 == from) {
                    word.0 = to;
                }
            },
        )
    }
}
