//! A long pretoken: a linked list of parts and a heap of (rank, place).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::control::Control;
use crate::error::Result;
use crate::vocab::{PairMerge, Vocab};

const NONE: PairMerge = PairMerge { rank: u32::MAX, id: u32::MAX };
/// End of the list.
const END: u32 = u32::MAX;
/// Merges between two looks at the control.
const CHECK: u32 = 1 << 14;
/// Bytes, or parts, that are passed over between two looks at the control.
const RUN: usize = 1 << 20;
/// Parts for which the memory stays: longer pretokens are rare.
const KEPT: usize = 1 << 16;

/// One part, named by the place of its first byte. A part merges with the next one into `merge`.
#[derive(Clone, Copy, Debug)]
struct Part {
    id: u32,
    previous: u32,
    next: u32,
    merge: PairMerge,
}

#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// rank << 32 | place: lowest rank first, then leftmost. Entries go stale when a neighbour merges.
    heap: BinaryHeap<Reverse<u64>>,
}

impl Parts {
    pub(super) fn merge(
        &mut self,
        vocab: &Vocab,
        pretoken: &[u8],
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let result = self.run(vocab, pretoken, out, control);
        self.parts.clear();
        self.parts.shrink_to(KEPT);
        self.heap.clear();
        self.heap.shrink_to(KEPT);
        result
    }

    fn run(&mut self, vocab: &Vocab, pretoken: &[u8], out: &mut Vec<u32>, control: &Control) -> Result<()> {
        self.start(vocab, pretoken, control)?;
        let mut until_check = CHECK;
        while let Some(Reverse(entry)) = self.heap.pop() {
            let (rank, at) = ((entry >> 32) as u32, entry as u32 as usize);
            // A dead part, or one that got another neighbour since, no longer has this rank.
            if self.parts[at].merge.rank == rank {
                self.apply(vocab, at);
            }
            until_check -= 1;
            if until_check == 0 {
                control.check()?;
                until_check = CHECK;
            }
        }
        self.collect(out, control)
    }

    fn start(&mut self, vocab: &Vocab, pretoken: &[u8], control: &Control) -> Result<()> {
        let Parts { parts, heap } = self;
        parts.reserve_exact(pretoken.len());
        let mut entries = std::mem::take(heap).into_vec(); // none, but room for them
        let last = pretoken.len() - 1;
        for (at, &byte) in pretoken.iter().enumerate() {
            if at % RUN == RUN - 1 {
                control.check()?;
                heap.append(&mut BinaryHeap::from(std::mem::take(&mut entries)));
            }
            let id = vocab.byte_id(byte);
            let merge = match pretoken.get(at + 1) {
                Some(&next) => vocab.pair(id, vocab.byte_id(next)).unwrap_or(NONE),
                None => NONE,
            };
            if merge != NONE {
                entries.push(Reverse(u64::from(merge.rank) << 32 | at as u64));
            }
            let next = if at == last { END } else { at as u32 + 1 };
            parts.push(Part { id, previous: (at as u32).wrapping_sub(1), next, merge });
        }
        heap.append(&mut BinaryHeap::from(entries));
        Ok(())
    }

    /// Merges the part at `at` with the next one.
    fn apply(&mut self, vocab: &Vocab, at: usize) {
        let gone = self.parts[at].next as usize;
        let next = self.parts[gone].next;
        self.parts[gone].merge = NONE;
        self.parts[at].id = self.parts[at].merge.id;
        self.parts[at].next = next;
        if next != END {
            self.parts[next as usize].previous = at as u32;
        }
        self.refresh(vocab, at);
        // The first part's `previous` is 0 - 1, which is END.
        let previous = self.parts[at].previous;
        if previous != END {
            self.refresh(vocab, previous as usize);
        }
    }

    /// Looks up anew what the part at `at` merges into.
    fn refresh(&mut self, vocab: &Vocab, at: usize) {
        let part = self.parts[at];
        let merge = match self.parts.get(part.next as usize) {
            Some(next) => vocab.pair(part.id, next.id).unwrap_or(NONE),
            None => NONE,
        };
        self.parts[at].merge = merge;
        if merge != NONE {
            self.heap.push(Reverse(u64::from(merge.rank) << 32 | at as u64));
        }
    }

    fn collect(&self, out: &mut Vec<u32>, control: &Control) -> Result<()> {
        let mut at = 0;
        while let Some(part) = self.parts.get(at as usize) {
            out.push(part.id);
            at = part.next;
            if out.len().is_multiple_of(RUN) {
                control.check()?;
            }
        }
        Ok(())
    }
}
