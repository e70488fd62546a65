//! How large a normalizer may make a text.

use crate::error::{Error, Result};

/// Times as large a normalized text may be as the text is, in bytes. Compatibility decomposition makes up to 11 bytes
/// of one, a letter in place of a space 3.
const MAX_GROWTH_FACTOR: usize = 64;
/// Bytes that it may have, however small the text is.
const ALWAYS_ALLOWED_BYTES: usize = 1 << 24;

/// The most bytes that a text of `bytes` bytes may have at any step of a normalizer.
pub fn most_bytes(bytes: usize) -> usize {
    bytes.saturating_mul(MAX_GROWTH_FACTOR).max(ALWAYS_ALLOWED_BYTES)
}

/// What one step may make.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// Which step it is, from 0, and what it is called.
    pub step: usize,
    pub name: &'static str,
    /// The bytes of the text before the first step.
    pub bytes: usize,
    /// The bytes that there may be.
    pub most: usize,
}

impl Limit {
    /// Checks that `more` bytes may be added to `now`, before they are.
    #[inline]
    pub(super) fn check(self, now: usize, more: usize) -> Result<()> {
        if now.saturating_add(more) <= self.most { Ok(()) } else { Err(self.passed()) }
    }

    #[cold]
    fn passed(self) -> Error {
        let Limit { step, name, bytes, most } = self;
        Error::NormalizedTooLong { step, name, bytes, most }
    }
}
