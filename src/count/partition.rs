//! The pretokens of one part of all hashes.

use super::slot::{Slot, room_of, store};
use super::spill::{Section, Spill};
use crate::error::Result;
use crate::memory;
use crate::simd;

/// How many partitions there are. A worker that brings its slots holds one at a time.
pub(super) const PARTITIONS: usize = 64;

/// Which partition a hash belongs to. (Its upper bits say where in a worker's own table it belongs: those that stand
/// in one place there do not meet in one place here.)
#[inline]
pub(super) fn partition_of(hash: u64) -> usize {
    (hash % PARTITIONS as u64) as usize
}

/// The slots of the smallest table, and up to where it grows to the double.
const LEAST: usize = 64;
const DOUBLED: usize = 1 << 12;

/// A table of slots by their hash, found by linear probing; it grows by half. Where it may grow no more, its contents
/// are written to a file, sorted, and it begins anew.
#[derive(Debug, Default)]
pub(super) struct Partition {
    slots: Vec<Slot>,
    used: usize,
    /// The bytes of long pretokens.
    pub(super) long: Vec<u8>,
    /// What is in the file.
    pub(super) sections: Vec<Section>,
}

impl Partition {
    /// Asks for the memory where a hash belongs.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        if !self.slots.is_empty() {
            simd::prefetch(&self.slots, self.home(hash));
        }
    }

    /// The bits that chose the partition are left out.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        let hash = hash / PARTITIONS as u64 * PARTITIONS as u64;
        // Of the lower half first: the upper bits of those that a worker brings at once may be much alike.
        ((u128::from(hash.rotate_left(32)) * self.slots.len() as u128) >> 64) as usize
    }

    /// Adds a slot whose long pretokens are in `arena`.
    ///
    /// # Errors
    /// What writing to a file fails with.
    #[inline]
    pub(super) fn add(&mut self, slot: &Slot, arena: &[u8], spill: Option<&Spill>) -> Result<()> {
        self.add_hashed(slot, slot.hash(), arena, spill)
    }

    /// The same, for a hash that is known.
    #[inline]
    pub(super) fn add_hashed(
        &mut self,
        slot: &Slot,
        hash: u64,
        arena: &[u8],
        spill: Option<&Spill>,
    ) -> Result<()> {
        if !self.slots.is_empty() {
            let at = self.find(slot, hash, arena);
            if self.slots[at].count > 0 {
                self.slots[at].add(slot);
                return Ok(());
            }
        }
        self.insert(slot, hash, arena, spill)
    }

    /// Where a slot's pretoken is, or the empty slot where it would be.
    #[inline]
    fn find(&self, slot: &Slot, hash: u64, arena: &[u8]) -> usize {
        let mut at = self.home(hash);
        loop {
            let here = &self.slots[at];
            if here.count == 0 || here.is_same(&self.long, slot, arena) {
                return at;
            }
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
    }

    #[cold]
    fn insert(&mut self, slot: &Slot, hash: u64, arena: &[u8], spill: Option<&Spill>) -> Result<()> {
        let bytes = if slot.is_long() { room_of(slot.pretoken(arena)) } else { 0 };
        if let Some(spill) = spill
            && self.used > 0
            && self.memory_with(bytes) > spill.partition_bytes
        {
            self.spill(spill)?;
        }
        if self.is_full() {
            self.grow();
        }
        let own =
            if slot.is_long() { slot.moved_to(store(&mut self.long, slot.pretoken(arena))) } else { *slot };
        let at = self.free_place(hash);
        self.slots[at] = own;
        self.used += 1;
        Ok(())
    }

    fn free_place(&self, hash: u64) -> usize {
        let mut at = self.home(hash);
        while self.slots[at].count > 0 {
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
        at
    }

    fn is_full(&self) -> bool {
        4 * (self.used + 1) > 3 * self.slots.len()
    }

    fn grown_len(&self) -> usize {
        let len = self.slots.len();
        if len < DOUBLED { (2 * len).max(LEAST) } else { len + len / 2 }
    }

    /// Bytes of memory at the most, once so many of another pretoken were added.
    fn memory_with(&self, bytes: usize) -> usize {
        let slots = if self.is_full() { self.slots.len() + self.grown_len() } else { self.slots.len() };
        let fits = self.long.len() + bytes <= self.long.capacity();
        let long = if fits { self.long.capacity() } else { 2 * self.long.len() + bytes };
        slots * size_of::<Slot>() + long
    }

    fn grow(&mut self) {
        let len = self.grown_len();
        let mut slots: Vec<Slot> = Vec::with_capacity(len);
        memory::will_fill(slots.as_mut_ptr().cast(), len * size_of::<Slot>());
        slots.resize(len, Slot::default());
        for slot in std::mem::replace(&mut self.slots, slots) {
            if slot.count > 0 {
                let at = self.free_place(slot.hash());
                self.slots[at] = slot;
            }
        }
    }

    /// Writes all to the file, in order.
    pub(super) fn spill(&mut self, spill: &Spill) -> Result<()> {
        // In its own memory, which it goes on with: to grow anew each time would leave holes everywhere.
        let Partition { slots, long, .. } = self;
        let len = slots.len();
        slots.retain(|slot| slot.count > 0);
        slots.sort_unstable_by(|one, other| one.order(long, other, long));
        self.sections.push(spill.write(slots, long)?);
        slots.clear();
        slots.resize(len, Slot::default());
        long.clear();
        long.shrink_to(spill.partition_bytes / 2);
        self.used = 0;
        Ok(())
    }

    /// How many slots there are, in memory and in the file.
    pub(super) fn count(&self) -> usize {
        self.used + self.sections.iter().map(|section| section.slots).sum::<usize>()
    }

    /// What is in memory, in no order, and the arena of its long pretokens.
    pub(super) fn take(&mut self) -> (Vec<Slot>, Vec<u8>) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.retain(|slot| slot.count > 0);
        self.used = 0;
        (slots, std::mem::take(&mut self.long))
    }
}
