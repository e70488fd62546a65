//! The classes of characters that the named patterns need, and strict decoding of UTF-8.

use super::unicode_tables::{self, BLOCKS};
use crate::simd;

/// The classes of characters that the named patterns distinguish.
///
/// The numbers are those of the tables. Letters are the highest ones, so that one comparison finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Punctuation, symbols, controls, unassigned; and each byte that is not part of valid UTF-8.
    Other = 0,
    /// `\s`, that is White_Space: not U+001C to U+001F, which `re` of Python treats as whitespace.
    Space = 1,
    /// `\p{N}`.
    Number = 2,
    /// `\p{M}`.
    Mark = 3,
    /// `\p{Lu}`.
    Upper = 4,
    /// `\p{Ll}`.
    Lower = 5,
    /// `\p{Lt}`.
    Title = 6,
    /// `\p{Lm}`.
    Modifier = 7,
    /// `\p{Lo}`.
    OtherLetter = 8,
}

impl Class {
    /// By number.
    const ALL: [Class; 9] = [
        Class::Other,
        Class::Space,
        Class::Number,
        Class::Mark,
        Class::Upper,
        Class::Lower,
        Class::Title,
        Class::Modifier,
        Class::OtherLetter,
    ];

    /// Whether this is `\p{L}`.
    #[inline]
    pub const fn is_letter(self) -> bool {
        self as u8 >= Class::Upper as u8
    }

    /// Whether this is `\p{N}`.
    #[inline]
    pub const fn is_number(self) -> bool {
        self as u8 == Class::Number as u8
    }

    /// Whether this is `\s`.
    #[inline]
    pub const fn is_space(self) -> bool {
        self as u8 == Class::Space as u8
    }

    /// Whether this is `\p{M}`.
    #[inline]
    pub const fn is_mark(self) -> bool {
        self as u8 == Class::Mark as u8
    }
}

/// The number of the block that holds a code point, by its upper bits.
static BLOCK_OF: [u8; 0x1100] = expanded(&unicode_tables::BLOCK_OF);

/// The class of each code point of each block, by the lower 8 bits.
static CLASSES: [Class; BLOCKS << 8] = {
    let numbers: [u8; BLOCKS << 8] = expanded(&unicode_tables::CLASS_OF);
    let mut classes = [Class::Other; BLOCKS << 8];
    let mut at = 0;
    while at < classes.len() {
        classes[at] = Class::ALL[numbers[at] as usize];
        at += 1;
    }
    classes
};

/// The numbers of runs, which have a number in the lower 8 bits, and one less than its count above.
const fn expanded<const N: usize>(runs: &[u32]) -> [u8; N] {
    let (mut numbers, mut at, mut run) = ([0; N], 0, 0);
    while run < runs.len() {
        let end = at + (runs[run] >> 8) as usize + 1;
        while at < end {
            numbers[at] = runs[run] as u8;
            at += 1;
        }
        run += 1;
    }
    assert!(at == N);
    numbers
}

/// The class of a code point; surrogates and numbers above U+10FFFF are [`Class::Other`].
#[inline]
pub fn class_of(code_point: u32) -> Class {
    match BLOCK_OF.get((code_point >> 8) as usize) {
        Some(&block) => CLASSES[usize::from(block) << 8 | (code_point & 0xFF) as usize],
        None => Class::Other,
    }
}

/// The classes of the ASCII characters, with which the first block begins.
pub(super) static ASCII: [Class; 128] = match CLASSES.first_chunk() {
    Some(&classes) => classes,
    None => [Class::Other; 128],
};

/// The class and the length in bytes of the character at `at`.
///
/// UTF-8 is read strictly: a byte that is not part of a valid sequence (overlong, a surrogate, above
/// U+10FFFF, cut short) is one character of [`Class::Other`], which is what Python's
/// `text.decode("utf-8", "surrogateescape")` makes of it.
///
/// # Panics
/// If `at` is not before the end of `text`.
#[inline]
pub fn decode_char(text: &[u8], at: usize) -> (Class, usize) {
    match ASCII.get(usize::from(text[at])) {
        Some(&class) => (class, 1),
        None => decode_beyond_ascii(text, at),
    }
}

/// [`decode_char`] for a byte above 0x7F.
#[inline]
fn decode_beyond_ascii(text: &[u8], at: usize) -> (Class, usize) {
    decode_four(first_four(&text[at..]))
}

/// The first bytes of a text, with zeros after its end: a zero continues no sequence.
#[inline(always)]
fn first_four(text: &[u8]) -> [u8; 4] {
    text.first_chunk::<4>().copied().unwrap_or_else(|| {
        let mut padded = [0; 4];
        padded[..text.len()].copy_from_slice(text);
        padded
    })
}

/// The code point at `at`, beyond ASCII, and its length in bytes; `None` for a byte that is not part of valid
/// UTF-8.
#[inline]
pub(super) fn code_point_at(text: &[u8], at: usize) -> Option<(u32, usize)> {
    decode_multibyte(first_four(&text[at..]))
}

/// The start of the character that ends at `end`; 0 for 0.
pub(crate) fn char_start(text: &[u8], end: usize) -> usize {
    let multibyte = |len: &usize| *len <= end && decode_char(text, end - len).1 == *len;
    end - (2..=4).find(multibyte).unwrap_or(end.min(1))
}

/// [`decode_beyond_ascii`] for a character that `bytes` begin with; zeros stand for what lies after the text.
#[inline(always)]
pub(super) fn decode_four(bytes: [u8; 4]) -> (Class, usize) {
    match decode_multibyte(bytes) {
        Some((code_point, len)) => (class_of(code_point), len),
        None => (Class::Other, 1),
    }
}

/// The code point, and its length, of the valid sequence of two or more bytes that `bytes` begin with, if
/// any.
#[inline]
fn decode_multibyte(bytes: [u8; 4]) -> Option<(u32, usize)> {
    let word = u32::from_le_bytes(bytes);
    let [lead, second, third, fourth] = simd::mapped(&bytes, u32::from);
    let two = lead << 6 | second & 0x3F;
    let three = two << 6 | third & 0x3F;
    if word & 0xC0_C0F0 == 0x80_80E0 {
        let point = three & 0xFFFF;
        let surrogate = point & 0xF800 == 0xD800;
        (point >= 0x800 && !surrogate).then_some((point, 3))
    } else if word & 0xC0E0 == 0x80C0 {
        let point = two & 0x7FF;
        (point >= 0x80).then_some((point, 2))
    } else if word & 0xC0C0_C0F8 == 0x8080_80F0 {
        let point = (three << 6 | fourth & 0x3F) & 0x1F_FFFF;
        (0x1_0000..0x11_0000).contains(&point).then_some((point, 4))
    } else {
        None
    }
}

/// How many bytes at the end of `text` begin a character that is not yet whole: 0 to 3.
///
/// Bytes that no continuation can make valid are whole already, as characters of their own.
pub fn incomplete_tail(text: &[u8]) -> usize {
    let begins_one = |&count: &usize| {
        let begun = str::from_utf8(&text[text.len() - count..]);
        begun.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=text.len().min(3)).find(begins_one).unwrap_or(0)
}
