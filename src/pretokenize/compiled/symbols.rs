//! Sets of symbols. A symbol is a class of characters, or the end of the text.

/// A symbol by its number: a class of characters, or [`super::Alphabet::end`].
pub type Symbol = u8;

/// How many symbols there can be.
pub(super) const MAX_SYMBOLS: usize = 256;

/// A set of symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SymbolSet([u64; MAX_SYMBOLS / 64]);

impl SymbolSet {
    /// No symbol.
    pub const EMPTY: SymbolSet = SymbolSet([0; MAX_SYMBOLS / 64]);

    /// The symbols with these numbers.
    pub fn of(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let mut set = SymbolSet::EMPTY;
        for symbol in symbols {
            set.0[usize::from(symbol) / 64] |= 1 << (symbol % 64);
        }
        set
    }

    /// Whether a symbol is in the set.
    #[inline]
    pub fn has(&self, symbol: Symbol) -> bool {
        self.0[usize::from(symbol) / 64] >> (symbol % 64) & 1 != 0
    }

    /// What is in either set.
    #[must_use]
    pub fn union(self, other: SymbolSet) -> SymbolSet {
        self.combined(other, |left, right| left | right)
    }

    /// What is in both sets.
    #[must_use]
    pub fn intersection(self, other: SymbolSet) -> SymbolSet {
        self.combined(other, |left, right| left & right)
    }

    /// What is in this set and not in the other.
    #[must_use]
    pub fn difference(self, other: SymbolSet) -> SymbolSet {
        self.combined(other, |left, right| left & !right)
    }

    fn combined(self, other: SymbolSet, combine: impl Fn(u64, u64) -> u64) -> SymbolSet {
        SymbolSet(std::array::from_fn(|at| combine(self.0[at], other.0[at])))
    }
}
