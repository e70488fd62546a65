//! Ids as the bytes of files.

use std::ops::Range;

use super::sink::Sink;
use crate::error::{Error, Result};
use crate::room;
use crate::simd::{Isa, Kernel, Simd};
use crate::vocab::Vocab;

/// A sink that keeps ids as bytes. Ids come from near memory, a few kilobytes at a time, and are written
/// once.
pub(in crate::encode) struct IdBytes {
    /// The bytes of the ids so far, little-endian.
    pub(in crate::encode) bytes: Vec<u8>,
    is_wide: bool,
    isa: Isa,
}

impl IdBytes {
    /// Room for `count` ids, of 32 bits each if `is_wide`, otherwise of 16.
    pub(in crate::encode) fn for_ids(count: usize, is_wide: bool) -> Result<Self> {
        let bytes = room::for_items(if is_wide { 4 * count } else { 2 * count })?;
        Ok(IdBytes { bytes, is_wide, isa: Isa::best() })
    }
}

impl Sink for IdBytes {
    fn ids(&mut self, _: &Vocab, ids: &[u32]) -> Result<()> {
        put_ids(self.isa, ids, self.is_wide, &mut self.bytes)
    }

    fn token(&mut self, _: Range<usize>, id: u32) -> Result<()> {
        put_ids(self.isa, &[id], self.is_wide, &mut self.bytes)
    }
}

/// Appends ids as bytes: of 32 bits each if `wide`, otherwise of 16.
///
/// # Errors
/// [`Error::IdTooWide`]; [`Error::OutOfMemory`].
pub(crate) fn put_ids(isa: Isa, ids: &[u32], wide: bool, bytes: &mut Vec<u8>) -> Result<()> {
    let width = if wide { 4 } else { 2 };
    room::reserve(bytes, width * ids.len())?;
    let all = if wide { isa.run(Widths::<4> { ids, bytes }) } else { isa.run(Widths::<2> { ids, bytes }) };
    if wide || all <= 0xffff {
        return Ok(());
    }
    // Only an error looks at each id once more.
    ids.iter().find(|&&id| id > 0xffff).map_or(Ok(()), |&id| Err(Error::IdTooWide(id)))
}

/// Ids that are converted at a time, in near memory.
const BLOCK_IDS: usize = 256;

/// Appends the lowest `WIDTH` bytes of each id, and returns the bitwise or of all ids.
struct Widths<'a, const WIDTH: usize> {
    ids: &'a [u32],
    bytes: &'a mut Vec<u8>,
}

impl<const WIDTH: usize> Kernel for Widths<'_, WIDTH> {
    type Out = u32;

    #[inline(always)]
    fn run<L: Simd>(self, _: L) -> u32 {
        let mut all = 0;
        let mut block = [[0; WIDTH]; BLOCK_IDS];
        for ids in self.ids.chunks(BLOCK_IDS) {
            for (number, &id) in block.iter_mut().zip(ids) {
                all |= id;
                if let Some(lowest) = id.to_le_bytes().first_chunk() {
                    *number = *lowest;
                }
            }
            self.bytes.extend_from_slice(block[..ids.len()].as_flattened());
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
            for len in [0, 1, 15, 16, 17, 100, BLOCK_IDS as u32, 3 * BLOCK_IDS as u32 + 1] {
                let ids: Vec<u32> = (0..len).map(|at| at * 631 % 65_536).collect();
                let (mut narrow, mut wide) = (b"x".to_vec(), b"x".to_vec());
                put_ids(isa, &ids, false, &mut narrow).unwrap();
                put_ids(isa, &ids, true, &mut wide).unwrap();
                assert!(narrow[1..].chunks(2).eq(ids.iter().map(|&id| (id as u16).to_le_bytes())));
                assert!(wide[1..].chunks(4).eq(ids.iter().map(|&id| id.to_le_bytes())));
            }
            let ids = [1, 65_536, 70_000];
            assert!(matches!(put_ids(isa, &ids, false, &mut Vec::new()), Err(Error::IdTooWide(65_536))));
            put_ids(isa, &ids, true, &mut Vec::new()).unwrap();
        }
    }
}
