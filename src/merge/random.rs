//! BPE of one pretoken with merges left out at random (BPE-dropout, arXiv:1910.13267).
//!
//! At each step every merge that is possible is left out with the same probability, each by itself. Of the others the one
//! of the lowest rank is done, of several the leftmost. Merging ends when a step leaves out all of them. The choices are
//! drawn in the order of rank and place, and only up to the first merge that is not left out: the others do not matter.

use super::dropout::Draws;
use super::long::PartHeap;
use super::pairs::Pairs;
use super::placed_tokens::PlacedTokens;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;

/// Merges with choices; its memory is reused from pretoken to pretoken.
#[derive(Debug, Default)]
pub(crate) struct RandomMerger {
    parts: PartHeap,
    tokens: PlacedTokens,
}

impl RandomMerger {
    /// Appends the tokens of `pretoken` to `out`, as indices.
    ///
    /// Cost: O(n log n) draws for n bytes, divided by the probability that a merge is not left out.
    ///
    /// # Errors
    /// [`crate::Error::PretokenTooLong`] for 4 GiB or more.
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
        self.tokens.truncate(0);
        self.parts.merge(pairs, (pretoken, 0), || draws.leaves_out(), &mut self.tokens, control)?;
        room::extend(out, &self.tokens.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::NEVER;

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
