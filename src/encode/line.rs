//! A line of the pretoken cache.
#![allow(unsafe_code)] // to say that zeros are a line

use crate::memory::Zeroed;
use crate::pretokenize::key::Key;

/// Up to this many ids are kept beside a key (98% of all pretokens have at most two); more are in a record.
pub(super) const FEW: usize = 4;
/// Where an entry's key ends, in its second half; what is above says where the ids are.
const KEY_BITS: u32 = 60;
const KEY: u64 = (1 << KEY_BITS) - 1;
/// The lower two of those bits: how many ids there are, less one.
const COUNT: u32 = KEY_BITS;
/// The next: it would be found among the records, too.
pub(super) const RECORDED: u64 = 1 << 62;
/// The last: the ids are in a record, since they are more than [`FEW`].
const MANY: u64 = 1 << 63;

/// Two entries, one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Line {
    /// Of each entry the key's two halves, with the bits above; zeros for no entry.
    pub(super) keys: [[u64; 2]; 2],
    /// The ids; or the place of their record (two words), and how many they are.
    pub(super) ids: [[u32; FEW]; 2],
}

impl Line {
    #[inline(always)]
    pub(super) fn is(&self, way: usize, key: Key) -> bool {
        let [low, high] = self.keys[way];
        (low ^ key.low) | (high ^ key.high) << (64 - KEY_BITS) == 0
    }

    #[inline(always)]
    pub(super) fn has_many(&self, way: usize) -> bool {
        self.keys[way][1] & MANY != 0
    }

    /// How many ids an entry has that has few.
    #[inline(always)]
    pub(super) fn count(&self, way: usize) -> usize {
        (self.keys[way][1] >> COUNT & 3) as usize + 1
    }

    pub(super) fn key(&self, way: usize) -> Key {
        let [low, high] = self.keys[way];
        Key { low, high: high & KEY }
    }

    pub(super) fn is_empty(&self, way: usize) -> bool {
        self.keys[way] == [0; 2]
    }

    /// Which entry has this key, or, if none has, is to be given to it.
    pub(super) fn way_for(&self, key: Key) -> Option<usize> {
        (0..2).find(|&way| self.is(way, key)).or_else(|| (0..2).find(|&way| self.is_empty(way)))
    }

    pub(super) fn put(&mut self, way: usize, key: Key, ids: &[u32], recorded: u64) {
        let mut few = [0; FEW];
        few[..ids.len()].copy_from_slice(ids);
        self.keys[way] = [key.low, key.high | (ids.len() as u64 - 1) << COUNT | recorded];
        self.ids[way] = few;
    }

    pub(super) fn put_many(&mut self, way: usize, key: Key, place: u64, count: usize) {
        self.keys[way] = [key.low, key.high | MANY];
        self.ids[way] = [place as u32, (place >> 32) as u32, count as u32, 0];
    }

    /// Where the record of an entry of many ids is, and how many they are.
    pub(super) fn record(&self, way: usize) -> (u64, usize) {
        let [low, high, count, _] = self.ids[way];
        (u64::from(high) << 32 | u64::from(low), count as usize)
    }
}

// SAFETY: numbers alone, which zeros are.
unsafe impl Zeroed for Line {}
