//! BPE of one pretoken with merges left out at random (BPE-dropout, arXiv:1910.13267).
//!
//! At each step every merge that is possible is left out with the same probability, each by itself. Of the others the one
//! of the lowest rank is done, of several the leftmost. Merging ends when a step leaves out all of them. The choices are
//! drawn in the order of rank and place, and only up to the first merge that is not left out: the others do not matter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::dropout::Draws;
use super::pairs::{NEVER, Pairs};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;

/// Draws between two checks of the control. About a millisecond of work.
const DRAWS_PER_CHECK: usize = 1 << 14;
/// The place of no part.
const NOWHERE: u32 = u32::MAX;

/// A part of a pretoken. It merges with the next part at `rank`.
#[derive(Clone, Copy, Debug)]
struct Part {
    token: u32,
    previous: u32,
    next: u32,
    rank: u32,
}

/// Merges with choices; its memory is reused from pretoken to pretoken.
#[derive(Debug, Default)]
pub(crate) struct RandomMerger {
    parts: Vec<Part>,
    /// Rank and place of the merges that are possible, and of some that were: those are skipped.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    left_out: Vec<(u32, u32)>,
}

impl RandomMerger {
    /// Appends the tokens of `pretoken` to `out`, as indices.
    ///
    /// Cost: O(n log n) draws for n bytes, divided by the probability that a merge is not left out.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`], [`crate::Error::OutOfMemory`]; [`crate::Error::PretokenTooLong`] for 4 GiB or more.
    pub(crate) fn merge(
        &mut self,
        pairs: &Pairs,
        pretoken: &[u8],
        draws: &mut Draws,
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        if pretoken.len() >= u32::MAX as usize {
            return Err(Error::PretokenTooLong { bytes: pretoken.len() });
        }
        self.start(pairs, pretoken)?;
        let mut count = 0;
        while let Some(Reverse((rank, at))) = self.queue.pop() {
            if self.parts[at as usize].rank != rank {
                continue;
            }
            count += 1;
            if count % DRAWS_PER_CHECK == 0 {
                control.check()?;
            }
            if draws.leaves_out() {
                room::push(&mut self.left_out, (rank, at))?;
                continue;
            }
            self.queue.extend(self.left_out.drain(..).map(Reverse));
            self.apply(pairs, at);
        }
        let mut at = if self.parts.is_empty() { NOWHERE } else { 0 };
        while at != NOWHERE {
            room::push(out, self.parts[at as usize].token)?;
            at = self.parts[at as usize].next;
        }
        Ok(())
    }

    /// Makes a part of each byte or character, and an entry of each pair that merges.
    fn start(&mut self, pairs: &Pairs, pretoken: &[u8]) -> Result<()> {
        self.parts.clear();
        self.queue.clear();
        self.left_out.clear();
        room::reserve(&mut self.parts, pretoken.len())?;
        room::reserve(&mut self.left_out, pretoken.len())?;
        let bytes = 3 * pretoken.len() * size_of::<(u32, u32)>();
        // Each merge adds two entries at most, and there are fewer merges than bytes.
        self.queue.try_reserve(3 * pretoken.len()).map_err(|_| room::out_of_memory(bytes))?;
        match pairs.first_tokens() {
            None => pretoken.iter().for_each(|&byte| self.add(pairs.byte_token(byte))),
            Some(first) => first.symbols(pretoken).for_each(|(_, token)| self.add(token)),
        }
        if let Some(last) = self.parts.last_mut() {
            last.next = NOWHERE;
        }
        for at in 1..self.parts.len() {
            self.parts[at - 1].rank = pairs.rank_of_symbols(self.parts[at - 1].token, self.parts[at].token);
            self.enqueue(at as u32 - 1);
        }
        Ok(())
    }

    fn add(&mut self, token: u32) {
        let at = self.parts.len() as u32;
        self.parts.push(Part { token, previous: at.wrapping_sub(1), next: at + 1, rank: NEVER });
    }

    /// Merges a part with the next one.
    fn apply(&mut self, pairs: &Pairs, at: u32) {
        let Part { next, rank, previous, .. } = self.parts[at as usize];
        let after = self.parts[next as usize].next;
        self.parts[next as usize].rank = NEVER;
        let pair = (self.parts[at as usize].token, self.parts[next as usize].token);
        self.parts[at as usize].token = pairs.result(rank, pair);
        self.parts[at as usize].next = after;
        if after != NOWHERE {
            self.parts[after as usize].previous = at;
        }
        // The `previous` of the first part is 0 - 1, which wraps to NOWHERE.
        for left in [at, previous].into_iter().filter(|&left| left != NOWHERE) {
            let Part { token, next, .. } = self.parts[left as usize];
            let right = self.parts.get(next as usize).map(|part| part.token);
            self.parts[left as usize].rank = right.map_or(NEVER, |right| pairs.rank(token, right));
            self.enqueue(left);
        }
    }

    fn enqueue(&mut self, at: u32) {
        let rank = self.parts[at as usize].rank;
        if rank != NEVER {
            self.queue.push(Reverse((rank, at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: a row of tokens, and all merges that are possible in the order of their ranks.
    fn by_definition(pairs: &Pairs, pretoken: &[u8], mut draws: Draws) -> Vec<u32> {
        let mut tokens: Vec<u32> = pretoken.iter().map(|&byte| pairs.byte_token(byte)).collect();
        loop {
            let neighbours = tokens.windows(2).enumerate();
            let mut merges: Vec<(u32, usize)> = neighbours
                .map(|(at, pair)| (pairs.rank_of_symbols(pair[0], pair[1]), at))
                .filter(|&(rank, _)| rank != NEVER)
                .collect();
            merges.sort_unstable();
            let Some((rank, at)) = merges.into_iter().find(|_| !draws.leaves_out()) else { return tokens };
            tokens.splice(at..at + 2, [pairs.result(rank, (tokens[at], tokens[at + 1]))]);
        }
    }

    #[test]
    fn tokens_are_those_of_the_definition() {
        let mut pairs = Pairs::new(std::array::from_fn(|byte| byte as u32), 16);
        let (a, b, c) = (97, 98, 99);
        let merges = [(a, b), (b, c), (256, c), (a, a), (a, 257), (259, 256), (256, 256), (c, a), (262, 256)];
        for (rank, (left, right)) in (0..).zip(merges) {
            pairs.insert(left, right, rank, 256 + rank).unwrap();
        }
        let (mut merger, control) = (RandomMerger::default(), Control::none());
        let words: [&[u8]; 6] = [b"", b"a", b"abcabcaabc", b"aaaaabababcc", b"cabcabab", b"xyabcab"];
        for (number, rate) in [0.0, 0.1, 0.5, 0.9, 1.0].into_iter().cycle().take(1000).enumerate() {
            for word in words {
                let draws = || Draws::of_pretoken(rate, 7, 3, number as u64);
                let mut tokens = Vec::new();
                merger.merge(&pairs, word, &mut draws(), &mut tokens, &control).unwrap();
                assert_eq!(tokens, by_definition(&pairs, word, draws()), "{rate} {number}");
            }
        }
    }
}
