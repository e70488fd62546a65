//! BPE of a long part of a text: a linked list of parts, and a heap of (rank, place).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pairs::{NEVER, Pairs};
use super::placed_tokens::PlacedTokens;
use crate::control::Control;
use crate::error::Result;
use crate::room;

/// Marks the end of the list.
const END: u32 = u32::MAX;
/// Merges between two checks of the control. A few milliseconds of work.
const MERGES_PER_CHECK: u32 = 1 << 14;
/// Bytes or parts that are read between two checks of the control. A few milliseconds of work.
const PARTS_PER_CHECK: usize = 1 << 20;
/// Parts whose memory is kept for the next text; more is freed, since longer texts are rare.
const MAX_IDLE_PARTS: usize = 1 << 16;

/// One part, identified by the place of its first byte. It merges with the next part at `rank`.
#[derive(Clone, Copy, Debug)]
struct LinkedToken {
    token: u32,
    previous: u32,
    next: u32,
    rank: u32,
}

/// Makes room in a heap for `more` entries.
fn make_room(heap: &mut BinaryHeap<Reverse<u64>>, more: usize) -> Result<()> {
    let bytes = (heap.len() + more) * size_of::<u64>();
    heap.try_reserve(more).map_err(|_| room::out_of_memory(bytes))
}

/// Working memory: the parts of a text, and the merges that are possible.
#[derive(Debug, Default)]
pub(super) struct PartHeap {
    parts: Vec<LinkedToken>,
    /// Entries are `rank << 32 | place`: the lowest rank comes first, then the leftmost place. Entries become
    /// stale when a neighbour merges; they are skipped later.
    heap: BinaryHeap<Reverse<u64>>,
}

impl PartHeap {
    /// Appends the tokens of `text` to `out`; `text` begins at offset `from` of the pretoken. `leaves_out`
    /// says whether the next merge in the order of rank and place is left out, until another one happens.
    pub(super) fn merge(
        &mut self,
        pairs: &Pairs,
        (text, from): (&[u8], usize),
        leaves_out: impl FnMut() -> bool,
        out: &mut PlacedTokens,
        control: &Control,
    ) -> Result<()> {
        let started = match pairs.first_tokens() {
            None => {
                let symbols = text.iter().map(|&byte| pairs.byte_token(byte)).enumerate();
                self.start(pairs, symbols, text.len(), control)
            }
            Some(first_tokens) => self.start(pairs, first_tokens.symbols(text), text.len(), control),
        };
        self.finish(started, pairs, from, leaves_out, out, control)
    }

    /// Appends what merging tokens gives to `out`.
    pub(super) fn merge_tokens(
        &mut self,
        pairs: &Pairs,
        tokens: &[u32],
        out: &mut PlacedTokens,
        control: &Control,
    ) -> Result<()> {
        let symbols = tokens.iter().copied().enumerate();
        let started = self.start(pairs, symbols, tokens.len(), control);
        self.finish(started, pairs, 0, || false, out, control)
    }

    fn finish(
        &mut self,
        started: Result<()>,
        pairs: &Pairs,
        from: usize,
        leaves_out: impl FnMut() -> bool,
        out: &mut PlacedTokens,
        control: &Control,
    ) -> Result<()> {
        let merged = started.and_then(|()| self.run(pairs, leaves_out, control));
        let result = merged.and_then(|()| self.collect(from, out, control));
        self.parts.clear();
        self.parts.shrink_to(MAX_IDLE_PARTS);
        self.heap.clear();
        self.heap.shrink_to(MAX_IDLE_PARTS);
        result
    }

    fn run(&mut self, pairs: &Pairs, mut leaves_out: impl FnMut() -> bool, control: &Control) -> Result<()> {
        self.make_room()?;
        let mut left_out = Vec::new();
        let mut until_check = MERGES_PER_CHECK;
        while let Some(Reverse(entry)) = self.heap.pop() {
            let (rank, at) = ((entry >> 32) as u32, entry as u32 as usize);
            // A part that was merged into another, or has another neighbour by now, no longer has this rank.
            if self.parts[at].rank == rank {
                if leaves_out() {
                    room::push(&mut left_out, Reverse(entry))?;
                } else {
                    self.heap.extend(left_out.drain(..));
                    self.apply(pairs, at);
                }
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

    /// Makes a part of each symbol of a text of `bytes` bytes, and an entry of each pair that merges. The
    /// places inside symbols have parts that nothing leads to.
    fn start(
        &mut self,
        pairs: &Pairs,
        symbols: impl Iterator<Item = (usize, u32)>,
        bytes: usize,
        control: &Control,
    ) -> Result<()> {
        let PartHeap { parts, heap } = self;
        room::reserve_exact(parts, bytes)?;
        let mut entries = std::mem::take(heap).into_vec(); // empty, but has its memory
        let (mut last, mut until_check) = (END, PARTS_PER_CHECK);
        for (at, token) in symbols {
            until_check -= 1;
            if until_check == 0 {
                control.check()?;
                make_room(heap, entries.len())?;
                heap.append(&mut BinaryHeap::from(std::mem::take(&mut entries)));
                until_check = PARTS_PER_CHECK;
            }
            if let Some(before) = parts.get_mut(last as usize) {
                let rank = pairs.rank_of_symbols(before.token, token);
                (before.next, before.rank) = (at as u32, rank);
                if rank != NEVER {
                    room::push(&mut entries, Reverse(u64::from(rank) << 32 | u64::from(last)))?;
                }
            }
            parts.resize(at, LinkedToken { token: 0, previous: END, next: END, rank: NEVER });
            parts.push(LinkedToken { token, previous: last, next: END, rank: NEVER });
            last = at as u32;
        }
        make_room(heap, entries.len())?;
        heap.append(&mut BinaryHeap::from(entries));
        Ok(())
    }

    /// Makes room for the entries of the merges up to the next check: at most two for each.
    fn make_room(&mut self) -> Result<()> {
        make_room(&mut self.heap, 2 * self.parts.len().min(MERGES_PER_CHECK as usize))
    }

    /// Merges the part at `at` with the next one.
    fn apply(&mut self, pairs: &Pairs, at: usize) {
        let gone = self.parts[at].next as usize;
        let next = self.parts[gone].next;
        self.parts[gone].rank = NEVER;
        let pair = (self.parts[at].token, self.parts[gone].token);
        self.parts[at].token = pairs.result(self.parts[at].rank, pair);
        self.parts[at].next = next;
        if next != END {
            self.parts[next as usize].previous = at as u32;
        }
        self.refresh(pairs, at);
        let previous = self.parts[at].previous;
        if previous != END {
            self.refresh(pairs, previous as usize);
        }
    }

    /// Updates the rank at which the part at `at` merges. At least one of this part and the next is longer
    /// than a byte.
    fn refresh(&mut self, pairs: &Pairs, at: usize) {
        let part = self.parts[at];
        let rank =
            self.parts.get(part.next as usize).map_or(NEVER, |next| pairs.rank(part.token, next.token));
        self.parts[at].rank = rank;
        if rank != NEVER {
            self.heap.push(Reverse(u64::from(rank) << 32 | at as u64));
        }
    }

    /// Appends the tokens of the remaining parts to `out`.
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
