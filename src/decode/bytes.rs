//! Ids → bytes.
#![allow(unsafe_code)] // copies whole slots of tokens, in a third of the time of exact copies

use std::mem::MaybeUninit;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::vocab::{SLOT_BYTES, TAG_LENGTH_MASK, TAG_NOT_ASCII, TAG_OFFSET, TokenBytes, Vocab};
use crate::{memory, room};

/// Ids that are decoded between two checks of the control.
const IDS_PER_CHECK: usize = 1 << 16;

/// The bytes of `ids`, joined: the exact inverse of encoding.
///
/// # Errors
/// [`Error::UnknownId`] naming the id and its place; [`Error::Interrupted`].
pub fn decode(vocab: &Vocab, ids: &[u32], control: &Control) -> Result<Vec<u8>> {
    let mut bytes = room_for(ids.len())?;
    append(vocab, ids, 0, &mut bytes, control)?;
    Ok(bytes)
}

/// Memory for the bytes of `ids` ids.
pub(super) fn room_for(ids: usize) -> Result<Vec<u8>> {
    let mut bytes = room::for_items(estimate(ids))?;
    memory::advise_huge_pages(bytes.as_mut_ptr(), bytes.capacity());
    Ok(bytes)
}

/// Appends the bytes of ids, of which the first has a place, for errors.
pub(super) fn append(
    vocab: &Vocab,
    ids: &[u32],
    first: usize,
    bytes: &mut Vec<u8>,
    control: &Control,
) -> Result<()> {
    for (run, ids) in ids.chunks(IDS_PER_CHECK).enumerate() {
        control.check()?;
        let mut at = 0;
        while at < ids.len() {
            let step = step(vocab.tokens(), &ids[at..], bytes.spare_capacity_mut());
            // SAFETY: the step has initialized `step.bytes` bytes at the start of the spare capacity.
            unsafe { bytes.set_len(bytes.len() + step.bytes) };
            at += step.ids;
            match step.stop {
                Stop::Done => {}
                Stop::Full { room } => room::reserve(bytes, room.max(estimate(ids.len() - at)))?,
                Stop::Unknown => {
                    return Err(Error::UnknownId {
                        id: i128::from(ids[at]),
                        index: Some(first + run * IDS_PER_CHECK + at),
                    });
                }
            }
        }
    }
    Ok(())
}

/// An estimate of the bytes of `ids` ids, for which room is made first.
pub fn estimate(ids: usize) -> usize {
    5 * ids + SLOT_BYTES
}

/// The result of a [`step`].
#[derive(Clone, Copy, Debug)]
pub struct DecodeStep {
    /// Ids decoded.
    pub ids: usize,
    /// Bytes written.
    pub bytes: usize,
    /// Whether all of these are ASCII.
    pub ascii: bool,
    /// Why it stopped.
    pub stop: Stop,
}

/// Why a [`step`] stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All ids are decoded.
    Done,
    /// The next token may not fit into the room that is left.
    Full {
        /// Bytes that it needs.
        room: usize,
    },
    /// The next id is not in the vocabulary.
    Unknown,
}

/// Decodes ids into `out` until it is full; callers do this in a loop.
///
/// Each token needs at least 16 bytes of room, whatever its length. The contents of `out` after the bytes
/// that were written are undefined.
pub fn step(tokens: &TokenBytes, ids: &[u32], out: &mut [MaybeUninit<u8>]) -> DecodeStep {
    let slots = tokens.by_id().unwrap_or(&[]);
    let (mut at, mut wide) = (0, 0);
    let done = |ids, bytes, wide, stop| DecodeStep { ids, bytes, ascii: wide & TAG_NOT_ASCII == 0, stop };
    for (index, &id) in ids.iter().enumerate() {
        if out.len() - at < SLOT_BYTES {
            return done(index, at, wide, Stop::Full { room: SLOT_BYTES });
        }
        if let Some(slot) = slots.get(id as usize) {
            let slot = slot.bytes();
            // SAFETY: `out` has at least `SLOT_BYTES` bytes from `at` on, as was checked above; the write
            // needs no alignment.
            unsafe { out.as_mut_ptr().add(at).cast::<[u8; SLOT_BYTES]>().write_unaligned(*slot) };
            let tag = slot[TAG_OFFSET];
            if tag & TAG_LENGTH_MASK != 0 {
                wide |= tag;
                at += usize::from(tag & TAG_LENGTH_MASK);
                continue;
            }
        }
        let Some(token) = tokens.get(id) else { return done(index, at, wide, Stop::Unknown) };
        let Some(room) = out.get_mut(at..at + token.len()) else {
            return done(index, at, wide, Stop::Full { room: token.len().max(SLOT_BYTES) });
        };
        for (to, byte) in room.iter_mut().zip(token) {
            to.write(*byte);
        }
        wide |= if token.is_ascii() { 0 } else { TAG_NOT_ASCII };
        at += token.len();
    }
    done(ids.len(), at, wide, Stop::Done)
}
