//! A pretoken whose ids are not in its bucket, and where else they may be.

use crate::pretokenize::key::Key;

/// A pretoken that is not among the few of its line: `text[start..end]`.
#[derive(Clone, Copy)]
pub(in crate::encode) struct Miss<'t> {
    pub(in crate::encode) text: &'t [u8],
    pub(in crate::encode) start: usize,
    pub(in crate::encode) end: usize,
    pub(in crate::encode) key: Key,
    /// The line of the key.
    pub(in crate::encode) bucket_index: u32,
    pub(in crate::encode) hint: Hint,
}

impl<'t> Miss<'t> {
    #[inline]
    pub(in crate::encode) fn pretoken(&self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }
}

/// Where ids may be that are not in a line.
#[derive(Clone, Copy, Default)]
pub(in crate::encode) enum Hint {
    #[default]
    Nowhere,
    /// At a place of the records.
    Ids { place: u64, count: u32 },
    /// In the record of a pretoken of this hash.
    Record(u64),
}
