//! What is saved of a training, so that it can continue after an interruption.

use std::time::{Duration, Instant};

use super::options::Merge;
use crate::error::{Error, Result};
use crate::hashing::{GOLDEN, MIXER, fold};
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

type Save<'a> = &'a mut (dyn FnMut(&[Merge]) -> Result<()> + Send);

/// Receives the merges of a training at intervals, so that it can be resumed after an interruption.
///
/// The merges are the whole state of a training: words that are laid out by them are the corpus that the
/// training had.
pub struct Saver<'a> {
    save: Option<Save<'a>>,
    every: Duration,
    last: Instant,
}

impl<'a> Saver<'a> {
    /// A saver that does nothing.
    pub fn none() -> Self {
        Saver { save: None, every: Duration::MAX, last: Instant::now() }
    }

    /// A saver that calls `save` with all merges so far, at most once in `every`.
    pub fn new(every: Duration, save: Save<'a>) -> Self {
        Saver { save: Some(save), every, last: Instant::now() }
    }

    /// Saves the merges if that is due.
    #[inline]
    pub(super) fn offer(&mut self, merges: &[Merge]) -> Result<()> {
        if let Some(save) = &mut self.save
            && self.last.elapsed() >= self.every
        {
            save(merges)?;
            self.last = Instant::now();
        }
        Ok(())
    }

    /// Saves the merges when a training ends.
    pub(super) fn last(&mut self, merges: &[Merge]) -> Result<()> {
        self.save.as_mut().map_or(Ok(()), |save| save(merges))
    }
}

/// A fingerprint of 128 bits of words with their counts, in this order. It distinguishes different inputs,
/// but not inputs that were made to collide.
pub fn fingerprint<'w>(words: impl Iterator<Item = (&'w [u8], u64)>) -> [u64; 2] {
    // Digits of pi: numbers that nobody chose.
    let mut sums = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344];
    let mut add = |number: u64| {
        sums[0] = folded(sums[0] ^ number, GOLDEN);
        sums[1] = folded(sums[1].rotate_left(23) ^ number, MIXER);
    };
    for (word, count) in words {
        add(count);
        add(word.len() as u64);
        for piece in word.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..piece.len()].copy_from_slice(piece);
            add(u64::from_le_bytes(bytes));
        }
    }
    add(!0);
    sums
}

/// A hash of a number. The addition keeps a number of 0 from staying 0.
fn folded(number: u64, factor: u64) -> u64 {
    fold(number.wrapping_add(factor.rotate_left(32)), factor)
}
