//! The classes of the characters of a block, as masks: every byte of a character has the character's class.

use super::class::{Class, decode_char, decode_four};
use crate::simd::{Ascii, BLOCK_BYTES, NonAscii, Simd};

/// Which bytes of a block belong to which characters. Bytes after the end of the text are in none of the
/// masks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockClasses {
    /// The bytes of the text.
    pub(super) valid: u64,
    pub(super) letters: u64,
    pub(super) numbers: u64,
    /// `\s`.
    pub(super) whitespace: u64,
    /// The bytes of all other characters.
    pub(super) others: u64,
    /// U+0020.
    pub(super) spaces: u64,
    /// `\r` and `\n`.
    pub(super) newlines: u64,
    pub(super) apostrophes: u64,
    pub(super) slashes: u64,
    /// Lu and Lt. This mask and the next two are made only if a pattern needs them.
    pub(super) upper: u64,
    /// Ll.
    pub(super) lower: u64,
    /// M: in `others` as well.
    pub(super) marks: u64,
    /// All bytes of characters but their first.
    pub(super) continuing: u64,
    /// The first bytes of whitespace of two bytes, and of three.
    pub(super) spaces_of_two: u64,
    pub(super) spaces_of_three: u64,
    /// How far the last character reaches into the next block.
    pub(super) split_char: SplitChar,
}

/// The bytes at the start of a block that belong to a character of the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitChar {
    pub(super) len: u32,
    pub(super) class: Class,
}

impl Default for SplitChar {
    fn default() -> Self {
        SplitChar { len: 0, class: Class::Other }
    }
}

impl BlockClasses {
    /// The classes of the block of `text` at `base`, whose bytes are in `bytes`. `case` says whether the
    /// masks of upper case, lower case and marks are needed. `before` is how far the last character of the
    /// block before reaches into this one.
    #[inline(always)]
    pub(super) fn new<L: Simd>(
        simd: L,
        case: bool,
        text: &[u8],
        base: usize,
        bytes: L::Bytes,
        before: SplitChar,
    ) -> Self {
        let ascii = simd.ascii(bytes);
        let valid = match text.len() - base {
            left @ 0..BLOCK_BYTES => (1 << left) - 1,
            _ => !0,
        };
        let mut block = Self::of_ascii(case, &ascii, valid);
        if ascii.beyond != 0 {
            block.add_non_ascii(case, &simd.non_ascii(bytes), ascii.beyond, before, text, base);
        }
        block.others = valid & !(block.letters | block.numbers | block.whitespace);
        block
    }

    #[inline(always)]
    fn of_ascii(case: bool, ascii: &Ascii, valid: u64) -> Self {
        let whitespace = ascii.spaces | ascii.blanks | ascii.newlines;
        BlockClasses {
            valid,
            letters: ascii.letters,
            numbers: ascii.digits,
            whitespace,
            spaces: ascii.spaces,
            newlines: ascii.newlines,
            apostrophes: ascii.apostrophes,
            slashes: ascii.slashes,
            upper: if case { ascii.upper } else { 0 },
            lower: if case { ascii.letters & !ascii.upper } else { 0 },
            ..BlockClasses::default()
        }
    }

    /// Adds the characters beyond ASCII; `beyond` are their bytes.
    #[inline(always)]
    fn add_non_ascii(
        &mut self,
        case: bool,
        non_ascii: &NonAscii,
        beyond: u64,
        before: SplitChar,
        text: &[u8],
        base: usize,
    ) {
        let spilt = (1 << before.len) - 1;
        self.paint(case, before.class, spilt, 0);
        self.continuing = spilt;
        let mut left = beyond & !spilt & !self.add_sure(case, non_ascii);
        while left != 0 {
            let offset = left.trailing_zeros();
            let at = base + offset as usize;
            let (class, len) = match text[at..].first_chunk() {
                Some(&four) => decode_four(four),
                None => decode_char(text, at),
            };
            let bytes = ((1_u64 << len) - 1) << offset;
            left &= !bytes;
            self.continuing |= bytes & (bytes << 1);
            self.paint(case, class, bytes, len);
            let end = offset + len as u32;
            if end > BLOCK_BYTES as u32 {
                self.split_char = SplitChar { len: end - BLOCK_BYTES as u32, class };
            }
        }
    }

    /// Adds the characters whose class follows from their first byte or their first two, without decoding
    /// each of them. Returns their bytes.
    #[inline(always)]
    fn add_sure(&mut self, case: bool, non_ascii: &NonAscii) -> u64 {
        let (second, third) = (non_ascii.continuing >> 1, non_ascii.continuing >> 2);
        let (bit4, bit5, odd) = (non_ascii.bit4 >> 1, non_ascii.bit5 >> 1, non_ascii.odd >> 1);
        let accents = non_ascii.accents & second & !odd;
        let cyrillic = non_ascii.cyrillic & second;
        let arabic = non_ascii.arabic & second & bit5;
        let three = (non_ascii.caseless | non_ascii.han_first & !odd) & second & third;
        let two = if case {
            let lower = non_ascii.cyrillic_lower & second & !bit5;
            let small_accents = accents & (bit5 | non_ascii.sharp_s >> 1);
            let upper = accents & !small_accents | cyrillic & !(bit4 & bit5);
            let small = small_accents | cyrillic & bit4 & bit5 | lower;
            self.upper |= upper | upper << 1;
            self.lower |= small | small << 1;
            accents | cyrillic | arabic | lower
        } else {
            accents | cyrillic | arabic | (non_ascii.cyrillic_lower | non_ascii.latin) & second
        };
        let continuing = two << 1 | three << 1 | three << 2;
        self.continuing |= continuing;
        let bytes = two | three | continuing;
        self.letters |= bytes;
        bytes
    }

    /// Adds `bytes`, which are a character of `class` with `len` bytes, or the rest of one; then `len` is 0.
    #[inline(always)]
    fn paint(&mut self, case: bool, class: Class, bytes: u64, len: usize) {
        let when = |condition: bool| bytes & 0_u64.wrapping_sub(condition.into());
        // No branch for these: letters, marks and punctuation follow each other in any order. The other
        // classes are rare.
        self.letters |= when(class.is_letter());
        if case {
            self.upper |= when(matches!(class, Class::Upper | Class::Title));
            self.lower |= when(class == Class::Lower);
            self.marks |= when(class.is_mark());
        }
        if class.is_number() {
            self.numbers |= bytes;
        }
        if class.is_space() {
            self.whitespace |= bytes;
            let first = bytes & bytes.wrapping_neg();
            if len == 2 {
                self.spaces_of_two |= first;
            } else if len == 3 {
                self.spaces_of_three |= first;
            }
        }
    }
}
