//! The GPT-2 pattern: `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
//!
//! Every character matches some alternative, so the pretokens of a text leave nothing out, and none
//! looks behind itself: where one starts is all that the next one depends on.

use super::class::{Class, decode_char, decode_four};
use super::swar::{BLOCK, Masks, leading_letters};

/// What the pattern tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Number,
    Space,
    Other,
}

impl Kind {
    #[inline]
    fn of(class: Class) -> Self {
        match class {
            Class::Space => Kind::Space,
            Class::Number => Kind::Number,
            Class::Other | Class::Mark => Kind::Other,
            _ => Kind::Letter,
        }
    }
}

#[inline]
fn kind_at(text: &[u8], at: usize) -> (Kind, usize) {
    let (class, len) = decode_char(text, at);
    (Kind::of(class), len)
}

/// The end of the pretoken that starts at `start`.
///
/// Right only where a pretoken does start there: at 0, at the end of another one, or at a cut
/// ([`super::cut::CutRule::Gpt2`]).
///
/// # Panics
/// If `start` is not before the end of `text`.
#[inline]
pub fn next(text: &[u8], start: usize) -> usize {
    let head = start + usize::from(text[start] == b' ');
    let end = skip_ascii_letters(text, head);
    if end > head && text.get(end).is_none_or(u8::is_ascii) { end } else { next_any(text, start) }
}

/// [`next`], where a word of ASCII letters alone was not found.
fn next_any(text: &[u8], start: usize) -> usize {
    match text[start] {
        b'\'' => {
            if let Some(end) = contraction(text, start) {
                return end;
            }
        }
        b' ' if start + 1 < text.len() => {
            let (kind, len) = kind_at(text, start + 1);
            if kind != Kind::Space {
                return run_end(text, start + 1 + len, kind);
            }
        }
        _ => {}
    }
    let (kind, len) = kind_at(text, start);
    if kind == Kind::Space { spaces_end(text, start, len) } else { run_end(text, start + len, kind) }
}

/// The end of the contraction at `start`, where an apostrophe stands.
#[inline]
fn contraction(text: &[u8], start: usize) -> Option<usize> {
    match text[start + 1..] {
        [b's' | b'd' | b'm' | b't', ..] => Some(start + 2),
        [b'l', b'l', ..] | [b'v' | b'r', b'e', ..] => Some(start + 3),
        _ => None,
    }
}

/// The end of the run of characters of `kind` that goes on at `at`.
#[inline]
fn run_end(text: &[u8], mut at: usize, kind: Kind) -> usize {
    while at < text.len() {
        let (found, len) = kind_at(text, at);
        if found != kind {
            break;
        }
        at += len;
    }
    at
}

/// The end of the pretoken of whitespace that starts at `start` with a character of `len` bytes: the run's last
/// character goes to what follows it, if anything does and if the run is longer than that.
fn spaces_end(text: &[u8], start: usize, len: usize) -> usize {
    let mut last = start;
    let mut at = start + len;
    while at < text.len() {
        let (kind, len) = kind_at(text, at);
        if kind != Kind::Space {
            return if last == start { at } else { last };
        }
        last = at;
        at += len;
    }
    at
}

/// The end of the run of ASCII letters at `at`, eight bytes at a time.
#[inline]
fn skip_ascii_letters(text: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let letters = leading_letters(u64::from_le_bytes(*chunk));
        at += letters;
        if letters < 8 {
            return at;
        }
    }
    while text.get(at).is_some_and(u8::is_ascii_alphabetic) {
        at += 1;
    }
    at
}

/// A block and what a character needs that begins in its last byte.
const WINDOW: usize = BLOCK + 3;

