//! The most frequent pair, exactly, ties decided by the rule.

use super::corpus::Corpus;
use super::index::PairIndex;
use super::ties::TieHeap;
use super::tokens::TokenInfo;
use crate::error::Result;
use crate::room;

/// Entries whose pairs are prefetched before they are looked at.
const PREFETCHED_ENTRIES: usize = 8;

/// A radix queue. Counts only fall, and no new pair is more frequent than the one just merged, so what
/// comes out never rises: entries lie on levels by the highest bit in which their count differs from
/// `last`, the count that came out last, and only move towards it, at most 64 times each and in practice
/// about twice. That a count has fallen is seen when its entry is touched next.
pub(super) struct Queue {
    last: u64,
    /// `levels[i]` holds the pairs whose count, when they were put there, differed from `last` in bit `i` and none above.
    levels: [Vec<u32>; 64],
    /// The pairs whose count was `last`.
    tied: TieHeap,
    /// Pairs that occur less often are dropped.
    threshold: u64,
}

impl Queue {
    /// An empty queue for pairs that occur at least `threshold` times.
    pub(super) fn new(threshold: u64) -> Self {
        Queue {
            last: u64::MAX,
            levels: std::array::from_fn(|_| Vec::new()),
            tied: TieHeap::default(),
            threshold,
        }
    }

    /// Adds a pair, no more frequent than the last that came out.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    #[inline]
    pub(super) fn push(
        &mut self,
        pair: u32,
        count: u64,
        index: &PairIndex,
        tokens: &TokenInfo,
    ) -> Result<()> {
        match level(self.last, count) {
            Some(level) => room::push(&mut self.levels[level], pair),
            None => self.tied.push(pair, index, tokens),
        }
    }

    /// Takes out the most frequent pair, the first by the tie rule among equals.
    ///
    /// # Errors
    /// Same as [`Queue::push`].
    pub(super) fn pop(
        &mut self,
        index: &mut PairIndex,
        corpus: &impl Corpus,
        tokens: &TokenInfo,
    ) -> Result<Option<u32>> {
        loop {
            while let Some(pair) = self.tied.peek() {
                let count = index.count(pair);
                if count == self.last {
                    if self.tied.settle(index, corpus, tokens) {
                        self.tied.pop(tokens);
                        return Ok(Some(pair));
                    }
                } else {
                    self.tied.pop(tokens);
                    self.requeue(pair, index, tokens)?;
                }
            }
            if !self.refill(index, tokens)? {
                return Ok(None);
            }
        }
    }

    /// Prefetches what the pairs that probably come next need, in steps: each step reads what the one before it
    /// prefetched.
    #[inline]
    pub(super) fn prefetch_next(&self, index: &PairIndex, corpus: &impl Corpus) {
        if let Some(next) = self.tied.at(0) {
            index.prefetch_cells(next, corpus);
        }
        (1..3).filter_map(|place| self.tied.at(place)).for_each(|pair| index.prefetch_postings(pair));
        (3..7).filter_map(|place| self.tied.at(place)).for_each(|pair| index.prefetch_pair(pair));
    }

    /// Puts a pair back by the count it has now, unless that is too low.
    fn requeue(&mut self, pair: u32, index: &mut PairIndex, tokens: &TokenInfo) -> Result<()> {
        let count = index.count(pair);
        if count >= self.threshold {
            self.push(pair, count, index, tokens)
        } else {
            index.take(pair);
            Ok(())
        }
    }

    /// Goes down to the highest count there is; false if there is none.
    fn refill(&mut self, index: &mut PairIndex, tokens: &TokenInfo) -> Result<bool> {
        while let Some(lowest) = self.levels.iter().position(|level| !level.is_empty()) {
            // Only what still belongs on this level can hold the highest count.
            let mut pairs = std::mem::take(&mut self.levels[lowest]);
            let (mut best, mut kept) = (0, 0);
            for at in 0..pairs.len() {
                if let Some(&ahead) = pairs.get(at + PREFETCHED_ENTRIES) {
                    index.prefetch_pair(ahead);
                }
                let pair = pairs[at];
                let count = index.count(pair);
                if count >= self.threshold && level(self.last, count) == Some(lowest) {
                    best = best.max(count);
                    pairs[kept] = pair;
                    kept += 1;
                } else {
                    self.requeue(pair, index, tokens)?;
                }
            }
            pairs.truncate(kept);
            if kept == 0 {
                continue;
            }
            self.last = best;
            // They are alike in this bit and above, so all go to lower levels, and this one keeps its memory.
            for pair in pairs.drain(..) {
                self.push(pair, index.count(pair), index, tokens)?;
            }
            self.levels[lowest] = pairs;
            return Ok(true);
        }
        Ok(false)
    }
}

/// The highest bit in which two counts differ.
#[inline]
fn level(one: u64, other: u64) -> Option<usize> {
    (one ^ other).checked_ilog2().map(|bit| bit as usize)
}
