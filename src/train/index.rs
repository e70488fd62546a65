//! The pairs that may still be merged: how often each occurs, and where.

use std::ops::Range;

use super::corpus::Corpus;
use super::pair_table::PairTable;
use super::tokens::TokenInfo;
use crate::error::Result;
use crate::room;
use crate::simd;

/// Postings of removed pairs stay in the pool until they are a quarter of it, and at least so many.
const MIN_GARBAGE_POSTINGS: usize = 1 << 16;

/// Pairs that room is made for at the start: memory that is not used is never touched.
const RESERVED_PAIRS: usize = 1 << 16;

/// Postings whose cells are prefetched before the pair is merged.
const PREFETCHED_POSTINGS: usize = 24;

/// A pair of the index. Its count only ever falls.
pub(super) struct Pair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
    /// Where its postings stand in the pool.
    start: usize,
    length: u32,
}

impl Pair {
    pub(super) fn postings(&self) -> Range<usize> {
        self.start..self.start + self.length as usize
    }
}

/// The pairs that may still be merged. Each has a number, which is never used again.
#[derive(Default)]
pub(super) struct PairIndex {
    table: PairTable,
    pairs: Vec<Pair>,
    /// Where each pair occurred when it came to be, ascending, one pair after the other. Written once: an
    /// occurrence is only ever made by the merge that makes the younger of its two tokens. Those that
    /// are no more are told by the text.
    pool: Vec<u32>,
    /// Postings in the pool whose pair is gone.
    garbage: usize,
}

impl PairIndex {
    /// An empty one for so many postings at first.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(super) fn with_room(postings: usize) -> Result<Self> {
        let (table, pairs) = (PairTable::default(), room::for_items(RESERVED_PAIRS)?);
        Ok(PairIndex { table, pairs, pool: room::for_items(postings + postings / 4)?, garbage: 0 })
    }

    /// Adds a pair that is not there yet, with room for as many postings as it has places: the caller
    /// writes them into the pool, from where it ended.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`]; the index is of no more use then.
    pub(super) fn add(&mut self, left: u32, right: u32, count: u64, places: u32) -> Result<u32> {
        let number = self.pairs.len() as u32;
        let start = self.pool.len();
        room::reserve(&mut self.pool, places as usize)?;
        self.pool.resize(start + places as usize, 0);
        room::push(&mut self.pairs, Pair { left, right, count, start, length: places })?;
        self.table.insert(left, right, number)?;
        Ok(number)
    }

    /// Where the postings of the next pair will stand.
    pub(super) fn next_start(&self) -> usize {
        self.pool.len()
    }

    /// All postings, to be written once.
    pub(super) fn pool(&mut self) -> &mut [u32] {
        &mut self.pool
    }

    /// Some postings.
    pub(super) fn postings(&self, range: Range<usize>) -> &[u32] {
        &self.pool[range]
    }

    /// Name and count of every pair.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.pairs.iter().enumerate().map(|(number, pair)| (number as u32, pair.count))
    }

    /// Prefetches the entry of the pair table that [`PairIndex::guess`] reads.
    #[inline]
    pub(super) fn prefetch_lookup(&self, left: u32, right: u32) {
        self.table.prefetch(left, right);
    }

    /// The number of the pair, or of another pair with the same tag; `None` if the pair is not in the index.
    /// Prefetches the pair of that number for [`PairIndex::lower`].
    #[inline]
    pub(super) fn guess(&self, left: u32, right: u32) -> Option<u32> {
        let number = self.table.first(left, right)?;
        simd::prefetch(&self.pairs, number as usize);
        Some(number)
    }

    /// Takes `by` off a pair's count, if the pair is there; `guess` was said to be its number.
    #[inline]
    pub(super) fn lower(&mut self, left: u32, right: u32, guess: u32, by: u64) {
        let is_it = |number: u32| self.tokens(number) == (left, right);
        let number = if is_it(guess) { Some(guess) } else { self.table.find(left, right, is_it) };
        if let Some(number) = number {
            self.pairs[number as usize].count -= by;
        }
    }

    /// Prefetches a pair.
    #[inline]
    pub(super) fn prefetch_pair(&self, number: u32) {
        simd::prefetch(&self.pairs, number as usize);
    }

    /// Prefetches the first postings of a pair.
    #[inline]
    pub(super) fn prefetch_postings(&self, number: u32) {
        simd::prefetch(&self.pool, self.pairs[number as usize].start);
    }

    /// Prefetches the cells at the first postings of a pair that will soon be merged.
    #[inline]
    pub(super) fn prefetch_cells(&self, number: u32, corpus: &impl Corpus) {
        let pair = &self.pairs[number as usize];
        self.table.prefetch(pair.left, pair.right);
        for &position in self.pool[pair.postings()].iter().take(PREFETCHED_POSTINGS) {
            corpus.prefetch(position);
        }
    }

    /// How often the pair occurs.
    #[inline]
    pub(super) fn count(&self, number: u32) -> u64 {
        self.pairs[number as usize].count
    }

    /// The pair's two tokens.
    #[inline]
    pub(super) fn tokens(&self, number: u32) -> (u32, u32) {
        let pair = &self.pairs[number as usize];
        (pair.left, pair.right)
    }

    /// Removes a pair. Its postings stand until the next pair is added.
    pub(super) fn take(&mut self, number: u32) -> Pair {
        let pair = &mut self.pairs[number as usize];
        let taken = Pair { ..*pair };
        pair.length = 0;
        self.garbage += taken.length as usize;
        let pairs = &self.pairs;
        let is_it = |number: u32| {
            (pairs[number as usize].left, pairs[number as usize].right) == (taken.left, taken.right)
        };
        self.table.remove(taken.left, taken.right, is_it);
        taken
    }

    /// Closes the gaps in the pool once they are large enough. Copying the postings down costs less than letting the
    /// pool grow.
    pub(super) fn tidy(&mut self) {
        if self.garbage < MIN_GARBAGE_POSTINGS || 4 * self.garbage < self.pool.len() {
            return;
        }
        let mut end = 0;
        for pair in &mut self.pairs {
            let from = pair.postings();
            pair.start = end;
            end += from.len();
            self.pool.copy_within(from, pair.start);
        }
        self.pool.truncate(end);
        if self.pool.capacity() > 4 * end {
            self.pool.shrink_to(2 * end);
        }
        self.garbage = 0;
    }

    /// The pair's first occurrence that still stands in the corpus. Those before it are removed: they never come
    /// back.
    pub(super) fn first_live(
        &mut self,
        number: u32,
        corpus: &impl Corpus,
        tokens: &TokenInfo,
    ) -> Option<u32> {
        let pair = &mut self.pairs[number as usize];
        let step = tokens.length(pair.left);
        let live = |&p: &u32| corpus.token(p) == pair.left && corpus.token(p + step) == pair.right;
        let dead = self.pool[pair.postings()].iter().position(live)?;
        pair.start += dead;
        pair.length -= dead as u32;
        self.garbage += dead;
        Some(self.pool[pair.start])
    }
}
