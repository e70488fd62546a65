//! Entries of the table of an automaton.

/// Where the row of the start begins.
pub(super) const START: u32 = 0;

/// What happens at a symbol, and the row to continue in.
///
/// An entry is found by the row and the symbol of the character that stands at the place that was reached.
#[derive(Clone, Copy)]
pub(super) struct Entry(u32);

impl Entry {
    /// `is_match` says whether a match ends before the symbol. The next row is that of a state that prefers
    /// what it finds later to this match; without one, no instruction continues.
    pub(super) fn new(is_match: bool, next: Option<u32>) -> Self {
        Entry(next.map_or(0, |row| row + 1) << 1 | u32::from(is_match))
    }

    #[inline(always)]
    pub(super) fn is_match(self) -> bool {
        self.0 & 1 != 0
    }

    /// Where the next row begins.
    #[inline(always)]
    pub(super) fn next(self) -> Option<u32> {
        (self.0 >> 1).checked_sub(1)
    }
}
