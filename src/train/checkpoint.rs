//! The merges of an interrupted training as bytes.

use super::options::Merge;
use crate::error::{Error, Result};
use crate::room;

/// Bytes of a saved merge: three ids of four bytes and a count of eight.
const SAVED_MERGE_BYTES: usize = 20;

/// The merges as bytes: for each the ids of its left part, right part and result, and its count, all
/// little-endian.
pub fn merges_to_bytes(merges: &[Merge]) -> Result<Vec<u8>> {
    let mut bytes = room::for_items(merges.len() * SAVED_MERGE_BYTES)?;
    for merge in merges {
        for number in [merge.left, merge.right, merge.token] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&merge.count.to_le_bytes());
    }
    Ok(bytes)
}

/// Reads what [`merges_to_bytes`] wrote.
///
/// # Errors
/// [`Error::BrokenState`] if the bytes are not a whole number of merges; [`Error::OutOfMemory`].
pub fn merges_from_bytes(bytes: &[u8]) -> Result<Vec<Merge>> {
    let (rows, tail) = bytes.as_chunks::<SAVED_MERGE_BYTES>();
    if !tail.is_empty() {
        return Err(Error::BrokenState);
    }
    let merge = |row: &[u8; SAVED_MERGE_BYTES]| {
        let number = |at: usize| row[at..].iter().take(4).rev().fold(0, |n, &byte| n << 8 | u32::from(byte));
        let count = u64::from(number(16)) << 32 | u64::from(number(12));
        Merge { left: number(0), right: number(4), token: number(8), count }
    };
    room::collected(rows.iter().map(merge))
}
