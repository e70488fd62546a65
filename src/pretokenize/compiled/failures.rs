//! Searches that found nothing. They are kept so that the time of a scanner is linear in its text, whatever
//! the pattern.
//!
//! A scanner may read far beyond the end of a match, to find out that no longer one follows (`a*b|a` on many
//! `a`). The next match begins before that place, and would read the same text again. So the states that a
//! long search has passed without a match are kept, one for each 64 bytes, and a search that comes to one of
//! them ends there.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::error::Result;
use crate::room;

/// log2 of the bytes of a block. One state is kept for each block that a search enters.
const BLOCK_BITS: u32 = 6;

/// A place in a text and the row of a state.
pub(super) type Passed = (usize, u32);

/// States from which no end of a match can be reached.
#[derive(Default)]
pub(super) struct Failures {
    known: HashSet<Passed, FxBuildHasher>,
    /// The end of the last search that is kept.
    until: usize,
}

impl Failures {
    /// Whether a search that goes from `before` to `at` must be noted: it enters a new block.
    #[inline]
    pub(super) fn is_noted(before: usize, at: usize) -> bool {
        before >> BLOCK_BITS != at >> BLOCK_BITS
    }

    pub(super) fn has(&self, passed: Passed) -> bool {
        self.known.contains(&passed)
    }

    /// Keeps the states that a search has passed since the last end that it found. `start` is where the
    /// search began; no later search begins before it.
    pub(super) fn keep(&mut self, passed: &[Passed], start: usize) -> Result<()> {
        let Some(&(last, _)) = passed.last() else { return Ok(()) };
        if start >= self.until {
            self.known.clear();
        }
        self.until = self.until.max(last);
        self.known.try_reserve(passed.len()).map_err(|_| room::out_of_memory(size_of_val(passed)))?;
        self.known.extend(passed);
        Ok(())
    }
}
