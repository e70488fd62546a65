//! Which of several equally frequent pairs comes first.

use super::corpus::Corpus;
use super::index::PairIndex;
use super::options::Ties;
use super::tokens::TokenInfo;
use crate::error::Result;
use crate::room;

/// A pair and what ranks it among its equals.
#[derive(Clone, Copy)]
struct Candidate {
    /// The greater comes first; see [`TokenInfo::key`].
    key: [u64; 2],
    left: u32,
    right: u32,
    pair: u32,
}

impl Candidate {
    fn precedes(&self, other: &Self, tokens: &TokenInfo) -> bool {
        if self.key[0] != other.key[0] {
            return self.key[0] > other.key[0];
        }
        // Equal prefixes are not equal tokens: the right ones count only once the left ones are the same.
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

/// Equally frequent pairs as a binary heap, the first by the tie rule on top.
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

    /// The pair on top.
    pub(super) fn peek(&self) -> Option<u32> {
        self.candidates.first().map(|top| top.pair)
    }

    /// The pair at a place of the heap: the nearer to the front, the sooner it is on top.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<u32> {
        self.candidates.get(place).map(|candidate| candidate.pair)
    }

    /// Whether the pair on top belongs there. Under [`Ties::First`] a key is the position at which the
    /// pair was last seen, and at the start the best there is: the pair's first occurrence only ever
    /// moves later, so it is looked up when the pair comes to the top, and the pair sinks if it moved.
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
