//! A limit for the growth of a text by normalization.

use crate::error::{Error, Result};
use crate::room;

/// A normalized text may have this many times the bytes of the original. Compatibility decomposition makes up
/// to 11 bytes of one, a replacement of spaces by "▁" makes 3 of one; the rest is a margin.
const MAX_GROWTH_FACTOR: usize = 64;
/// A normalized text may have this many bytes even if the original is short.
const ALWAYS_ALLOWED_BYTES: usize = 1 << 24;

/// The maximum number of bytes that a text of `bytes` bytes may have after any step of a normalizer.
pub fn max_bytes_of(bytes: usize) -> usize {
    bytes.saturating_mul(MAX_GROWTH_FACTOR).max(ALWAYS_ALLOWED_BYTES)
}

/// The limit of one step, with what an error message needs.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// The index and the name of the step.
    pub step: usize,
    pub name: &'static str,
    /// The bytes of the text before the first step.
    pub bytes: usize,
    /// The maximum number of bytes that the text may have after the step.
    pub max_bytes: usize,
}

impl Limit {
    /// Checks that `more` bytes may be added to a text of `now` bytes. Called before they are added.
    #[inline]
    pub(super) fn check(self, now: usize, more: usize) -> Result<()> {
        if now.saturating_add(more) <= self.max_bytes { Ok(()) } else { Err(self.passed()) }
    }

    /// Appends to a text within the limit.
    #[inline]
    pub(super) fn push(self, text: &mut String, more: &str) -> Result<()> {
        self.check(text.len(), more.len())?;
        room::grow_text(text, more.len())?;
        text.push_str(more);
        Ok(())
    }

    /// Appends a character within the limit.
    #[inline]
    pub(super) fn push_char(self, text: &mut String, character: char) -> Result<()> {
        self.check(text.len(), character.len_utf8())?;
        room::grow_text(text, character.len_utf8())?;
        text.push(character);
        Ok(())
    }

    #[cold]
    fn passed(self) -> Error {
        let Limit { step, name, bytes, max_bytes } = self;
        Error::Invalid(format!(
            "step {step} of the normalizer ({name}) makes more than {max_bytes} bytes of {bytes}: a text and its stretches may \
             come to 64 times as many bytes, and to 16 MB in any case"
        ))
    }
}
