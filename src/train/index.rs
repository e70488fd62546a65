//! The pair index: how often each pair that may still be merged occurs, and where.

use std::ops::Range;

use super::corpus::Corpus;
use super::pair_table::PairTable;
use super::tokens::TokenInfo;
use crate::error::Result;
use crate::room;
use crate::simd;

/// Postings of removed pairs are left in the pool until they are a quarter of it and at least this many.
const MIN_GARBAGE_POSTINGS: usize = 1 << 16;

/// Pairs for which memory is reserved at the start; unused memory is never touched.
const RESERVED_PAIRS: usize = 1 << 16;

/// The maximum number of postings whose cells are prefetched before their pair is merged. 84% of the merges
/// of English have at most 16.
const PREFETCHED_POSTINGS: usize = 24;

/// Bytes of memory for a pair beside its postings: the pair itself, its entries in the table and the queue,
/// and its candidate among equally frequent pairs.
const BYTES_PER_PAIR: u64 = 96;

/// Bytes of memory that a pair takes in index and queue.
pub(super) fn pair_memory(places: u32) -> u64 {
    BYTES_PER_PAIR + u64::from(places) * size_of::<u32>() as u64
}

/// A pair of the index. Its count never rises.
pub(super) struct Pair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
    /// The start of its postings in the pool.
    start: usize,
    length: u32,
}

impl Pair {
    /// The range of its postings in the pool.
    pub(super) fn postings(&self) -> Range<usize> {
        self.start..self.start + self.length as usize
    }
}

/// The pairs that may still be merged. Each has a number, which is not used again.
#[derive(Default)]
pub(super) struct PairIndex {
    table: PairTable,
    pairs: Vec<Pair>,
    /// The postings of all pairs: for each pair the positions, in ascending order, at which it occurred when
    /// it was added. Postings are written only once, since an occurrence can only arise from the merge that
    /// makes the younger of its two tokens. Whether one still exists is read from the corpus.
    pub(super) pool: Vec<u32>,
    /// Postings in the pool whose pair was removed.
    garbage: usize,
}

impl PairIndex {
    /// An empty index with memory for about `postings` postings.
    pub(super) fn with_room(postings: usize) -> Result<Self> {
        let (table, pairs) = (PairTable::default(), room::for_items(RESERVED_PAIRS)?);
        Ok(PairIndex { table, pairs, pool: room::for_items(postings + postings / 4)?, garbage: 0 })
    }

    /// Adds a new pair, with `places` postings at the end of the pool, which the caller must write. Returns
    /// the number of the pair.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`]; the index cannot be used after it.
    pub(super) fn add(&mut self, left: u32, right: u32, count: u64, places: u32) -> Result<u32> {
        let number = self.pairs.len() as u32;
        let start = self.pool.len();
        room::reserve(&mut self.pool, places as usize)?;
        self.pool.resize(start + places as usize, 0);
        room::push(&mut self.pairs, Pair { left, right, count, start, length: places })?;
        self.table.insert(left, right, number)?;
        Ok(number)
    }

    /// Bytes of memory that the pairs take here and in the queue.
    pub(super) fn memory(&self) -> u64 {
        self.pairs.len() as u64 * BYTES_PER_PAIR + size_of_val(&*self.pool) as u64
    }

    /// The number and the count of every pair.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.pairs.iter().enumerate().map(|(number, pair)| (number as u32, pair.count))
    }

    /// Prefetches the entry of the pair table that [`PairIndex::guess`] reads.
    #[inline]
    pub(super) fn prefetch_lookup(&self, left: u32, right: u32) {
        self.table.prefetch(left, right);
    }

    /// The number of the pair, or of another pair with the same tag; `None` if the pair is not in the index.
    /// Prefetches the data of that number for [`PairIndex::lower`].
    #[inline]
    pub(super) fn guess(&self, left: u32, right: u32) -> Option<u32> {
        let number = self.table.first(left, right)?;
        simd::prefetch(&self.pairs, number as usize);
        Some(number)
    }

    /// Lowers the count of a pair by `by`, if the index has the pair. `guess` is the result of
    /// [`PairIndex::guess`].
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

    /// The number of occurrences of the pair.
    #[inline]
    pub(super) fn count(&self, number: u32) -> u64 {
        self.pairs[number as usize].count
    }

    /// The two tokens of the pair.
    #[inline]
    pub(super) fn tokens(&self, number: u32) -> (u32, u32) {
        let pair = &self.pairs[number as usize];
        (pair.left, pair.right)
    }

    /// The number of a pair; `None` if it is not in the index.
    pub(super) fn number(&self, left: u32, right: u32) -> Option<u32> {
        self.table.find(left, right, |number| self.tokens(number) == (left, right))
    }

    /// [`PairIndex::take`] of a pair that is still in the queue, which drops it as one that occurs no more.
    pub(super) fn take_from_queue(&mut self, number: u32) -> Pair {
        let taken = self.take(number);
        self.pairs[number as usize].count = 0;
        taken
    }

    /// Removes a pair. Its postings stay in the pool until the next call of [`PairIndex::tidy`].
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

    /// Removes the gaps of the pool once they are large. Moving the postings costs less than letting the pool
    /// grow.
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

    /// The first occurrence of the pair that still exists in the corpus. Postings before it are removed,
    /// since occurrences do not come back.
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
