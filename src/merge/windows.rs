//! BPE of a long pretoken in overlapping windows.
//!
//! A list of tokens is the result of merging their joined bytes if and only if each two neighbours among them
//! are the result of merging their own joined bytes. To see why, look at the first merge that would cross the
//! border of two neighbours: up to then, the merges inside these two are the same, in the same order, as if
//! the two stood alone, so the crossing merge would also happen alone, which contradicts the condition. (In
//! the other direction, nothing crosses the outer ends of two neighbours in a result, so they merge alone as
//! they do there.) So if the tokens of two overlapping parts of a text have one token in common, the tokens
//! of the first part up to it and those of the second part after it are together the tokens of both parts.
//!
//! A window begins at a token of the result so far, some way before its end, so that nearly always the window
//! soon has a token in common with it. If it has none, the window grows, in the end to the whole pretoken. So
//! the cost is linear except for texts that are made to prevent it, and all memory that is used at a time is
//! near.

use super::long::PartHeap;
use super::pairs::Pairs;
use super::placed_tokens::PlacedTokens;
use super::short;
use crate::control::{BYTES_PER_CHECK, Control};
use crate::error::Result;
use crate::room;
use crate::simd::Isa;

/// Bytes of the first window: as many as the scan for short pretokens takes.
const MIN_WINDOW_BYTES: usize = short::MAX_SHORT_BYTES;
/// The factor by which a window grows.
const WINDOW_GROWTH: usize = 4;
/// The part of a window (one third) that overlaps the result so far.
const OVERLAP_DIVISOR: usize = 3;
/// The part of a window (one quarter) by which it must reach beyond the result so far.
const PROGRESS_DIVISOR: usize = 4;
/// Tokens whose memory is kept for the next pretoken.
const MAX_IDLE_TOKENS: usize = 1 << 16;

/// The start of the character that `at` lies in; `at` itself where bytes are not UTF-8.
fn character_start(text: &[u8], at: usize) -> usize {
    let is_start = |&at: &usize| text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    (at.saturating_sub(3)..=at).rev().find(is_start).unwrap_or(at)
}

/// Working memory for a long pretoken.
#[derive(Debug, Default)]
pub(super) struct WindowedMerger {
    parts: PartHeap,
    /// The tokens up to the end of the last window.
    settled: PlacedTokens,
    /// The tokens of the current window.
    next: PlacedTokens,
}

impl WindowedMerger {
    /// Appends the tokens of `pretoken`, which must be shorter than 4 GiB, to `out`.
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
            room::extend(out, &self.settled.tokens)?;
        }
        for tokens in [&mut self.settled, &mut self.next] {
            tokens.truncate(0);
            tokens.tokens.shrink_to(MAX_IDLE_TOKENS);
            tokens.starts.shrink_to(MAX_IDLE_TOKENS);
        }
        result
    }

    /// Appends the tokens of `pretoken` to `out`, merged as one window. `leaves_out` is that of
    /// [`PartHeap::merge`].
    pub(super) fn merge_at_once(
        &mut self,
        pairs: &Pairs,
        pretoken: &[u8],
        leaves_out: impl FnMut() -> bool,
        out: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let result = self.parts.merge(pairs, (pretoken, 0), leaves_out, &mut self.next, control);
        let result = result.and_then(|()| room::extend(out, &self.next.tokens));
        self.next.truncate(0);
        result
    }

    /// Merges tokens further.
    pub(super) fn merge_tokens(
        &mut self,
        pairs: &Pairs,
        tokens: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let result = self.parts.merge_tokens(pairs, tokens, &mut self.next, control);
        if result.is_ok() {
            tokens.clear();
            tokens.extend_from_slice(&self.next.tokens);
        }
        self.next.truncate(0);
        result
    }

    /// Merges the pretoken window by window into `settled`.
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
            let first = self.settled.before(end.saturating_sub(window / OVERLAP_DIVISOR));
            let from = self.settled.starts.get(first).map_or(0, |&start| start as usize);
            let mut to = pretoken.len().min(from.saturating_add(window));
            if pairs.first_tokens().is_some() {
                to = character_start(pretoken, to);
            }
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

    /// Merges the window `from..to` and joins its tokens with `settled`, which ends at `end` and whose token
    /// `first` begins at `from`. Returns `false` if they have no token in common.
    fn extended(
        &mut self,
        isa: Isa,
        pairs: &Pairs,
        pretoken: &[u8],
        [first, end, from, to]: [usize; 4],
        control: &Control,
    ) -> Result<bool> {
        let WindowedMerger { parts, settled, next } = self;
        next.truncate(0);
        let text = &pretoken[from..to];
        if text.len() <= MIN_WINDOW_BYTES && pairs.ranks() <= short::MAX_SHORT_RANKS {
            let mut live = short::merge(isa, pairs, text, &mut next.tokens);
            while live != 0 {
                next.starts.push((from + live.trailing_zeros() as usize) as u32);
                live &= live - 1;
            }
        } else {
            parts.merge(pairs, (text, from), || false, next, control)?;
        }
        // The first window has nothing before it to join.
        let shared = if from == 0 { Some((0, 0)) } else { settled.shared(first, end, next, to) };
        let Some((here, there)) = shared else { return Ok(false) };
        settled.truncate(here);
        room::extend(&mut settled.tokens, &next.tokens[there..])?;
        room::extend(&mut settled.starts, &next.starts[there..])?;
        Ok(true)
    }
}
