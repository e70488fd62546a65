//! A bucket of the pretoken cache: two slots in one cache line.
#![allow(unsafe_code)] // `Zeroed`: zeros are an empty bucket

use crate::memory::Zeroed;
use crate::pretokenize::key::Key;
use crate::simd::{Portable, Simd};

/// Bits of a key's second half. The four bits above say where the ids of the slot are.
const KEY_BITS: u32 = 60;
const KEY_MASK: u64 = (1 << KEY_BITS) - 1;
/// Bit 60: the pretoken has a record in the overflow ring too, so it needs no new one when it is displaced.
pub(in crate::encode) const RECORDED: u64 = 1 << KEY_BITS;
/// The offset of bits 61 to 63, which hold the number of ids minus 1, or [`IDS_IN_RECORD`].
const COUNT_SHIFT: u32 = KEY_BITS + 1;
/// Stands in place of the number of ids if the slot has no room for them; the slot then names their record.
const IDS_IN_RECORD: u64 = 7;

/// Words of 32 bits that a slot has for ids.
const ID_WORDS: usize = 4;
/// The maximum number of ids that a slot holds.
pub(in crate::encode) const MAX_INLINE_IDS: usize = 7;

/// How a slot keeps ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::encode) enum IdWidth {
    /// Up to seven ids of 16 bits.
    U16,
    /// Up to four ids of 32 bits.
    U32,
}

impl IdWidth {
    /// The width for the ids of a vocabulary whose highest is `max_id`.
    pub(in crate::encode) fn of(max_id: Option<u32>) -> Self {
        if max_id.unwrap_or(0) <= u32::from(u16::MAX) { IdWidth::U16 } else { IdWidth::U32 }
    }

    /// How many ids a slot holds. 98% of all pretokens have one or two; words of a script that the vocabulary
    /// has no merges for have more.
    #[inline(always)]
    pub(in crate::encode) fn inline_capacity(self) -> usize {
        match self {
            IdWidth::U16 => MAX_INLINE_IDS,
            IdWidth::U32 => ID_WORDS,
        }
    }
}

/// Two slots, in one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub(in crate::encode) struct Bucket {
    /// The two halves of each slot's key, the second with the bits above [`KEY_BITS`]; zeros where the slot
    /// is free.
    keys: [[u64; 2]; 2],
    /// The ids of each slot; or the place of their record (two words) and their number.
    ids: [[u32; ID_WORDS]; 2],
}

impl Bucket {
    #[inline(always)]
    pub(in crate::encode) fn holds(&self, simd: impl Simd, slot: usize, key: Key) -> bool {
        simd.same(&self.keys[slot], &[key.low, key.high], &[u64::MAX, KEY_MASK])
    }

    /// How many ids a slot has; more than [`MAX_INLINE_IDS`] if they are in a record.
    #[inline(always)]
    pub(in crate::encode) fn count(&self, slot: usize) -> usize {
        (self.keys[slot][1] >> COUNT_SHIFT) as usize + 1
    }

    #[inline(always)]
    pub(in crate::encode) fn has_many(&self, slot: usize) -> bool {
        self.count(slot) > MAX_INLINE_IDS
    }

    /// The ids of a slot that holds ids of 16 bits. Any numbers may follow them.
    #[inline(always)]
    pub(in crate::encode) fn ids_u16(&self, slot: usize) -> [u32; 2 * ID_WORDS] {
        let words = &self.ids[slot];
        let mut ids = [0; 2 * ID_WORDS];
        for (at, id) in ids.iter_mut().enumerate() {
            *id = words[at / 2] >> (16 * (at % 2)) & 0xffff;
        }
        ids
    }

    /// The ids of a slot that holds ids of 32 bits. Any numbers may follow them.
    #[inline(always)]
    pub(in crate::encode) fn ids_u32(&self, slot: usize) -> &[u32; ID_WORDS] {
        &self.ids[slot]
    }

    /// The ids that a slot holds, unpacked into `room`.
    #[inline]
    pub(in crate::encode) fn inline_ids<'a>(
        &self,
        slot: usize,
        id_width: IdWidth,
        room: &'a mut [u32; 2 * ID_WORDS],
    ) -> &'a [u32] {
        match id_width {
            IdWidth::U16 => *room = self.ids_u16(slot),
            IdWidth::U32 => room[..ID_WORDS].copy_from_slice(self.ids_u32(slot)),
        }
        &room[..self.count(slot)]
    }

    #[inline]
    pub(in crate::encode) fn key(&self, slot: usize) -> Key {
        let [low, high] = self.keys[slot];
        Key { low, high: high & KEY_MASK }
    }

    #[inline]
    pub(in crate::encode) fn is_empty(&self, slot: usize) -> bool {
        self.keys[slot] == [0; 2]
    }

    #[inline]
    pub(in crate::encode) fn is_recorded(&self, slot: usize) -> bool {
        self.keys[slot][1] & RECORDED != 0
    }

    /// The slot that has this key, or else a free slot.
    #[inline]
    pub(in crate::encode) fn slot_for(&self, key: Key) -> Option<usize> {
        (0..2)
            .find(|&slot| self.holds(Portable, slot, key))
            .or_else(|| (0..2).find(|&slot| self.is_empty(slot)))
    }

    /// Fills a slot. `recorded` is [`RECORDED`] or 0.
    #[inline]
    pub(in crate::encode) fn put(
        &mut self,
        slot: usize,
        key: Key,
        ids: &[u32],
        id_width: IdWidth,
        recorded: u64,
    ) {
        let mut words = [0; ID_WORDS];
        match id_width {
            IdWidth::U16 => {
                for (at, id) in ids.iter().enumerate() {
                    words[at / 2] |= id << (16 * (at % 2));
                }
            }
            IdWidth::U32 => words[..ids.len()].copy_from_slice(ids),
        }
        self.keys[slot] = [key.low, key.high | (ids.len() as u64 - 1) << COUNT_SHIFT | recorded];
        self.ids[slot] = words;
    }

    /// The first id of a slot that holds ids.
    pub(in crate::encode) fn first_id(&self, slot: usize, id_width: IdWidth) -> u32 {
        match id_width {
            IdWidth::U16 => self.ids[slot][0] & 0xffff,
            IdWidth::U32 => self.ids[slot][0],
        }
    }

    /// Copies a slot that holds ids to a free slot, if there is one.
    pub(in crate::encode) fn copy_slot(&mut self, from: &Bucket, slot: usize) {
        if let Some(free) = (0..2).find(|&slot| self.is_empty(slot)) {
            let [low, high] = from.keys[slot];
            self.keys[free] = [low, high & !RECORDED];
            self.ids[free] = from.ids[slot];
        }
    }

    pub(in crate::encode) fn put_many(&mut self, slot: usize, key: Key, place: u64, count: usize) {
        self.keys[slot] = [key.low, key.high | IDS_IN_RECORD << COUNT_SHIFT];
        self.ids[slot] = [place as u32, (place >> 32) as u32, count as u32, 0];
    }

    /// The place of the ids of a slot that names a record, and their number.
    #[inline(always)]
    pub(in crate::encode) fn record(&self, slot: usize) -> (u64, usize) {
        let [low, high, count, _] = self.ids[slot];
        (u64::from(high) << 32 | u64::from(low), count as usize)
    }
}

// SAFETY: all fields are integers, and `repr(C)` leaves no padding: zeros are a valid value, two free slots.
unsafe impl Zeroed for Bucket {}
