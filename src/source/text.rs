//! Text in UTF-8, or in characters of one, two or four bytes each, as interpreters keep it: its UTF-8, a stretch at a
//! time. So the UTF-8 of a long text is never whole in memory, which would have to be asked for, filled and read again.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::simd::{Isa, Job, Leaf};

/// A text, to be read in stretches. Places in it are counted in what it is made of.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// Bytes, which need not be valid.
    Utf8(&'a [u8]),
    /// Characters up to U+00FF.
    One(&'a [u8]),
    /// Characters up to U+FFFF.
    Two(&'a [u16]),
    /// Any characters.
    Four(&'a [u32]),
}

impl<'a> From<&'a [u8]> for Text<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Text::Utf8(bytes)
    }
}

impl<'a> Text<'a> {
    /// Bytes or characters.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        match self {
            Text::Utf8(bytes) | Text::One(bytes) => bytes.len(),
            Text::Two(units) => units.len(),
            Text::Four(units) => units.len(),
        }
    }

    /// The UTF-8 of a part, written to `buffer` if it is not there already.
    ///
    /// # Errors
    /// [`Error::Surrogate`], naming the first.
    pub(crate) fn utf8<'b>(self, isa: Isa, range: Range<usize>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        if let Text::Utf8(bytes) = self {
            return Ok(&bytes[range]);
        }
        buffer.clear();
        self.write(isa, range, buffer)?;
        Ok(buffer)
    }

    /// Appends the UTF-8 of a part.
    ///
    /// # Errors
    /// As [`Text::utf8`].
    pub(crate) fn write(self, isa: Isa, range: Range<usize>, bytes: &mut Vec<u8>) -> Result<()> {
        let start = range.start;
        let written = match self {
            Text::Utf8(text) => {
                bytes.extend_from_slice(&text[range]);
                Ok(())
            }
            Text::One(units) => isa.run(Write { units: &units[range], bytes }),
            Text::Two(units) => isa.run(Write { units: &units[range], bytes }),
            Text::Four(units) => isa.run(Write { units: &units[range], bytes }),
        };
        written.map_err(|at| Error::Surrogate { at: start + at })
    }

    /// How many of its units are those bytes of its UTF-8.
    pub(crate) fn units(self, utf8: &[u8]) -> usize {
        match self {
            Text::Utf8(_) => utf8.len(),
            _ => utf8.iter().filter(|&&byte| byte & 0xc0 != 0x80).count(),
        }
    }
}

/// What text is made of.
trait Unit: Copy + Into<u32> {
    /// Bytes of the longest character.
    const LONGEST: usize;
}

impl Unit for u8 {
    const LONGEST: usize = 2;
}

impl Unit for u16 {
    const LONGEST: usize = 3;
}

impl Unit for u32 {
    const LONGEST: usize = 4;
}

/// Characters looked at together.
const GROUP: usize = 32;

/// Appends the UTF-8 of units; fails with the place of the first that has none.
struct Write<'a, U> {
    units: &'a [U],
    bytes: &'a mut Vec<u8>,
}

impl<U: Unit> Job for Write<'_, U> {
    type Out = std::result::Result<(), usize>;

    #[inline(always)]
    fn run<L: Leaf>(self, _: L) -> Self::Out {
        let Write { units, bytes } = self;
        let mut len = bytes.len();
        for (group, units) in units.chunks(GROUP).enumerate() {
            // Room for all that a group may be, so that no character asks for its own.
            if bytes.len() < len + U::LONGEST * GROUP {
                bytes.resize(2 * len + 2 * U::LONGEST * GROUP, 0);
            }
            let room = &mut bytes[len..len + U::LONGEST * GROUP];
            let all = units.iter().fold(0, |all, &unit| all | unit.into());
            len += if all < 0x80 {
                for (byte, &unit) in room.iter_mut().zip(units) {
                    *byte = unit.into() as u8;
                }
                units.len()
            } else {
                longer(units, room).map_err(|at| GROUP * group + at)?
            };
        }
        bytes.truncate(len);
        Ok(())
    }
}

/// Writes characters of which some are not ASCII; returns how many bytes they are.
#[inline(always)]
fn longer<U: Unit>(units: &[U], room: &mut [u8]) -> std::result::Result<usize, usize> {
    let mut len = 0;
    let low = |point: u32, shift: u32| 0x80 | (point >> shift) as u8 & 0x3f;
    for (at, &unit) in units.iter().enumerate() {
        let point: u32 = unit.into();
        let room = &mut room[len..];
        len += match point {
            0..0x80 => {
                room[0] = point as u8;
                1
            }
            0x80..0x800 => {
                room[..2].copy_from_slice(&[0xc0 | (point >> 6) as u8, low(point, 0)]);
                2
            }
            0xd800..0xe000 | 0x11_0000.. => return Err(at),
            0x800..0x1_0000 => {
                room[..3].copy_from_slice(&[0xe0 | (point >> 12) as u8, low(point, 6), low(point, 0)]);
                3
            }
            0x1_0000.. => {
                let bytes = [0xf0 | (point >> 18) as u8, low(point, 12), low(point, 6), low(point, 0)];
                room[..4].copy_from_slice(&bytes);
                4
            }
        };
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf8(text: Text<'_>, range: Range<usize>) -> Result<Vec<u8>> {
        let mut bytes = b"before".to_vec();
        text.write(Isa::best(), range, &mut bytes)?;
        Ok(bytes.split_off(6))
    }

    #[test]
    fn every_character_has_its_bytes() {
        let all: Vec<char> = (0..=0x0010_ffff).filter_map(char::from_u32).collect();
        for run in [1, 7, 100_000] {
            for characters in all.chunks(run).step_by(if run == 1 { 61 } else { 1 }) {
                let expected = characters.iter().collect::<String>().into_bytes();
                let points: Vec<u32> = characters.iter().map(|&c| c.into()).collect();
                assert_eq!(utf8(Text::Four(&points), 0..points.len()).unwrap(), expected);
                if let Ok(units) = points
                    .iter()
                    .map(|&point| u16::try_from(point))
                    .collect::<std::result::Result<Vec<_>, _>>()
                {
                    assert_eq!(utf8(Text::Two(&units), 0..units.len()).unwrap(), expected);
                }
                if let Ok(units) = points
                    .iter()
                    .map(|&point| u8::try_from(point))
                    .collect::<std::result::Result<Vec<_>, _>>()
                {
                    assert_eq!(utf8(Text::One(&units), 0..units.len()).unwrap(), expected);
                }
            }
        }
    }

    #[test]
    fn a_surrogate_is_named() {
        let mut units = vec![u16::from(b'a'); 100];
        units[70] = 0xd800;
        assert_eq!(utf8(Text::Two(&units), 0..70).unwrap(), [b'a'; 70]);
        assert!(matches!(utf8(Text::Two(&units), 30..100), Err(Error::Surrogate { at: 70 })));
        assert!(matches!(utf8(Text::Four(&[0x11_0000]), 0..1), Err(Error::Surrogate { at: 0 })));
    }
}
