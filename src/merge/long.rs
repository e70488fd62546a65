//! A long stretch: a linked list of parts and a heap of (rank, place).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pairs::{NEVER, Pairs};
use super::placed_tokens::PlacedTokens;
use crate::control::Control;
use crate::error::Result;
use crate::room;

/// End of the list.
const END: u32 = u32::MAX;
/// Merges between two looks at the control.
const MERGES_PER_CHECK: u32 = 1 << 14;
/// Bytes, or parts, that are passed over between two looks at the control.
const PARTS_PER_CHECK: usize = 1 << 20;
/// Parts for which the memory stays: longer stretches are rare.
const MAX_IDLE_PARTS: usize = 1 << 16;

/// One part, named by the place of its first byte. It merges with the next one at `rank`.
#[derive(Clone, Copy, Debug)]
struct Part {
    token: u32,
    previous: u32,
    next: u32,
    rank: u32,
}

fn make_room(heap: &mut BinaryHeap<Reverse<u64>>, more: usize) -> Result<()> {
    let bytes = (heap.len() + more) * size_of::<u64>();
    heap.try_reserve(more).map_err(|_| room::out_of_memory(bytes))
}

#[derive(Debug, Default)]
pub(super) struct PartHeap {
    parts: Vec<Part>,
    /// rank << 32 | place: lowest rank first, then leftmost. Entries go stale when a neighbour merges.
    heap: BinaryHeap<Reverse<u64>>,
}

impl PartHeap {
    /// Appends the tokens of `text`, which begins at `from`, to `out`.
    pub(super) fn merge(
        &mut self,
        pairs: &Pairs,
        text: &[u8],
        from: usize,
        out: &mut PlacedTokens,
        control: &Control,
    ) -> Result<()> {
        let result = self.run(pairs, text, control).and_then(|()| self.collect(from, out, control));
        self.parts.clear();
        self.parts.shrink_to(MAX_IDLE_PARTS);
        self.heap.clear();
        self.heap.shrink_to(MAX_IDLE_PARTS);
        result
    }

    fn run(&mut self, pairs: &Pairs, text: &[u8], control: &Control) -> Result<()> {
        self.start(pairs, text, control)?;
        self.make_room()?;
        let mut until_check = MERGES_PER_CHECK;
        while let Some(Reverse(entry)) = self.heap.pop() {
            let (rank, at) = ((entry >> 32) as u32, entry as u32 as usize);
            // A dead part, or one that got another neighbour since, no longer has this rank.
            if self.parts[at].rank == rank {
                self.apply(pairs, at);
            }
            until_check -= 1;
            if until_check == 0 {
                control.check()?;
                self.make_room()?;
                until_check = MERGES_PER_CHECK;
            }
        }
        Ok(())
    }

    fn start(&mut self, pairs: &Pairs, text: &[u8], control: &Control) -> Result<()> {
        let PartHeap { parts, heap } = self;
        room::reserve_exact(parts, text.len())?;
        let mut entries = std::mem::take(heap).into_vec(); // none, but room for them
        for (at, &byte) in text.iter().enumerate() {
            if at % PARTS_PER_CHECK == PARTS_PER_CHECK - 1 {
                control.check()?;
                make_room(heap, entries.len())?;
                heap.append(&mut BinaryHeap::from(std::mem::take(&mut entries)));
            }
            let (mut rank, mut next) = (NEVER, END);
            if let Some(&following) = text.get(at + 1) {
                rank = pairs.rank_of_bytes(byte, following);
                next = at as u32 + 1;
            }
            if rank != NEVER {
                room::push(&mut entries, Reverse(u64::from(rank) << 32 | at as u64))?;
            }
            parts.push(Part {
                token: pairs.byte_token(byte),
                previous: (at as u32).wrapping_sub(1),
                next,
                rank,
            });
        }
        make_room(heap, entries.len())?;
        heap.append(&mut BinaryHeap::from(entries));
        Ok(())
    }

    /// Makes room for what merging adds to the heap up to the next time: two entries a merge.
    fn make_room(&mut self) -> Result<()> {
        make_room(&mut self.heap, 2 * self.parts.len().min(MERGES_PER_CHECK as usize))
    }

    /// Merges the part at `at` with the next one.
    fn apply(&mut self, pairs: &Pairs, at: usize) {
        let gone = self.parts[at].next as usize;
        let next = self.parts[gone].next;
        self.parts[gone].rank = NEVER;
        self.parts[at].token = pairs.result(self.parts[at].rank);
        self.parts[at].next = next;
        if next != END {
            self.parts[next as usize].previous = at as u32;
        }
        self.refresh(pairs, at);
        // The first part's `previous` is 0 - 1, which is END.
        let previous = self.parts[at].previous;
        if previous != END {
            self.refresh(pairs, previous as usize);
        }
    }

    /// Looks up anew at which rank the part at `at` merges. One of it and the next is no single byte.
    fn refresh(&mut self, pairs: &Pairs, at: usize) {
        let part = self.parts[at];
        let rank =
            self.parts.get(part.next as usize).map_or(NEVER, |next| pairs.rank(part.token, next.token));
        self.parts[at].rank = rank;
        if rank != NEVER {
            self.heap.push(Reverse(u64::from(rank) << 32 | at as u64));
        }
    }

    fn collect(&self, from: usize, out: &mut PlacedTokens, control: &Control) -> Result<()> {
        let mut at = 0;
        out.reserve(self.parts.len().min(PARTS_PER_CHECK))?;
        while let Some(part) = self.parts.get(at as usize) {
            out.push(part.token, from + at as usize);
            at = part.next;
            if out.len().is_multiple_of(PARTS_PER_CHECK) {
                control.check()?;
                out.reserve(PARTS_PER_CHECK)?;
            }
        }
        Ok(())
    }
}
