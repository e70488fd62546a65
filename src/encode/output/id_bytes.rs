//! Ids as the bytes of files.

use crate::error::{Error, Result};
use crate::room;
use crate::simd::{Isa, Kernel, Simd};

/// Appends ids as bytes: of 32 bits each if `wide`, otherwise of 16.
///
/// # Errors
/// [`Error::IdTooWide`]; [`Error::OutOfMemory`].
pub(crate) fn put_ids(isa: Isa, ids: &[u32], wide: bool, bytes: &mut Vec<u8>) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let before = bytes.len();
    let width = if wide { 4 } else { 2 };
    room::reserve(bytes, width * ids.len())?;
    bytes.resize(before + width * ids.len(), 0);
    let room = &mut bytes[before..];
    let all = if wide { isa.run(Widths::<4> { ids, room }) } else { isa.run(Widths::<2> { ids, room }) };
    match ids.iter().find(|&&id| !wide && id > 0xffff) {
        Some(&id) if all > 0xffff => Err(Error::IdTooWide { id }),
        _ => Ok(()),
    }
}

/// Writes the lowest `WIDTH` bytes of each id to memory of exactly that size, and returns the bitwise or of all ids.
struct Widths<'a, const WIDTH: usize> {
    ids: &'a [u32],
    room: &'a mut [u8],
}

impl<const WIDTH: usize> Kernel for Widths<'_, WIDTH> {
    type Out = u32;

    #[inline(always)]
    fn run<L: Simd>(self, _: L) -> u32 {
        let mut all = 0;
        for (number, &id) in self.room.as_chunks_mut::<WIDTH>().0.iter_mut().zip(self.ids) {
            all |= id;
            number.copy_from_slice(&id.to_le_bytes()[..WIDTH]);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_their_lowest_bytes() {
        for isa in Isa::available() {
            for len in [0, 1, 15, 16, 17, 100] {
                let ids: Vec<u32> = (0..len).map(|at| at * 631 % 65_536).collect();
                let (mut narrow, mut wide) = (b"x".to_vec(), b"x".to_vec());
                put_ids(isa, &ids, false, &mut narrow).unwrap();
                put_ids(isa, &ids, true, &mut wide).unwrap();
                assert!(narrow[1..].chunks(2).eq(ids.iter().map(|&id| (id as u16).to_le_bytes())));
                assert!(wide[1..].chunks(4).eq(ids.iter().map(|&id| id.to_le_bytes())));
            }
            let ids = [1, 65_536, 70_000];
            assert!(matches!(
                put_ids(isa, &ids, false, &mut Vec::new()),
                Err(Error::IdTooWide { id: 65_536 })
            ));
            put_ids(isa, &ids, true, &mut Vec::new()).unwrap();
        }
    }
}
