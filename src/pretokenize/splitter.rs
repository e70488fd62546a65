//! Patterns that something outside the core runs.

use std::ops::Range;

use crate::error::Result;

/// Receives the matches of a [`Splitter`], and returns whether to continue.
pub type OnMatch<'a> = &'a mut dyn FnMut(Range<usize>) -> Result<bool>;

/// A pattern that something outside the core runs.
pub trait Splitter: Send + Sync {
    /// Calls `on_match` with each match in `text`, in order, in bytes; empty matches are left out.
    /// Ends early when `on_match` returns `false`.
    ///
    /// # Errors
    /// Errors of `on_match`, or [`crate::Error::Splitter`].
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()>;

    /// Whether several threads are faster than one.
    fn is_parallel(&self) -> bool {
        false
    }
}
