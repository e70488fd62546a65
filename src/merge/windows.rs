//! A long pretoken, one window of it after the other.
//!
//! Tokens are what their joined bytes merge to exactly if the same holds of every two neighbours among them. For until
//! the first merge across a place between two of them, what merges inside these two is what merges there when they
//! stand alone, in the same order: so that merge would be made there too. (And the neighbours in what bytes merge to
//! are merged alone as they are there: nothing crosses their outer ends.) So where the tokens of two overlapping
//! stretches have one token in common, those of the first up to it and those of the second behind it are the tokens of
//! both stretches together.
//!
//! Windows begin at a token of those so far, some way before their end, where a token in common is nearly always
//! there at once. Where there is none, the window grows, in the end to the whole. So the cost is linear but in texts
//! made to prevent it, and all that is worked on is near.

use super::long::PartHeap;
use super::pairs::Pairs;
use super::placed_tokens::PlacedTokens;
use super::short;
use crate::control::Control;
use crate::error::Result;
use crate::room;
use crate::simd::Isa;

/// Bytes of the first window that is tried: as many as a scan takes.
const MIN_WINDOW_BYTES: usize = short::MAX_SHORT_BYTES;
/// How many times larger the next one is.
const WINDOW_GROWTH: usize = 4;
/// The part of a window that lies before the end of what there is.
const OVERLAP_DIVISOR: usize = 3;
/// The least part of a window that must lie behind it.
const PROGRESS_DIVISOR: usize = 4;
/// Bytes merged between two looks at the control.
const BYTES_PER_CHECK: usize = 1 << 16;
/// Tokens for which the memory stays.
const MAX_IDLE_TOKENS: usize = 1 << 16;

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct WindowedMerger {
    parts: PartHeap,
    /// The tokens of the text up to the end of the last window.
    found: PlacedTokens,
    /// The tokens of the current window.
    next: PlacedTokens,
}

impl WindowedMerger {
    /// Appends the tokens of `pretoken`, of fewer than 2³² bytes, to `out`.
    pub(super) fn merge(
        &mut self,
        isa: Isa,
        pairs: &Pairs,
        pretoken: &[u8],
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let smallest = if pairs.ranks() <= short::MAX_SHORT_RANKS {
            MIN_WINDOW_BYTES
        } else {
            MIN_WINDOW_BYTES * WINDOW_GROWTH
        };
        let result = self.run(isa, pairs, pretoken, smallest, control);
        if result.is_ok() {
            room::extend(out, &self.found.tokens)?;
        }
        for tokens in [&mut self.found, &mut self.next] {
            tokens.truncate(0);
            tokens.tokens.shrink_to(MAX_IDLE_TOKENS);
            tokens.starts.shrink_to(MAX_IDLE_TOKENS);
        }
        result
    }

    fn run(
        &mut self,
        isa: Isa,
        pairs: &Pairs,
        pretoken: &[u8],
        smallest: usize,
        control: &Control,
    ) -> Result<()> {
        let (mut end, mut window, mut unchecked) = (0, smallest, 0);
        while end < pretoken.len() {
            let first = self.found.before(end.saturating_sub(window / OVERLAP_DIVISOR));
            let from = self.found.starts.get(first).map_or(0, |&start| start as usize);
            let to = pretoken.len().min(from.saturating_add(window));
            unchecked += to - from;
            if unchecked >= BYTES_PER_CHECK {
                unchecked = 0;
                control.check()?;
            }
            if (to == pretoken.len() || to >= end + window / PROGRESS_DIVISOR)
                && self.extended(isa, pairs, pretoken, [first, end, from, to], control)?
            {
                (end, window) = (to, smallest);
            } else {
                window = window.saturating_mul(WINDOW_GROWTH);
            }
        }
        Ok(())
    }

    /// Merges the window `from..to` and adds its tokens to those found, which end at `end` and of which number `first`
    /// begins at `from`; `false` if they have none in common.
    fn extended(
        &mut self,
        isa: Isa,
        pairs: &Pairs,
        pretoken: &[u8],
        [first, end, from, to]: [usize; 4],
        control: &Control,
    ) -> Result<bool> {
        let WindowedMerger { parts, found, next } = self;
        next.truncate(0);
        let text = &pretoken[from..to];
        if text.len() <= MIN_WINDOW_BYTES && pairs.ranks() <= short::MAX_SHORT_RANKS {
            let mut live = short::merge(isa, pairs, text, &mut next.tokens);
            while live != 0 {
                next.starts.push((from + live.trailing_zeros() as usize) as u32);
                live &= live - 1;
            }
        } else {
            parts.merge(pairs, text, from, next, control)?;
        }
        // The first window needs no token in common with what was found before it.
        let shared = if from == 0 { Some((0, 0)) } else { found.shared(first, end, next, to) };
        let Some((here, there)) = shared else { return Ok(false) };
        found.truncate(here);
        room::extend(&mut found.tokens, &next.tokens[there..])?;
        room::extend(&mut found.starts, &next.starts[there..])?;
        Ok(true)
    }
}
