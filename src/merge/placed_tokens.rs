//! Tokens of a pretoken with the offsets at which they begin.

use crate::error::{Error, Result};
use crate::room;

/// Tokens, and the offset at which each begins.
#[derive(Debug, Default)]
pub(super) struct PlacedTokens {
    pub(super) tokens: Vec<u32>,
    pub(super) starts: Vec<u32>,
}

impl PlacedTokens {
    /// Makes room for `more` tokens.
    pub(super) fn reserve(&mut self, more: usize) -> Result<()> {
        room::reserve(&mut self.tokens, more)?;
        room::reserve(&mut self.starts, more)
    }

    #[inline]
    pub(super) fn push(&mut self, token: u32, start: usize) {
        self.tokens.push(token);
        self.starts.push(start as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.tokens.truncate(len);
        self.starts.truncate(len);
    }

    /// The index of the last token that begins at `at` or before it.
    pub(super) fn before(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= at).saturating_sub(1)
    }

    /// The end of token `index`, if the last token ends at `end`.
    fn end_of(&self, index: usize, end: usize) -> usize {
        self.starts.get(index + 1).map_or(end, |&start| start as usize)
    }

    /// The first token that both lists have, as its indices in the two. Here the search begins with token
    /// `first`. The lists end at the offsets `end` and `next_end`.
    pub(super) fn shared(
        &self,
        first: usize,
        end: usize,
        next: &PlacedTokens,
        next_end: usize,
    ) -> Option<(usize, usize)> {
        let (mut here, mut there) = (first, 0);
        while let (Some(start), Some(other)) = (self.starts.get(here), next.starts.get(there)) {
            let same = start == other
                && self.tokens[here] == next.tokens[there]
                && self.end_of(here, end) == next.end_of(there, next_end);
            if same {
                return Some((here, there));
            }
            let (step, next_step) = (start <= other, other <= start);
            here += usize::from(step);
            there += usize::from(next_step);
        }
        None
    }
}

/// Places in a pretoken are numbers of 32 bits.
pub(super) fn check_length(pretoken: &[u8]) -> Result<()> {
    let (bytes, max) = (pretoken.len(), u32::MAX);
    if bytes < max as usize {
        return Ok(());
    }
    let reason = format!("a pretoken of {bytes} bytes is too long: at most {max} can be merged as one piece");
    Err(Error::Invalid(reason))
}
