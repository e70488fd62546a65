//! One pretoken with its count, in 32 bytes: half a cache line.

use rustc_hash::FxHasher;
use std::hash::Hasher;

use crate::error::Result;
use crate::hashing::fold_words;
use crate::pretokenize::key::Key;
use crate::room;

/// A pretoken with its count and its first place. A pretoken of up to 15 bytes is stored in the slot; for a
/// longer one the slot has a hash, and the offset of its bytes in an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub(super) struct CountSlot {
    /// The [`Key`] of a short pretoken. For a long one the low half is a hash, and the high half
    /// [`LONG_MARK`] with the offset in the arena.
    key: [u8; 16],
    /// The number of occurrences; 0 for a slot without a pretoken.
    pub(super) count: u64,
    /// The place of the first occurrence.
    pub(super) first: u64,
}

/// Stands in place of the length in a key, and marks a long pretoken.
const LONG_MARK: u64 = 0xFF << 56;
/// Bytes of the length in front of each pretoken in an arena.
const LENGTH_BYTES: usize = size_of::<u64>();

/// Bytes that a pretoken takes in an arena, including its length.
pub(super) fn room_of(pretoken: &[u8]) -> usize {
    LENGTH_BYTES + pretoken.len()
}

/// The longest pretoken for which an arena doubles. For a longer one the arena grows by exactly the
/// pretoken's size, since doubling would cost too much memory.
const DOUBLING_BYTES: usize = 1 << 20;

/// Appends a pretoken to an arena, and returns its offset.
pub(super) fn store(arena: &mut Vec<u8>, pretoken: &[u8]) -> Result<usize> {
    if pretoken.len() > DOUBLING_BYTES {
        room::reserve_exact(arena, room_of(pretoken))?;
    } else {
        room::reserve(arena, room_of(pretoken))?;
    }
    let place = arena.len();
    arena.extend_from_slice(&(pretoken.len() as u64).to_le_bytes());
    arena.extend_from_slice(pretoken);
    Ok(place)
}

/// The pretoken at an offset of an arena.
pub(super) fn stored(arena: &[u8], place: usize) -> &[u8] {
    let (length, bytes) = arena[place..].split_first_chunk().unwrap_or((&[0; LENGTH_BYTES], &[]));
    &bytes[..u64::from_le_bytes(*length) as usize]
}

/// The hash of a long pretoken.
pub(super) fn hash_long(pretoken: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(pretoken);
    hasher.finish()
}

impl CountSlot {
    /// The slot of a pretoken with a key.
    #[inline(always)]
    pub(super) fn short(key: Key, count: u64, first: u64) -> Self {
        CountSlot { key: bytes(key.low, key.high), count, first }
    }

    /// The slot of a long pretoken, whose bytes are at an offset of an arena.
    pub(super) fn long(hash: u64, place: usize, count: u64, first: u64) -> Self {
        CountSlot { key: bytes(hash, LONG_MARK | place as u64), count, first }
    }

    /// The slot of a pretoken. That of a long one does not refer to an arena yet.
    pub(super) fn of(pretoken: &[u8], count: u64, first: u64) -> Self {
        match Key::new(pretoken, 0, pretoken.len()) {
            Key::NONE => CountSlot::long(hash_long(pretoken), 0, count, first),
            key => CountSlot::short(key, count, first),
        }
    }

    /// The slot with its pretoken, if that is long, in an arena.
    pub(super) fn stored(self, pretoken: &[u8], arena: &mut Vec<u8>) -> Result<Self> {
        Ok(if self.is_long() { self.moved_to(store(arena, pretoken)?) } else { self })
    }

    /// The two halves of the key.
    #[inline(always)]
    pub(super) fn words(&self) -> [u64; 2] {
        let all = u128::from_le_bytes(self.key);
        [all as u64, (all >> 64) as u64]
    }

    #[inline(always)]
    pub(super) fn is_long(&self) -> bool {
        self.key[15] == 0xFF
    }

    /// The offset of a long pretoken in its arena.
    pub(super) fn place(&self) -> usize {
        (self.words()[1] & !LONG_MARK) as usize
    }

    /// The slot of a long pretoken with another offset.
    pub(super) fn moved_to(self, place: usize) -> Self {
        CountSlot::long(self.words()[0], place, self.count, self.first)
    }

    /// A hash of the pretoken.
    #[inline(always)]
    pub(super) fn hash(&self) -> u64 {
        let [low, high] = self.words();
        if self.is_long() { fold_words(low, 0) } else { Key { low, high }.hash() }
    }

    /// Bytes that the pretoken takes in its arena.
    pub(super) fn arena_bytes(&self, arena: &[u8]) -> usize {
        if self.is_long() { room_of(self.pretoken(arena)) } else { 0 }
    }

    /// Bytes of memory that the pretoken takes in the result of counting.
    pub(super) fn memory(&self, arena: &[u8]) -> usize {
        size_of::<CountSlot>() + self.arena_bytes(arena)
    }

    /// The bytes of the pretoken; those of a long one are in `arena`.
    pub(super) fn pretoken<'a>(&'a self, arena: &'a [u8]) -> &'a [u8] {
        if self.is_long() { stored(arena, self.place()) } else { &self.key[..usize::from(self.key[15])] }
    }

    /// Whether two slots have the same pretoken; each slot comes with its own arena.
    #[inline(always)]
    pub(super) fn is_same(&self, arena: &[u8], other: &CountSlot, other_arena: &[u8]) -> bool {
        if other.is_long() { self.is_same_long(arena, other, other_arena) } else { self.key == other.key }
    }

    fn is_same_long(&self, arena: &[u8], other: &CountSlot, other_arena: &[u8]) -> bool {
        let same_hash = self.is_long() && self.words()[0] == other.words()[0];
        same_hash && self.pretoken(arena) == other.pretoken(other_arena)
    }

    /// A total order of pretokens. It depends on the pretokens alone, so sections of the temporary file can
    /// be merged.
    pub(super) fn order(&self, arena: &[u8], other: &CountSlot, other_arena: &[u8]) -> std::cmp::Ordering {
        let rank = |slot: &CountSlot| (slot.is_long(), slot.words()[0]);
        rank(self).cmp(&rank(other)).then_with(|| match self.is_long() {
            true => self.pretoken(arena).cmp(other.pretoken(other_arena)),
            false => self.words()[1].cmp(&other.words()[1]),
        })
    }

    /// Adds the count of a slot with the same pretoken, and keeps the lower place.
    #[inline(always)]
    pub(super) fn add(&mut self, other: &CountSlot) {
        self.count += other.count;
        self.first = self.first.min(other.first);
    }

    /// The slot as the temporary file has it.
    pub(super) fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.key);
        bytes[16..24].copy_from_slice(&self.count.to_le_bytes());
        bytes[24..].copy_from_slice(&self.first.to_le_bytes());
        bytes
    }

    /// Reads what [`CountSlot::to_bytes`] made.
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Self {
        let (halves, _) = bytes.as_chunks::<16>();
        let last = u128::from_le_bytes(halves[1]);
        CountSlot { key: halves[0], count: last as u64, first: (last >> 64) as u64 }
    }
}

#[inline(always)]
fn bytes(low: u64, high: u64) -> [u8; 16] {
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}
