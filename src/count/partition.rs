//! The pretokens of one part of all hashes.

use super::log::Log;
use super::slot::{Slot, room_of, store};
use super::spill::{Section, Spill};
use crate::error::Result;
use crate::simd;

/// How many partitions there are. A worker that brings its slots holds one at a time.
pub(super) const PARTITIONS: usize = 64;

/// Which partition a hash belongs to. (Its upper bits say where in a worker's own table it belongs: those that stand
/// in one place there do not meet in one place here.)
#[inline]
pub(super) fn partition_of(hash: u64) -> usize {
    (hash % PARTITIONS as u64) as usize
}

/// Entries of the smallest index, and up to where it grows to the double; then by half.
const LEAST: usize = 64;
const DOUBLED: usize = 1 << 13;
/// Slots that are asked for at once.
const AHEAD: usize = 16;

/// Where a slot is, and 32 bits of its hash: those behind the ones that chose the partition. So an index can grow
/// without a look at the slots.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    at: u32,
}

impl Entry {
    const NONE: Entry = Entry { hash: 0, at: u32::MAX };

    fn is_none(self) -> bool {
        self.at == u32::MAX
    }
}

#[inline]
fn entry_hash(hash: u64) -> u32 {
    (hash / PARTITIONS as u64) as u32
}

/// Slots in the order they came, each found through an index by hash with linear probing. Where it may grow no more,
/// its contents are written to a file, sorted, and it begins anew.
#[derive(Debug, Default)]
pub(super) struct Partition {
    slots: Log,
    index: Vec<Entry>,
    /// The bytes of long pretokens.
    pub(super) long: Vec<u8>,
    /// What is in the file.
    pub(super) sections: Vec<Section>,
}

impl Partition {
    #[inline]
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.index.len() as u64) >> 32) as usize
    }

    /// Adds slots, each with its hash, whose long pretokens are in `arena`: `chosen` says which of `slots`.
    ///
    /// # Errors
    /// What writing to a file fails with.
    pub(super) fn add_all(
        &mut self,
        chosen: &[(u64, u32)],
        slots: &[Slot],
        arena: &[u8],
        spill: Option<&Spill>,
    ) -> Result<()> {
        // What is not near is asked for long before it is needed, first the index, then what it points to.
        for some in chosen.chunks(AHEAD) {
            if !self.index.is_empty() {
                for &(hash, _) in some {
                    simd::prefetch(&self.index, self.home(entry_hash(hash)));
                }
                for &(hash, _) in some {
                    let hash = entry_hash(hash);
                    let entry = self.index[self.home(hash)];
                    if entry.hash == hash && !entry.is_none() {
                        self.slots.prefetch(entry.at as usize);
                    }
                }
            }
            for &(hash, at) in some {
                self.add(&slots[at as usize], hash, arena, spill)?;
            }
        }
        Ok(())
    }

    /// Adds a slot whose long pretokens are in `arena`.
    ///
    /// # Errors
    /// What writing to a file fails with.
    #[inline]
    pub(super) fn add(&mut self, slot: &Slot, hash: u64, arena: &[u8], spill: Option<&Spill>) -> Result<()> {
        match self.find(slot, entry_hash(hash), arena) {
            Some(at) => self.slots.get_mut(at).add(slot),
            None => self.insert(slot, hash, arena, spill)?,
        }
        Ok(())
    }

    /// Where a slot's pretoken is.
    #[inline]
    fn find(&self, slot: &Slot, hash: u32, arena: &[u8]) -> Option<usize> {
        if self.index.is_empty() {
            return None;
        }
        let mut place = self.home(hash);
        loop {
            let entry = self.index[place];
            if entry.is_none() {
                return None;
            }
            if entry.hash == hash && self.slots.get(entry.at as usize).is_same(&self.long, slot, arena) {
                return Some(entry.at as usize);
            }
            place = if place + 1 == self.index.len() { 0 } else { place + 1 };
        }
    }

    fn insert(&mut self, slot: &Slot, hash: u64, arena: &[u8], spill: Option<&Spill>) -> Result<()> {
        let bytes = if slot.is_long() { room_of(slot.pretoken(arena)) } else { 0 };
        if let Some(spill) = spill
            && self.slots.len() > 0
            && self.memory_with(bytes) > spill.partition_bytes
        {
            self.spill(spill)?;
        }
        if self.is_full() {
            self.grow();
        }
        let own =
            if slot.is_long() { slot.moved_to(store(&mut self.long, slot.pretoken(arena))) } else { *slot };
        self.enter(Entry { hash: entry_hash(hash), at: self.slots.len() as u32 });
        self.slots.push(own);
        Ok(())
    }

    /// Puts an entry into the first free place from its home on.
    #[inline]
    fn enter(&mut self, entry: Entry) {
        let mut place = self.home(entry.hash);
        while !self.index[place].is_none() {
            place = if place + 1 == self.index.len() { 0 } else { place + 1 };
        }
        self.index[place] = entry;
    }

    fn is_full(&self) -> bool {
        4 * (self.slots.len() + 1) > 3 * self.index.len()
    }

    fn grown_len(&self) -> usize {
        let len = self.index.len();
        if len < DOUBLED { (2 * len).max(LEAST) } else { len + len / 2 }
    }

    /// Bytes of memory at the most, once so many of another pretoken were added.
    fn memory_with(&self, bytes: usize) -> usize {
        let entries = if self.is_full() { self.index.len() + self.grown_len() } else { self.index.len() };
        let fits = self.long.len() + bytes <= self.long.capacity();
        let long = if fits { self.long.capacity() } else { 2 * self.long.len() + bytes };
        self.slots.memory_with_one() + entries * size_of::<Entry>() + long
    }

    fn grow(&mut self) {
        let grown = vec![Entry::NONE; self.grown_len()];
        for entry in std::mem::replace(&mut self.index, grown) {
            if !entry.is_none() {
                self.enter(entry);
            }
        }
    }

    /// Writes all to the file, in order.
    pub(super) fn spill(&mut self, spill: &Spill) -> Result<()> {
        // In its own memory, which it goes on with: to grow anew each time would leave holes everywhere.
        let Partition { slots, long, .. } = self;
        let sorted = slots.sorted_by(|one, other| one.order(long, other, long));
        self.sections.push(spill.write(sorted, long)?);
        slots.clear();
        self.index.fill(Entry::NONE);
        long.clear();
        long.shrink_to(spill.partition_bytes / 2);
        Ok(())
    }

    /// How many slots there are, in memory and in the file.
    pub(super) fn count(&self) -> usize {
        self.slots.len() + self.sections.iter().map(|section| section.slots).sum::<usize>()
    }

    /// What is in memory, in no order, and the arena of its long pretokens.
    pub(super) fn take(&mut self) -> (Log, Vec<u8>) {
        self.index = Vec::new();
        (std::mem::take(&mut self.slots), std::mem::take(&mut self.long))
    }
}
