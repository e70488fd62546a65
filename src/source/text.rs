//! Text in UTF-8, or in characters of one, two or four bytes each, the forms in which CPython stores a `str`.
//! It is converted to UTF-8 a part at a time, so that the UTF-8 of a long text never takes memory as a whole.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::room;
use crate::simd::{Isa, Kernel, LANES, Simd};

/// A text that is converted to UTF-8 in parts. Offsets count its units: bytes of UTF-8, or characters.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// UTF-8; the bytes need not be valid.
    Utf8(&'a [u8]),
    /// Characters up to U+00FF, one byte each.
    Ucs1(&'a [u8]),
    /// Characters up to U+FFFF, two bytes each.
    Ucs2(&'a [u16]),
    /// Any characters, four bytes each.
    Ucs4(&'a [u32]),
}

impl<'a> From<&'a [u8]> for Text<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Text::Utf8(bytes)
    }
}

impl<'a> Text<'a> {
    /// The number of units.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        match self {
            Text::Utf8(bytes) | Text::Ucs1(bytes) => bytes.len(),
            Text::Ucs2(units) => units.len(),
            Text::Ucs4(units) => units.len(),
        }
    }

    /// The UTF-8 of a part. It is borrowed from the text if possible, else written to `buffer`.
    pub fn utf8<'b>(self, isa: Isa, range: Range<usize>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        if let Text::Utf8(bytes) = self {
            return Ok(&bytes[range]);
        }
        let len = self.write_at(isa, range, buffer, 0)?;
        Ok(&buffer[..len])
    }

    /// Appends the UTF-8 of a part to `bytes`.
    pub fn write(self, isa: Isa, range: Range<usize>, bytes: &mut Vec<u8>) -> Result<()> {
        let len = self.write_at(isa, range, bytes, bytes.len())?;
        bytes.truncate(len);
        Ok(())
    }

    /// Writes the UTF-8 of a part over the bytes from `at` on; returns where it ends. Bytes after that are
    /// kept for the next call, which need not make them.
    fn write_at(self, isa: Isa, range: Range<usize>, bytes: &mut Vec<u8>, at: usize) -> Result<usize> {
        let start = range.start;
        let written = match self {
            Text::Utf8(text) => {
                bytes.truncate(at);
                room::extend(bytes, &text[range]).map(|()| bytes.len())
            }
            Text::Ucs1(units) => isa.run(WriteUtf8 { units: &units[range], bytes, at }),
            Text::Ucs2(units) => isa.run(WriteUtf8 { units: &units[range], bytes, at }),
            Text::Ucs4(units) => isa.run(WriteUtf8 { units: &units[range], bytes, at }),
        };
        written.map_err(|error| match error {
            Error::Surrogate { at } => Error::Surrogate { at: start + at },
            other => other,
        })
    }

    /// The number of units of this text that `utf8`, a part of its UTF-8, stands for.
    pub(crate) fn units(self, utf8: &[u8]) -> usize {
        match self {
            Text::Utf8(_) => utf8.len(),
            _ => utf8.iter().filter(|&&byte| byte & 0xc0 != 0x80).count(),
        }
    }
}

/// Units that are checked for ASCII together. Measured: groups of a size known to the compiler made English
/// 25% slower.
const GROUP_UNITS: usize = 2 * LANES;
/// The maximum number of bytes of a character in UTF-8.
const MAX_UTF8_BYTES: usize = 4;

/// Writes the UTF-8 of units from a byte on; returns where it ends. Fails at the first unit that is not a
/// character.
struct WriteUtf8<'a, U> {
    units: &'a [U],
    bytes: &'a mut Vec<u8>,
    at: usize,
}

