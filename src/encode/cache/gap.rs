//! A gap: a pretoken whose ids are not in a slot, and where else they may be.

use crate::pretokenize::key::Key;

/// The pretoken `text[start..end]`, whose ids are not in a slot of its bucket.
#[derive(Clone, Copy)]
pub(in crate::encode) struct Gap<'t> {
    pub(in crate::encode) text: &'t [u8],
    pub(in crate::encode) start: usize,
    pub(in crate::encode) end: usize,
    pub(in crate::encode) key: Key,
    /// The index of the key's bucket.
    pub(in crate::encode) bucket_index: u32,
    pub(in crate::encode) hint: Hint,
}

impl<'t> Gap<'t> {
    #[inline]
    pub(in crate::encode) fn pretoken(&self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }
}

/// Where in the overflow ring the ids of a pretoken may be.
#[derive(Clone, Copy, Default)]
pub(in crate::encode) enum Hint {
    #[default]
    Nowhere,
    /// At a place that the slot names.
    Ids { place: u64, count: u32 },
    /// In a record that the ring's index has under this hash.
    Record(u64),
}
