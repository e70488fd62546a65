//! Which bytes of a block are of which kind, as bit masks.

/// Bytes in a block; one bit of a `u64` each, the first in the lowest.
pub(crate) const BLOCK_BYTES: usize = 64;

/// How many places [`crate::pretokenize::Scanner::fill`] has room for.
pub const ENDS: usize = 256;

/// Which bytes of a block are which ASCII characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ascii {
    pub(crate) letters: u64,
    pub(crate) upper: u64,
    pub(crate) digits: u64,
    /// U+0020.
    pub(crate) spaces: u64,
    /// Tab, U+000B and U+000C.
    pub(crate) blanks: u64,
    /// `\r` and `\n`.
    pub(crate) newlines: u64,
    pub(crate) apostrophes: u64,
    pub(crate) slashes: u64,
    /// No ASCII characters at all.
    pub(crate) beyond: u64,
}

/// Which bytes of a block are which bytes of longer characters: first bytes that say much about the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonAscii {
    /// 80 to BF.
    pub(crate) continuing: u64,
    /// C4 to CA: U+0100 to U+02BF are letters.
    pub(crate) latin: u64,
    /// C3: U+00C0 to U+00FF are letters, but for two.
    pub(crate) accents: u64,
    /// D0: U+0400 to U+043F are letters, the first 48 of them upper case, the others lower.
    pub(crate) cyrillic: u64,
    /// D1: U+0440 to U+047F are letters, the first 32 of them lower case.
    pub(crate) cyrillic_lower: u64,
    /// D8: U+0620 to U+063F are letters without case.
    pub(crate) arabic: u64,
    /// E4: U+4000 to U+4FFF are letters without case, but for U+4DC0 to U+4DFF.
    pub(crate) han_first: u64,
    /// E5 to E9, EB and EC: Han and Hangul, all of them letters without case.
    pub(crate) caseless: u64,
    /// 97 and B7: the signs of multiplication and division among the accents, U+4DC0 to U+4DFF among Han.
    pub(crate) odd: u64,
    /// 9F: the one small letter among the upper half of the accents.
    pub(crate) sharp_s: u64,
    /// Bits 4 and 5 of each byte.
    pub(crate) bit4: u64,
    pub(crate) bit5: u64,
}
