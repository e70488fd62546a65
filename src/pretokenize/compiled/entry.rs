//! Entries of the table of an automaton.

/// Where the row of the start begins.
pub(super) const START: u32 = 0;

/// What happens at a symbol, and the row to continue in.
///
/// An entry is found by the row and the symbol of the character that stands at the place that was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u32);

impl Entry {
    /// The pretoken ends before this character, which begins the next one. At the end of the text: it ends here.
    pub(super) const ENDS: u32 = 1 << 31;
    /// The pretoken may end before this character; this counts if no later end is found.
    pub(super) const MAY_END: u32 = 1 << 30;
    /// No instruction continues from here: the pretoken ended at the last place where it might, if there was one.
    pub(super) const FAILS: u32 = 1 << 29;
    /// The pretoken ended before the character before this one, which is an ASCII character and begins the next one:
    /// so a run of spaces gives its last space to the word after it. The row is that after both characters.
    pub(super) const ENDED_BEFORE: u32 = 1 << 28;
    const ROW: u32 = Entry::ENDED_BEFORE - 1;

    pub(super) fn new(bits: u32) -> Self {
        Entry(bits)
    }

    #[inline(always)]
    pub(super) fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    /// Where the next row begins.
    #[inline(always)]
    pub(super) fn row(self) -> u32 {
        self.0 & Entry::ROW
    }
}
