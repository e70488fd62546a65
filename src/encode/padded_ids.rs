//! Ids that lie in a larger list.

/// Some ids of a list, together with the list. The numbers after the ids may also be read, so that the ids
/// can be copied in pieces of a fixed size.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaddedIds<'a> {
    pub(super) all: &'a [u32],
    pub(super) from: usize,
    pub(super) to: usize,
}

impl<'a> PaddedIds<'a> {
    /// The `count` ids from `from` on; `None` if the list ends before.
    #[inline(always)]
    pub(super) fn new(all: &'a [u32], from: usize, count: usize) -> Option<Self> {
        let to = from.checked_add(count)?;
        (to <= all.len()).then_some(PaddedIds { all, from, to })
    }

    #[inline]
    pub(super) fn ids(self) -> &'a [u32] {
        &self.all[self.from..self.to]
    }
}

impl<'a> From<&'a [u32]> for PaddedIds<'a> {
    #[inline(always)]
    fn from(all: &'a [u32]) -> Self {
        PaddedIds { all, from: 0, to: all.len() }
    }
}
