//! UTF-8 → characters of one, two or four bytes each, the forms in which CPython stores a `str`. (The way
//! back is [`crate::source::Text`].)

use std::mem::MaybeUninit;

/// How many characters a text has, and how wide a unit must be that holds any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// How many characters there are.
    pub characters: usize,
    /// The narrowest range that contains all of them.
    pub range: CharRange,
}

/// Ranges of code points; each contains the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharRange {
    /// Up to U+007F; one byte for each character.
    Ascii,
    /// Up to U+00FF; one byte for each character.
    Latin1,
    /// Up to U+FFFF; two bytes for each character.
    Basic,
    /// All code points; four bytes for each character.
    Full,
}

/// Counts the characters of a text and finds their range.
pub fn measure(text: &str) -> Measure {
    let (mut characters, mut highest) = (0, 0);
    // 192 bytes are whole vectors of 16, 32 or 64 bytes, and the number of their characters fits into a `u8`.
    for run in text.as_bytes().chunks(192) {
        let starts: u8 = run.iter().map(|&byte| u8::from(byte as i8 >= -64)).sum();
        characters += usize::from(starts);
        highest = run.iter().fold(highest, |highest: u8, &byte| highest.max(byte));
    }
    // The first byte of a character determines its range, and is greater than all bytes of characters of
    // lower ranges.
    let range = match highest {
        0..0x80 => CharRange::Ascii,
        0x80..0xc4 => CharRange::Latin1,
        0xc4..0xf0 => CharRange::Basic,
        0xf0.. => CharRange::Full,
    };
    Measure { characters, range }
}

/// A number that holds one character.
pub trait CodeUnit: Copy + From<u8> + Send {
    /// The unit of a code point, which must be in the range of the type.
    fn new(point: u32) -> Self;
}

impl CodeUnit for u8 {
    fn new(point: u32) -> Self {
        point as u8
    }
}

impl CodeUnit for u16 {
    fn new(point: u32) -> Self {
        point as u16
    }
}

impl CodeUnit for u32 {
    fn new(point: u32) -> Self {
        point
    }
}

/// ASCII bytes that are widened at a time: one vector of 128 bits.
const ASCII_BLOCK_BYTES: usize = 16;
/// The highest bit of each of these bytes; all are 0 in ASCII text.
const HIGH_BITS: u128 = u128::from_ne_bytes([0x80; ASCII_BLOCK_BYTES]);

/// Writes one unit for each character of a text, until `units` is full.
pub fn write_units<U: CodeUnit>(text: &str, units: &mut [MaybeUninit<U>]) {
    let low = |byte: u8| u32::from(byte & 0x3f);
    let (mut bytes, mut at) = (text.as_bytes(), 0);
    loop {
        while let Some((block, tail)) = bytes.split_first_chunk::<ASCII_BLOCK_BYTES>()
            && u128::from_ne_bytes(*block) & HIGH_BITS == 0
            && let Some(to) = units[at..].first_chunk_mut::<ASCII_BLOCK_BYTES>()
        {
            // Compilers make vector code of a loop over places; of `map` they do not everywhere.
            for place in 0..ASCII_BLOCK_BYTES {
                to[place].write(U::from(block[place]));
            }
            (bytes, at) = (tail, at + ASCII_BLOCK_BYTES);
        }
        // Up to 16 characters are decoded one by one before the next look for an ASCII block: text beyond
        // ASCII comes in runs.
        for _ in 0..ASCII_BLOCK_BYTES {
            let (point, tail) = match *bytes {
                [] => return,
                [a, ref tail @ ..] if a < 0x80 => (u32::from(a), tail),
                [a, b, ref tail @ ..] if a < 0xe0 => (u32::from(a & 0x1f) << 6 | low(b), tail),
                [a, b, c, ref tail @ ..] if a < 0xf0 => {
                    (u32::from(a & 0x0f) << 12 | low(b) << 6 | low(c), tail)
                }
                [a, b, c, d, ref tail @ ..] => {
                    (u32::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d), tail)
                }
                _ => return, // cannot happen in valid UTF-8
            };
            let Some(to) = units.get_mut(at) else { return };
            to.write(U::new(point));
            (bytes, at) = (tail, at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units<U: CodeUnit + Into<u32>>(text: &str, characters: usize) -> Vec<u32> {
        let mut units = vec![MaybeUninit::new(U::from(0)); characters];
        write_units(text, &mut units);
        units
            .into_iter()
            .map(|unit| {
                #[allow(unsafe_code)]
                // SAFETY: all units were initialized above.
                let unit = unsafe { unit.assume_init() };
                unit.into()
            })
            .collect()
    }

    #[test]
    fn every_character_becomes_its_unit() {
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for (size, step) in [(1, 61), (7, 1), (1000, 1)] {
            for some in all.chunks(size).step_by(step) {
                let text: String = some.iter().collect();
                let expected: Vec<u32> = some.iter().map(|&c| c.into()).collect();
                let Measure { characters, range } = measure(&text);
                assert_eq!(characters, some.len());
                let highest = expected.iter().copied().max().unwrap_or(0);
                let (actual, narrowest) = match range {
                    CharRange::Ascii => (units::<u8>(&text, characters), 0..0x80),
                    CharRange::Latin1 => (units::<u8>(&text, characters), 0x80..0x100),
                    CharRange::Basic => (units::<u16>(&text, characters), 0x100..0x1_0000),
                    CharRange::Full => (units::<u32>(&text, characters), 0x1_0000..0x11_0000),
                };
                assert!(narrowest.contains(&highest), "{highest:x}");
                assert_eq!(actual, expected);
            }
        }
    }
}
