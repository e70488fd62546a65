//! A line of the pretoken cache.
#![allow(unsafe_code)] // to say that zeros are a line

use crate::memory::Zeroed;
use crate::pretokenize::key::Key;
use crate::simd::{Leaf, Plain};

/// Where an entry's key ends, in its second half; what is above says where the ids are.
const KEY_BITS: u32 = 60;
const KEY: u64 = (1 << KEY_BITS) - 1;
/// The first of those bits: it would be found among the records, too.
pub(super) const RECORDED: u64 = 1 << KEY_BITS;
/// The other three: how many ids there are, less one; or [`MANY`].
const COUNT: u32 = KEY_BITS + 1;
/// Not so many: the ids are in a record, since an entry has no room for them.
const MANY: u64 = 7;

/// Numbers of an entry's ids.
const WORDS: usize = 4;
/// The most ids of an entry.
pub(super) const MOST: usize = 7;

/// How the ids of an entry are kept beside its key, if they are few enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Seven of 16 bits.
    Narrow,
    /// Four of 32 bits.
    Wide,
}

impl Packing {
    /// For ids up to this one.
    pub(super) fn of(max_id: Option<u32>) -> Self {
        if max_id.unwrap_or(0) <= u32::from(u16::MAX) { Packing::Narrow } else { Packing::Wide }
    }

    /// How many are few enough. 98% of all pretokens have one or two; but without merges for their script, words have more.
    #[inline(always)]
    pub(super) fn few(self) -> usize {
        match self {
            Packing::Narrow => MOST,
            Packing::Wide => WORDS,
        }
    }
}

/// Two entries, one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Line {
    /// Of each entry the key's two halves, with the bits above; zeros for no entry.
    keys: [[u64; 2]; 2],
    /// The ids; or the place of their record (two words), and how many they are.
    ids: [[u32; WORDS]; 2],
}

impl Line {
    #[inline(always)]
    pub(super) fn is(&self, leaf: impl Leaf, way: usize, key: Key) -> bool {
        leaf.same(&self.keys[way], &[key.low, key.high], &[u64::MAX, KEY])
    }

    /// How many ids an entry has; more than [`MOST`] if they are in a record.
    #[inline(always)]
    pub(super) fn count(&self, way: usize) -> usize {
        (self.keys[way][1] >> COUNT) as usize + 1
    }

    #[inline(always)]
    pub(super) fn has_many(&self, way: usize) -> bool {
        self.count(way) > MOST
    }

    /// The ids of an entry that has few, and anything behind them.
    #[inline(always)]
    pub(super) fn narrow(&self, way: usize) -> [u32; 2 * WORDS] {
        let words = &self.ids[way];
        std::array::from_fn(|at| words[at / 2] >> (16 * (at % 2)) & 0xffff)
    }

    /// The same where they are wide.
    #[inline(always)]
    pub(super) fn wide(&self, way: usize) -> &[u32; WORDS] {
        &self.ids[way]
    }

    /// The ids of an entry that has few, in `room`.
    pub(super) fn few<'a>(&self, way: usize, packing: Packing, room: &'a mut [u32; 2 * WORDS]) -> &'a [u32] {
        match packing {
            Packing::Narrow => *room = self.narrow(way),
            Packing::Wide => room[..WORDS].copy_from_slice(self.wide(way)),
        }
        &room[..self.count(way)]
    }

    pub(super) fn key(&self, way: usize) -> Key {
        let [low, high] = self.keys[way];
        Key { low, high: high & KEY }
    }

    pub(super) fn is_empty(&self, way: usize) -> bool {
        self.keys[way] == [0; 2]
    }

    pub(super) fn is_recorded(&self, way: usize) -> bool {
        self.keys[way][1] & RECORDED != 0
    }

    /// Which entry has this key, or, if none has, is to be given to it.
    pub(super) fn way_for(&self, key: Key) -> Option<usize> {
        (0..2).find(|&way| self.is(Plain, way, key)).or_else(|| (0..2).find(|&way| self.is_empty(way)))
    }

    /// `recorded` is [`RECORDED`] or nothing.
    pub(super) fn put(&mut self, way: usize, key: Key, ids: &[u32], packing: Packing, recorded: u64) {
        let mut words = [0; WORDS];
        match packing {
            Packing::Narrow => {
                for (at, id) in ids.iter().enumerate() {
                    words[at / 2] |= id << (16 * (at % 2));
                }
            }
            Packing::Wide => words[..ids.len()].copy_from_slice(ids),
        }
        self.keys[way] = [key.low, key.high | (ids.len() as u64 - 1) << COUNT | recorded];
        self.ids[way] = words;
    }

    pub(super) fn put_many(&mut self, way: usize, key: Key, place: u64, count: usize) {
        self.keys[way] = [key.low, key.high | MANY << COUNT];
        self.ids[way] = [place as u32, (place >> 32) as u32, count as u32, 0];
    }

    /// Where the record of an entry of many ids is, and how many they are.
    #[inline(always)]
    pub(super) fn record(&self, way: usize) -> (u64, usize) {
        let [low, high, count, _] = self.ids[way];
        (u64::from(high) << 32 | u64::from(low), count as usize)
    }
}

// SAFETY: numbers alone, which zeros are.
unsafe impl Zeroed for Line {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_both_widths_are_kept_as_they_are() {
        let key = Key::new(b"a pretoken", 0, 10);
        for (packing, highest) in [(Packing::Narrow, 0xffff), (Packing::Wide, u32::MAX)] {
            for count in 1..=packing.few() {
                let ids: Vec<u32> = (0..count as u32).map(|id| highest - id).collect();
                for way in 0..2 {
                    for recorded in [0, RECORDED] {
                        let mut line = Line::default();
                        line.put(way, key, &ids, packing, recorded);
                        assert!(line.is(Plain, way, key) && !line.has_many(way) && line.is_empty(1 - way));
                        assert_eq!((line.key(way), line.is_recorded(way)), (key, recorded != 0));
                        assert_eq!(line.few(way, packing, &mut [0; 8]), ids);
                        assert_eq!(line.way_for(key), Some(way));
                        line.put_many(way, key, 1 << 33 | 5, 1000);
                        assert!(line.has_many(way) && line.record(way) == (1 << 33 | 5, 1000));
                    }
                }
            }
        }
        assert_eq!(Packing::of(Some(0xffff)), Packing::Narrow);
        assert_eq!(Packing::of(Some(0x1_0000)), Packing::Wide);
        assert_eq!(Packing::of(None), Packing::Narrow);
    }
}