impl<U: Copy + Into<u32>> Kernel for WriteUtf8<'_, U> {
    type Out = Result<usize>;

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> Self::Out {
        let WriteUtf8 { units, bytes, at: mut len } = self;
        let count = units.len();
        for (group, units) in units.chunks(GROUP_UNITS).enumerate() {
            // Reserves room for the longest possible group, so that single characters need no check.
            if bytes.len() < len + MAX_UTF8_BYTES * GROUP_UNITS {
                let wanted = len + len.max(count) + 2 * MAX_UTF8_BYTES * GROUP_UNITS;
                room::reserve_exact(bytes, wanted - bytes.len())?;
                bytes.resize(wanted, 0);
            }
            let room = &mut bytes[len..len + MAX_UTF8_BYTES * GROUP_UNITS];
            let all = units.iter().fold(0, |all, &unit| all | unit.into());
            len += if all < 0x80 {
                for (byte, &unit) in room.iter_mut().zip(units) {
                    *byte = unit.into() as u8;
                }
                units.len()
            } else {
                // A surrogate, or a number above U+10FFFF, is no character and has no UTF-8.
                let has_none = |unit: &U| matches!((*unit).into(), 0xd800..0xe000 | 0x11_0000..);
                if let Some(at) = units.iter().position(has_none) {
                    return Err(Error::Surrogate { at: GROUP_UNITS * group + at });
                }
                longer(simd, units, room)
            };
        }
        Ok(len)
    }
}

/// Writes the UTF-8 of characters, some of them not ASCII, and returns its length in bytes.
#[inline(always)]
fn longer<U: Copy + Into<u32>>(simd: impl Simd, units: &[U], room: &mut [u8]) -> usize {
    let mut len = 0;
    for units in units.chunks(LANES) {
        let mut points = [0; LANES];
        for (point, &unit) in points.iter_mut().zip(units) {
            *point = unit.into();
        }
        let Some(room) = room[len..].first_chunk_mut() else { return len };
        // Unused lanes are U+0000, and their bytes come last.
        len += simd.utf8(&points, room) - (LANES - units.len());
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Converts with every instruction set and compares the results.
    fn utf8(text: Text<'_>, range: Range<usize>) -> Result<Vec<u8>> {
        let mut results = Isa::available().map(|isa| {
            let mut bytes = b"before".to_vec();
            text.write(isa, range.clone(), &mut bytes)?;
            Ok(bytes.split_off(6))
        });
        let first = results.next().unwrap();
        for other in results {
            assert_eq!(other.as_ref().ok(), first.as_ref().ok());
        }
        first
    }

    fn narrowed<U: TryFrom<u32>>(points: &[u32]) -> Option<Vec<U>> {
        points.iter().map(|&point| U::try_from(point).ok()).collect()
    }

    #[test]
    fn every_character_becomes_its_utf8() {
        let all: Vec<char> = (0..=0x0010_ffff).filter_map(char::from_u32).collect();
        for run in [1, 7, 100_000] {
            for characters in all.chunks(run).step_by(if run == 1 { 61 } else { 1 }) {
                let expected = characters.iter().collect::<String>().into_bytes();
                let points: Vec<u32> = characters.iter().map(|&c| c.into()).collect();
                assert_eq!(utf8(Text::Ucs4(&points), 0..points.len()).unwrap(), expected);
                if let Some(units) = narrowed(&points) {
                    assert_eq!(utf8(Text::Ucs2(&units), 0..units.len()).unwrap(), expected);
                }
                if let Some(units) = narrowed(&points) {
                    assert_eq!(utf8(Text::Ucs1(&units), 0..units.len()).unwrap(), expected);
                }
            }
        }
    }

    #[test]
    fn characters_of_all_lengths_can_follow_each_other() {
        let some =
            ['a', '\u{7f}', '\u{80}', 'é', '\u{7ff}', '\u{800}', '中', '\u{ffff}', '\u{10000}', '\u{10ffff}'];
        let mut random = Random::new(1);
        for len in 0..300 {
            let characters: String = (0..len).map(|_| some[random.below(1 + len % some.len())]).collect();
            let points: Vec<u32> = characters.chars().map(u32::from).collect();
            assert_eq!(utf8(Text::Ucs4(&points), 0..len).unwrap(), characters.as_bytes());
        }
    }

    #[test]
    fn the_first_surrogate_is_named() {
        let mut units = vec![u16::from(b'a'); 100];
        units[70] = 0xd800;
        assert_eq!(utf8(Text::Ucs2(&units), 0..70).unwrap(), [b'a'; 70]);
        assert!(matches!(utf8(Text::Ucs2(&units), 30..100), Err(Error::Surrogate { at: 70 })));
        assert!(matches!(utf8(Text::Ucs4(&[0x11_0000]), 0..1), Err(Error::Surrogate { at: 0 })));
    }
}
