//! The ids of a job: as the bytes of shards, divided among the splits.

use super::sources::{Cursor, Skipped};
use crate::error::{Error, Result};
use crate::room;
use crate::simd::{Isa, Kernel, Simd};

/// The ids of documents of one split, one document after the other.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The ids, little-endian.
    pub(super) bytes: Vec<u8>,
    /// The number of ids of each document.
    pub(super) lengths: Vec<u64>,
}

/// The rest of a document that began in an earlier job.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) bytes: Vec<u8>,
    /// Whether the document ends here.
    pub(super) ends: bool,
}

/// How much of a source is in a job.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SourceCount {
    pub(super) source: usize,
    /// Documents that begin in the job.
    pub(super) documents: u64,
    /// Ends of lines.
    pub(super) lines: u64,
}

/// The ids of a job.
#[derive(Debug, Default)]
pub(super) struct Encoded {
    pub(super) head: Option<Head>,
    /// One for each split.
    pub(super) parts: Vec<Part>,
    /// The split of each document that begins here, in order; left empty if there is one split only.
    pub(super) order: Vec<u8>,
    /// The split of the last document, if it goes on in the next job.
    pub(super) open: Option<usize>,
    pub(super) counts: Vec<SourceCount>,
    /// Documents that were left out. Their lines count from the beginning of the piece.
    pub(super) skipped: Vec<Skipped>,
    /// The document that ends the run.
    pub(super) failure: Option<Skipped>,
    /// Bytes of the text of all documents.
    pub(super) text_bytes: u64,
    /// The place behind the job.
    pub(super) end: Cursor,
}

impl Encoded {
    pub(super) fn new(splits: usize, end: Cursor) -> Self {
        let parts = (0..splits).map(|_| Part::default()).collect();
        Encoded { parts, end, ..Encoded::default() }
    }

    /// Begins to count what is in a source.
    pub(super) fn begin(&mut self, source: usize) {
        self.counts.push(SourceCount { source, ..SourceCount::default() });
    }
}

/// Appends the bytes of ids, of 32 bits each if they are `wide`, else of 16.
///
/// # Errors
/// [`Error::IdTooWide`]; [`Error::OutOfMemory`].
pub(super) fn put(isa: Isa, ids: &[u32], wide: bool, bytes: &mut Vec<u8>) -> Result<()> {
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

/// Writes the lowest bytes of ids to memory of just that size, and returns what bits any of them has.
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
                put(isa, &ids, false, &mut narrow).unwrap();
                put(isa, &ids, true, &mut wide).unwrap();
                assert!(narrow[1..].chunks(2).eq(ids.iter().map(|&id| (id as u16).to_le_bytes())));
                assert!(wide[1..].chunks(4).eq(ids.iter().map(|&id| id.to_le_bytes())));
            }
            let ids = [1, 65_536, 70_000];
            assert!(matches!(put(isa, &ids, false, &mut Vec::new()), Err(Error::IdTooWide { id: 65_536 })));
            put(isa, &ids, true, &mut Vec::new()).unwrap();
        }
    }
}
