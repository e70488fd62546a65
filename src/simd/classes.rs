//! Kinds of the bytes of a block, as bit masks.

/// Bytes of a block: each has one bit of a `u64`, the first byte the lowest bit.
pub(crate) const BLOCK_BYTES: usize = 64;

/// The maximum number of ends of pretokens that [`crate::pretokenize::Scanner::fill`] writes at a time. Runs
/// of 64 or 32 made encoding 10 to 60% slower.
pub const ENDS: usize = 256;

/// Masks of the kinds of ASCII characters in a block.
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
    /// Bytes that are not ASCII.
    pub(crate) beyond: u64,
}

/// Masks of the bytes of longer characters in a block: continuation bytes, and first bytes that tell much
/// about the class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonAscii {
    /// 80 to BF, the continuation bytes.
    pub(crate) continuing: u64,
    /// C4 to CA: U+0100 to U+02BF are letters.
    pub(crate) latin: u64,
    /// C3: U+00C0 to U+00FF are letters, except two.
    pub(crate) accents: u64,
    /// D0: U+0400 to U+043F are letters, the first 48 of them upper case, the others lower.
    pub(crate) cyrillic: u64,
    /// D1: U+0440 to U+047F are letters, the first 32 of them lower case.
    pub(crate) cyrillic_lower: u64,
    /// D8: U+0620 to U+063F are letters without case.
    pub(crate) arabic: u64,
    /// E4: U+4000 to U+4FFF are letters without case, except U+4DC0 to U+4DFF.
    pub(crate) han_first: u64,
    /// E5 to E9, EB and EC: Han and Hangul, all letters without case.
    pub(crate) caseless: u64,
    /// 97 and B7: after C3 the multiplication and division signs, which are not letters; after E4 the
    /// symbols U+4DC0 to U+4DFF.
    pub(crate) odd: u64,
    /// 9F: after C3 the letter ß, the only lower-case letter from U+00C0 to U+00DF.
    pub(crate) sharp_s: u64,
    /// Bit 4 of each byte.
    pub(crate) bit4: u64,
    /// Bit 5 of each byte.
    pub(crate) bit5: u64,
}
