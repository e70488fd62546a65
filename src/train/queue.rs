//! The queue of pairs: finds the most frequent one exactly, and decides ties by the rule.

use super::corpus::Corpus;
use super::index::PairIndex;
use super::ties::TieHeap;
use super::tokens::TokenInfo;
use crate::error::Result;
use crate::room;

/// Entries ahead whose pairs are prefetched.
const PREFETCHED_ENTRIES: usize = 8;

/// A radix queue. Counts only fall, and a new pair is never more frequent than the pair just merged, so the
/// counts that come out never rise. Pairs are on levels: the level is the highest bit in which their count
/// differs from `last`, the count that came out last. A pair only moves to lower levels, at most 64 times, in
/// practice about twice. A count that has fallen is noticed when the pair is next touched.
pub(super) struct Queue {
    /// The count that came out last.
    last: u64,
    /// `levels[i]` holds the pairs whose count, when they were put there, differed from `last` in bit `i` and
    /// in no higher bit.
    levels: [Vec<u32>; 64],
    /// The pairs whose count was `last`.
    tied: TieHeap,
    /// Pairs that occur less often are removed.
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

    /// Adds a pair, which must not be more frequent than the last one that came out.
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

    /// Removes and returns the most frequent pair; of equally frequent ones, the first by the tie rule.
    pub(super) fn pop(
        &mut self,
        index: &mut PairIndex,
        corpus: &impl Corpus,
        tokens: &TokenInfo,
    ) -> Result<Option<u32>> {
        loop {
            while let Some(pair) = self.tied.at(0) {
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

    /// Prefetches the data of the pairs that will probably come next, in steps: each step reads what an
    /// earlier one prefetched.
    #[inline]
    pub(super) fn prefetch_next(&self, index: &PairIndex, corpus: &impl Corpus) {
        if let Some(next) = self.tied.at(0) {
            index.prefetch_cells(next, corpus);
        }
        (1..3).filter_map(|place| self.tied.at(place)).for_each(|pair| index.prefetch_postings(pair));
        (3..7).filter_map(|place| self.tied.at(place)).for_each(|pair| index.prefetch_pair(pair));
    }

    /// Puts a pair back by its present count; removes it from the index if that is below the threshold.
    fn requeue(&mut self, pair: u32, index: &mut PairIndex, tokens: &TokenInfo) -> Result<()> {
        let count = index.count(pair);
        if count >= self.threshold {
            self.push(pair, count, index, tokens)
        } else {
            index.take(pair);
            Ok(())
        }
    }

    /// Moves the pairs with the highest count to `tied`; returns `false` if there are no pairs.
    fn refill(&mut self, index: &mut PairIndex, tokens: &TokenInfo) -> Result<bool> {
        while let Some(lowest) = self.levels.iter().position(|level| !level.is_empty()) {
            // Only pairs that still belong on this level can have the highest count.
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
            // The counts agree in this bit and all higher ones, so all pairs go to lower levels, and this
            // level keeps its memory.
            for pair in pairs.drain(..) {
                self.push(pair, index.count(pair), index, tokens)?;
            }
            self.levels[lowest] = pairs;
            return Ok(true);
        }
        Ok(false)
    }
}

/// The highest bit in which two counts differ; `None` if they are equal.
#[inline]
fn level(left: u64, right: u64) -> Option<usize> {
    (left ^ right).checked_ilog2().map(|bit| bit as usize)
}