/// Which bytes of the block at `at`, where a pretoken starts, start further ones: as far as the block shows it.
///
/// 0 if none of them surely does; then [`next`] is to be asked.
#[inline]
fn starts_in_block(text: &[u8], at: usize, window: &[u8; WINDOW]) -> u64 {
    let [block @ .., _, _, _] = window;
    let mut masks = Masks::of(block);
    // Whether the last byte starts something may depend on what follows.
    let mut sure = !(1 << (BLOCK - 1));
    if masks.beyond_ascii != 0 {
        sure &= paint_multibyte(window, &mut masks);
    }
    let Masks { letters, digits, whitespace, .. } = masks;
    let others = !(letters | digits | whitespace);
    let inside = letters & letters << 1 | digits & digits << 1 | others & others << 1 | masks.spaces << 1;
    // Of a run of whitespace the first character starts a pretoken, and the last one, if something follows.
    let starts = !whitespace & !inside | whitespace & !(whitespace << 1 & whitespace >> 1);
    // Bit 0 starts the pretoken that is known: no news, but it may be a contraction.
    let starts = starts & sure | 1;
    let apostrophes = starts & masks.apostrophes;
    (if apostrophes == 0 { starts } else { with_contractions(text, at, starts, apostrophes) }) & !1
}

/// Adds the characters beyond ASCII to `masks`, each with all its bytes. Returns the bytes up to which that is
/// enough: those in front of the first whitespace beyond ASCII.
#[inline]
fn paint_multibyte(window: &[u8; WINDOW], masks: &mut Masks) -> u64 {
    let mut left = masks.beyond_ascii;
    while left != 0 {
        let offset = left.trailing_zeros() as usize;
        let Some(bytes) = window[offset..].first_chunk() else { return 0 };
        let (class, len) = decode_four(*bytes);
        let bits = ((1 << len) - 1) << offset;
        if class.is_space() {
            masks.whitespace |= bits;
            return (1 << offset) - 1;
        }
        // No branch here: letters, marks and punctuation follow each other as they like. Numbers are rare.
        masks.letters |= bits & 0u64.wrapping_sub(class.is_letter().into());
        if class.is_number() {
            masks.digits |= bits;
        }
        left &= !bits;
    }
    !0
}

/// The starts, where at each of `apostrophes` a contraction may be.
fn with_contractions(text: &[u8], at: usize, mut starts: u64, mut apostrophes: u64) -> u64 {
    while apostrophes != 0 {
        let offset = apostrophes.trailing_zeros() as usize;
        apostrophes &= apostrophes - 1;
        if offset + 3 >= BLOCK - 1 {
            // Its end is out of sight.
            return starts & ((2 << offset) - 1);
        }
        if let Some(end) = contraction(text, at + offset) {
            let end = end - at;
            starts &= !((1 << end) - (2 << offset));
            starts |= 1 << end;
        }
    }
    starts
}

/// The pretokens of a text, as ranges, in order: faster than [`next`] where there are many.
#[derive(Clone, Debug)]
pub struct Scanner<'t> {
    text: &'t [u8],
    /// Where the next pretoken starts.
    at: usize,
    /// Where the last block started,
    block: usize,
    /// and which of its bytes start pretokens that are still to come.
    starts: u64,
}

impl<'t> Scanner<'t> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'t [u8]) -> Self {
        Scanner { text, at: 0, block: 0, starts: 0 }
    }

    /// Looks at the block at `self.at`; `false` if it shows no end of the pretoken there.
    #[inline]
    fn look(&mut self) -> bool {
        let Some(block) = self.text[self.at..].first_chunk::<WINDOW>() else { return false };
        self.block = self.at;
        self.starts = starts_in_block(self.text, self.at, block);
        self.starts != 0
    }
}

impl Iterator for Scanner<'_> {
    type Item = std::ops::Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        if self.starts != 0 || self.look() {
            self.at = self.block + self.starts.trailing_zeros() as usize;
            self.starts &= self.starts - 1;
        } else if start < self.text.len() {
            self.at = next(self.text, start);
        } else {
            return None;
        }
        Some(start..self.at)
    }
}

impl std::iter::FusedIterator for Scanner<'_> {}
