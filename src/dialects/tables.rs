//! What only the installed `regex` package knows: which characters a class has.

use std::ops::Range;

use crate::error::Result;

/// Ranges of code points, in order.
pub type Ranges = Vec<Range<u32>>;

/// The installed `regex` package.
pub trait Tables {
    /// The code points, surrogates included, that a pattern of exactly one character matches.
    ///
    /// # Errors
    /// The error of `regex` for a pattern that it does not read.
    fn matched(&self, source: &str) -> Result<Ranges>;

    /// The places in `among` of the characters that such a pattern matches.
    fn matched_among(&self, source: &str, among: &str) -> Result<Ranges>;
}
