//! The order of equally frequent pairs.

use super::corpus::Corpus;
use super::index::PairIndex;
use super::options::Ties;
use super::tokens::TokenInfo;
use crate::error::Result;
use crate::room;

/// A pair, and its rank among equally frequent ones.
#[derive(Clone, Copy)]
struct Candidate {
    /// The pair with the greater key comes first; see [`TokenInfo::key`].
    key: [u64; 2],
    left: u32,
    right: u32,
    pair: u32,
}

impl Candidate {
    /// Whether this pair comes before another one by the tie rule.
    fn precedes(&self, other: &Self, tokens: &TokenInfo) -> bool {
        if self.key[0] != other.key[0] {
            return self.key[0] > other.key[0];
        }
        // Tokens with equal keys can differ, so the keys of the right tokens count only if the left tokens
        // are the same.
        if self.left == other.left && self.key[1] != other.key[1] {
            return self.key[1] > other.key[1];
        }
        tokens.ties() == Ties::Bytes
            && tokens
                .compare(self.left, other.left)
                .then_with(|| tokens.compare(self.right, other.right))
                .is_gt()
    }
}

/// A binary heap of equally frequent pairs, with the first one by the tie rule on top.
#[derive(Default)]
pub(super) struct TieHeap {
    candidates: Vec<Candidate>,
}

impl TieHeap {
    pub(super) fn push(&mut self, pair: u32, index: &PairIndex, tokens: &TokenInfo) -> Result<()> {
        let (left, right) = index.tokens(pair);
        room::push(&mut self.candidates, Candidate { key: tokens.key(left, right), left, right, pair })?;
        let mut child = self.candidates.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 2;
            if !self.candidates[child].precedes(&self.candidates[parent], tokens) {
                break;
            }
            self.candidates.swap(child, parent);
            child = parent;
        }
        Ok(())
    }

    /// The pair at a place of the heap: the top is at 0, and pairs nearer to it come out sooner.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<u32> {
        self.candidates.get(place).map(|candidate| candidate.pair)
    }

    /// Whether the pair on top belongs there. Under [`Ties::First`] the key is the position at which the pair
    /// was last found, at first the best possible one. The first occurrence of a pair only moves towards the
    /// end, so it is looked up when the pair is on top, and if it has moved, the pair sinks.
    pub(super) fn settle(&mut self, index: &mut PairIndex, corpus: &impl Corpus, tokens: &TokenInfo) -> bool {
        if tokens.ties() != Ties::First {
            return true;
        }
        let Some(top) = self.candidates.first_mut() else { return false };
        let key = index.first_live(top.pair, corpus, tokens).map_or(0, |position| !u64::from(position));
        let settled = top.key[0] == key;
        top.key[0] = key;
        self.sink(tokens);
        settled
    }

    /// Removes the pair on top.
    pub(super) fn pop(&mut self, tokens: &TokenInfo) {
        let last = self.candidates.pop();
        if let (Some(last), Some(top)) = (last, self.candidates.first_mut()) {
            *top = last;
            self.sink(tokens);
        }
    }

    /// Moves the pair on top down to its place.
    fn sink(&mut self, tokens: &TokenInfo) {
        let heap = &mut self.candidates;
        let mut parent = 0;
        loop {
            let mut child = 2 * parent + 1;
            if child >= heap.len() {
                break;
            }
            if child + 1 < heap.len() && heap[child + 1].precedes(&heap[child], tokens) {
                child += 1;
            }
            if !heap[child].precedes(&heap[parent], tokens) {
                break;
            }
            heap.swap(parent, child);
            parent = child;
        }
    }
}
