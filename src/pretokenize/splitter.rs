//! Patterns that something outside the scanners runs.

use std::ops::Range;

use crate::error::Result;

/// What a [`Splitter`] hands its matches to; it answers whether to go on.
pub type OnMatch<'a> = &'a mut dyn FnMut(Range<usize>) -> Result<bool>;

/// A pattern that something outside the core runs.
pub trait Splitter: Send + Sync {
    /// Calls `on_match` with each match in `text`, in order, in bytes; empty matches are left out.
    /// Ends early when `on_match` returns `false`.
    ///
    /// # Errors
    /// What `on_match` fails with, or [`crate::Error::Splitter`].
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()>;

    /// Whether several threads at once gain anything.
    fn is_parallel(&self) -> bool {
        false
    }
}
