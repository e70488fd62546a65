//! A long pretoken: a linked list of parts and a heap of (rank, place).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::pairs::{NEVER, Pairs};
use crate::control::Control;
use crate::error::Result;

/// End of the list.
const END: u32 = u32::MAX;
/// Merges between two looks at the control.
const CHECK: u32 = 1 << 14;
/// Bytes, or parts, that are passed over between two looks at the control.
const RUN: usize = 1 << 20;
/// Parts for which the memory stays: longer pretokens are rare.
const KEPT: usize = 1 << 16;

/// One part, named by the place of its first byte. It merges with the next one at `rank`.
#[derive(Clone, Copy, Debug)]
struct Part {
    token: u32,
    previous: u32,
    next: u32,
    rank: u32,
}

#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// rank << 32 | place: lowest rank first, then leftmost. Entries go stale when a neighbour merges.
    heap: BinaryHeap<Reverse<u64>>,
}

/// What two parts merge into.
trait Rules {
    /// The token of one byte.
    fn byte(&self, at: usize) -> u32;
    /// The rank of the two parts that begin at `left` and at `right` and end at `end`.
    fn rank(&self, parts: [u32; 2], places: [usize; 3]) -> u32;
    /// The token that they become.
    fn result(&self, rank: u32) -> u32;
}

struct Table<'a> {
    pairs: &'a Pairs,
    pretoken: &'a [u8],
    limit: u32,
}

impl Rules for Table<'_> {
    #[inline]
    fn byte(&self, at: usize) -> u32 {
        self.pairs.byte_token(self.pretoken[at])
    }

    #[inline]
    fn rank(&self, [left, right]: [u32; 2], [start, middle, end]: [usize; 3]) -> u32 {
        let rank = if end - start == 2 {
            self.pairs.rank_of_bytes(self.pretoken[start], self.pretoken[middle])
        } else {
            self.pairs.rank(left, right)
        };
        if rank < self.limit { rank } else { NEVER }
    }

    #[inline]
    fn result(&self, rank: u32) -> u32 {
        self.pairs.result(rank)
    }
}

struct Definition<F>(F);

impl<F: Fn(Range<usize>) -> Option<u32>> Rules for Definition<F> {
    fn byte(&self, _: usize) -> u32 {
        0
    }

    fn rank(&self, _: [u32; 2], [start, _, end]: [usize; 3]) -> u32 {
        (self.0)(start..end).unwrap_or(NEVER)
    }

    fn result(&self, _: u32) -> u32 {
        0
    }
}

/// Merges `len` bytes by a rule that sees bytes alone: `rank` of a range of them, if they are a token. Returns where
/// the parts end. Slow: it is for what the table of pairs cannot be asked yet.
pub(crate) fn by_definition(len: usize, rank: impl Fn(Range<usize>) -> Option<u32>) -> Vec<usize> {
    let mut parts = Parts::default();
    if parts.run(&Definition(rank), len, &Control::none()).is_err() {
        return Vec::new(); // nobody interrupts it
    }
    let mut ends = Vec::new();
    let mut at = 0;
    while let Some(part) = parts.parts.get(at) {
        at = part.next as usize;
        ends.push(at.min(len));
    }
    ends
}

impl Parts {
    pub(super) fn merge(
        &mut self,
        pairs: &Pairs,
        pretoken: &[u8],
        limit: u32,
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let rules = Table { pairs, pretoken, limit };
        let result = self.run(&rules, pretoken.len(), control).and_then(|()| self.collect(out, control));
        self.parts.clear();
        self.parts.shrink_to(KEPT);
        self.heap.clear();
        self.heap.shrink_to(KEPT);
        result
    }

    fn run(&mut self, rules: &impl Rules, len: usize, control: &Control) -> Result<()> {
        self.start(rules, len, control)?;
        let mut until_check = CHECK;
        while let Some(Reverse(entry)) = self.heap.pop() {
            let (rank, at) = ((entry >> 32) as u32, entry as u32 as usize);
            // A dead part, or one that got another neighbour since, no longer has this rank.
            if self.parts[at].rank == rank {
                self.apply(rules, at, len);
            }
            until_check -= 1;
            if until_check == 0 {
                control.check()?;
                until_check = CHECK;
            }
        }
        Ok(())
    }

    fn start(&mut self, rules: &impl Rules, len: usize, control: &Control) -> Result<()> {
        let Parts { parts, heap } = self;
        parts.reserve_exact(len);
        let mut entries = std::mem::take(heap).into_vec(); // none, but room for them
        let mut token = if len == 0 { 0 } else { rules.byte(0) };
        for at in 0..len {
            if at % RUN == RUN - 1 {
                control.check()?;
                heap.append(&mut BinaryHeap::from(std::mem::take(&mut entries)));
            }
            let (mut rank, mut next) = (NEVER, END);
            let mut following = 0;
            if at + 1 < len {
                following = rules.byte(at + 1);
                rank = rules.rank([token, following], [at, at + 1, at + 2]);
                next = at as u32 + 1;
            }
            if rank != NEVER {
                entries.push(Reverse(u64::from(rank) << 32 | at as u64));
            }
            parts.push(Part { token, previous: (at as u32).wrapping_sub(1), next, rank });
            token = following;
        }
        heap.append(&mut BinaryHeap::from(entries));
        Ok(())
    }

    /// Merges the part at `at` with the next one.
    fn apply(&mut self, rules: &impl Rules, at: usize, len: usize) {
        let gone = self.parts[at].next as usize;
        let next = self.parts[gone].next;
        self.parts[gone].rank = NEVER;
        self.parts[at].token = rules.result(self.parts[at].rank);
        self.parts[at].next = next;
        if next != END {
            self.parts[next as usize].previous = at as u32;
        }
        self.refresh(rules, at, len);
        // The first part's `previous` is 0 - 1, which is END.
        let previous = self.parts[at].previous;
        if previous != END {
            self.refresh(rules, previous as usize, len);
        }
    }

    /// Looks up anew at which rank the part at `at` merges.
    fn refresh(&mut self, rules: &impl Rules, at: usize, len: usize) {
        let part = self.parts[at];
        let rank = match self.parts.get(part.next as usize) {
            Some(next) => {
                let end = if next.next == END { len } else { next.next as usize };
                rules.rank([part.token, next.token], [at, part.next as usize, end])
            }
            None => NEVER,
        };
        self.parts[at].rank = rank;
        if rank != NEVER {
            self.heap.push(Reverse(u64::from(rank) << 32 | at as u64));
        }
    }

    fn collect(&self, out: &mut Vec<u32>, control: &Control) -> Result<()> {
        let mut at = 0;
        while let Some(part) = self.parts.get(at as usize) {
            out.push(part.token);
            at = part.next;
            if out.len().is_multiple_of(RUN) {
                control.check()?;
            }
        }
        Ok(())
    }
}
