//! The most frequent pair, exactly, ties decided by the rule.

use super::index::PairIndex;
use super::text::Text;
use super::ties::TieHeap;
use super::tokens::Tokens;

/// Entries whose pairs are asked for before their turn comes.
const AHEAD: usize = 8;

/// A pair with a count it once had.
struct Entry {
    count: u64,
    pair: u32,
}

/// A radix queue. Counts only fall, and no new pair is more frequent than the one just merged, so what
/// comes out never rises: entries lie on levels by the highest bit in which their count differs from
/// `last`, the count that came out last, and only move towards it, at most 64 times each and in practice
/// about twice. That a count has fallen is seen when its entry is touched next.
pub(super) struct Queue {
    last: u64,
    /// `levels[i]` holds the counts whose highest difference from `last` is bit `i`.
    levels: [Vec<Entry>; 64],
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
    #[inline]
    pub(super) fn push(&mut self, pair: u32, count: u64, index: &PairIndex, tokens: &Tokens) {
        match level(self.last, count) {
            Some(level) => self.levels[level].push(Entry { count, pair }),
            None => self.tied.push(pair, index, tokens),
        }
    }

    /// Takes out the most frequent pair, the first by the tie rule among equals.
    pub(super) fn pop(&mut self, index: &mut PairIndex, text: &impl Text, tokens: &Tokens) -> Option<u32> {
        loop {
            while let Some(pair) = self.tied.peek() {
                let count = index.count(pair);
                if count == self.last {
                    if self.tied.settle(index, text, tokens) {
                        self.tied.pop(tokens);
                        return Some(pair);
                    }
                } else {
                    self.tied.pop(tokens);
                    self.requeue(pair, index, tokens);
                }
            }
            if !self.refill(index, tokens) {
                return None;
            }
        }
    }

    /// Asks for the memory of the pairs that will probably come next, step by step: each step needs what the one
    /// before it asked for.
    #[inline]
    pub(super) fn look_ahead(&self, index: &PairIndex, text: &impl Text) {
        if let Some(next) = self.tied.at(0) {
            index.expect_text(next, text);
        }
        (1..3).filter_map(|place| self.tied.at(place)).for_each(|pair| index.expect_postings(pair));
        (3..7).filter_map(|place| self.tied.at(place)).for_each(|pair| index.expect_pair(pair));
    }

    /// Puts a pair back by the count it has now, unless that is too low.
    fn requeue(&mut self, pair: u32, index: &mut PairIndex, tokens: &Tokens) {
        let count = index.count(pair);
        if count >= self.threshold {
            self.push(pair, count, index, tokens);
        } else {
            index.take(pair);
        }
    }

    /// Goes down to the highest count there is; false if there is none.
    fn refill(&mut self, index: &mut PairIndex, tokens: &Tokens) -> bool {
        while let Some(lowest) = self.levels.iter().position(|level| !level.is_empty()) {
            // Only what still belongs on this level can hold the highest count.
            let mut entries = std::mem::take(&mut self.levels[lowest]);
            let mut best = 0;
            for at in 0..entries.len() {
                if let Some(ahead) = entries.get(at + AHEAD) {
                    index.expect_pair(ahead.pair);
                }
                let entry = &mut entries[at];
                entry.count = index.count(entry.pair);
                if level(self.last, entry.count) == Some(lowest) {
                    best = best.max(entry.count);
                }
                let pair = entry.pair;
                self.requeue(pair, index, tokens);
            }
            entries.clear();
            if best < self.threshold {
                continue;
            }
            std::mem::swap(&mut entries, &mut self.levels[lowest]);
            self.last = best;
            for entry in entries.drain(..) {
                self.push(entry.pair, entry.count, index, tokens);
            }
            return true;
        }
        false
    }
}

/// The highest bit in which two counts differ.
#[inline]
fn level(one: u64, other: u64) -> Option<usize> {
    (one ^ other).checked_ilog2().map(|bit| bit as usize)
}
