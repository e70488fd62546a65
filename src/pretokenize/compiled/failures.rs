//! What was tried in vain: keeps the time of a scanner linear in its text, whatever the pattern.
//!
//! A scanner may read far beyond the end of a match, to find out that no longer one follows (`a*b|a` on many `a`).
//! The next match begins before that place, and would read the same text again. So where a long search was in vain,
//! the states that it passed are kept, one for each 64 bytes: a search that comes to one of them ends there.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::error::Result;
use crate::room;

/// Between two bytes of a text with this many bits cut off, which are equal, nothing is kept.
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

    /// Keeps what a search has passed since the last end that it found. `start` is where the search began: nothing
    /// before it is looked at again.
    pub(super) fn keep(&mut self, passed: &[Passed], start: usize) -> Result<()> {
        if start >= self.until {
            self.known.clear();
        }
        if let Some(&(last, _)) = passed.last() {
            self.until = self.until.max(last);
            let bytes = size_of_val(passed);
            self.known.try_reserve(passed.len()).map_err(|_| room::out_of_memory(bytes))?;
            self.known.extend(passed);
        }
        Ok(())
    }
}
