//! The shared tables of counts, each of the pretokens of one part of all hashes.

use super::log::SlotLog;
use super::slot::CountSlot;
use super::spill::{SortedSlots, SpillFile};
use crate::error::Result;
use crate::room;
use crate::simd;
use crate::workers::Lock;

/// The number of partitions. A worker locks one partition at a time while it brings its slots. With many more
/// partitions than workers, workers rarely wait for each other.
pub(super) const PARTITIONS: usize = 64;

/// The partition of a hash: its lowest bits. The local table of a worker uses the highest bits, so pretokens
/// that share a bucket there are spread over the partitions.
#[inline]
pub(super) fn partition_of(hash: u64) -> usize {
    (hash % PARTITIONS as u64) as usize
}

/// Entries of the smallest index.
const MIN_INDEX_ENTRIES: usize = 64;
/// Entries from which an index grows by half instead of to the double, so that less memory is unused.
const DOUBLING_ENTRIES: usize = 1 << 13;
/// Slots that are prefetched together. With 64 counting was as fast as with 16.
const SLOTS_PER_PREFETCH: usize = 16;

/// An entry of the index: the number of a slot, and the 32 bits of its hash above those that chose the
/// partition. With these bits an index can grow without reading the slots.
#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    hash: u32,
    at: u32,
}

impl IndexEntry {
    const VACANT: IndexEntry = IndexEntry { hash: 0, at: u32::MAX };

    fn is_none(self) -> bool {
        self.at == u32::MAX
    }
}

#[inline]
fn entry_hash(hash: u64) -> u32 {
    (hash / PARTITIONS as u64) as u32
}

/// Slots in the order in which they were added, and an index of them by hash, with linear probing. If memory
/// is limited and the partition would pass its part, its contents are sorted and written to the temporary
/// file, and it starts again empty.
#[derive(Debug, Default)]
pub(super) struct Partition {
    slots: SlotLog,
    index: Vec<IndexEntry>,
    /// The arena of long pretokens.
    pub(super) long: Vec<u8>,
    /// What was written to the temporary file.
    pub(super) sections: Vec<SortedSlots>,
}

impl Partition {
    /// The place of the index at which the search for a hash begins.
    #[inline]
    fn first_place(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.index.len() as u64) >> 32) as usize
    }

    /// Adds the slots that `chosen` names, by their hash and their index in `slots`; `arena` has their long
    /// pretokens.
    pub(super) fn add_all(
        &mut self,
        chosen: &[(u64, u32)],
        slots: &[CountSlot],
        arena: &[u8],
        spill: Option<&SpillFile>,
    ) -> Result<()> {
        // First the index is prefetched, then the slots that its entries name.
        for some in chosen.chunks(SLOTS_PER_PREFETCH) {
            if !self.index.is_empty() {
                for &(hash, _) in some {
                    simd::prefetch(&self.index, self.first_place(entry_hash(hash)));
                }
                for &(hash, _) in some {
                    let hash = entry_hash(hash);
                    let entry = self.index[self.first_place(hash)];
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

    /// Adds a slot; `arena` has its pretoken if it is long.
    #[inline]
    pub(super) fn add(
        &mut self,
        slot: &CountSlot,
        hash: u64,
        arena: &[u8],
        spill: Option<&SpillFile>,
    ) -> Result<()> {
        match self.find(slot, entry_hash(hash), arena) {
            Some(at) => self.slots.get_mut(at).add(slot),
            None => self.insert(slot, hash, arena, spill)?,
        }
        Ok(())
    }

    /// The number of the slot with the same pretoken.
    #[inline]
    fn find(&self, slot: &CountSlot, hash: u32, arena: &[u8]) -> Option<usize> {
        if self.index.is_empty() {
            return None;
        }
        let mut place = self.first_place(hash);
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

    /// Adds a slot whose pretoken is not here yet.
    fn insert(&mut self, slot: &CountSlot, hash: u64, arena: &[u8], spill: Option<&SpillFile>) -> Result<()> {
        let bytes = slot.arena_bytes(arena);
        if let Some(spill) = spill
            && self.memory_with(bytes) > spill.partition_bytes
        {
            self.make_room(bytes, spill)?;
        }
        if self.is_full() {
            self.grow()?;
        }
        self.slots.push(slot.stored(slot.pretoken(arena), &mut self.long)?)?;
        self.enter(IndexEntry { hash: entry_hash(hash), at: self.slots.len() as u32 - 1 });
        Ok(())
    }

    /// Makes room for a pretoken of `bytes` bytes in the arena: frees memory that the contents do not need,
    /// and if that is not enough, writes the contents to the temporary file.
    ///
    /// Memory is kept after a spill, and the contents before it may have had another shape: many short
    /// pretokens, or a few long ones. If kept memory counted as contents, it alone could pass the limit, and
    /// each insertion would be a spill. Once it is freed, the slots and the arena take at most twice the
    /// memory of the contents, and the index less than a third of the limit. So a spill writes at least a
    /// quarter of the limit, or makes room for a pretoken as large as that.
    #[cold]
    fn make_room(&mut self, bytes: usize, spill: &SpillFile) -> Result<()> {
        self.slots.shrink();
        self.long.shrink_to_fit();
        if self.slots.len() > 0 && self.memory_with(bytes) > spill.partition_bytes {
            self.spill(spill)?;
        }
        Ok(())
    }

    /// Puts an entry into the first vacant place of its search.
    #[inline]
    fn enter(&mut self, entry: IndexEntry) {
        let mut place = self.first_place(entry.hash);
        while !self.index[place].is_none() {
            place = if place + 1 == self.index.len() { 0 } else { place + 1 };
        }
        self.index[place] = entry;
    }

    /// Whether one more slot would fill over three quarters of the index.
    fn is_full(&self) -> bool {
        4 * (self.slots.len() + 1) > 3 * self.index.len()
    }

    fn grown_len(&self) -> usize {
        let len = self.index.len();
        if len < DOUBLING_ENTRIES { (2 * len).max(MIN_INDEX_ENTRIES) } else { len + len / 2 }
    }

    /// An upper bound of the bytes of memory once a pretoken of `bytes` bytes in the arena is added.
    fn memory_with(&self, bytes: usize) -> usize {
        let entries = if self.is_full() { self.index.len() + self.grown_len() } else { self.index.len() };
        let fits = self.long.len() + bytes <= self.long.capacity();
        let long = if fits { self.long.capacity() } else { 2 * self.long.len() + bytes };
        self.slots.memory_with_one() + entries * size_of::<IndexEntry>() + long
    }

    fn grow(&mut self) -> Result<()> {
        let larger = room::filled(IndexEntry::VACANT, self.grown_len())?;
        for entry in std::mem::replace(&mut self.index, larger) {
            if !entry.is_none() {
                self.enter(entry);
            }
        }
        Ok(())
    }

    /// Sorts the contents and writes them to the temporary file.
    pub(super) fn spill(&mut self, spill: &SpillFile) -> Result<()> {
        if self.slots.len() == 0 {
            return Ok(());
        }
        // The memory is kept for the next contents: growing again each time would fragment it.
        let Partition { slots, long, .. } = self;
        let sorted = slots.sorted_by(|left, right| left.order(long, right, long))?;
        self.sections.push(spill.write(sorted, long)?);
        slots.clear();
        self.index.fill(IndexEntry::VACANT);
        long.clear();
        long.shrink_to(spill.partition_bytes / 2);
        Ok(())
    }

    /// The number of slots, in memory and in the temporary file.
    pub(super) fn count(&self) -> usize {
        self.slots.len() + self.sections.iter().map(|section| section.slots).sum::<usize>()
    }

    /// Takes the contents in memory: the slots in any order, and the arena of their long pretokens.
    pub(super) fn take(&mut self) -> (SlotLog, Vec<u8>) {
        self.index = Vec::new();
        (std::mem::take(&mut self.slots), std::mem::take(&mut self.long))
    }
}

/// The shared tables of counts: partitions of the pretokens by hash. Each has a lock, so one worker at a time
/// changes it.
#[derive(Debug)]
pub(super) struct SharedCounts {
    pub(super) partitions: Vec<Lock<Partition>>,
    /// The temporary file for what memory has no room for; `None` if memory is not limited.
    pub(super) spill: Option<SpillFile>,
}

impl SharedCounts {
    pub(super) fn new(spill: Option<SpillFile>) -> Self {
        SharedCounts { partitions: (0..PARTITIONS).map(|_| Lock::default()).collect(), spill }
    }

    /// Adds one slot; `arena` has its pretoken if it is long.
    pub(super) fn add(&self, slot: &CountSlot, arena: &[u8]) -> Result<()> {
        let hash = slot.hash();
        self.partitions[partition_of(hash)].lock().add(slot, hash, arena, self.spill.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that was kept is freed before anything is written.
    #[test]
    fn memory_stays_below_the_limit() {
        let limit = 1 << 15;
        let spill = SpillFile::new(std::env::temp_dir(), limit, 1 << 16);
        let (mut partition, mut number) = (Partition::default(), 0_u64);
        for length in [8, 500, 8, 40, 3000, 8].repeat(3) {
            for _ in 0..1000 {
                number += 1;
                let mut pretoken = number.to_be_bytes().to_vec();
                pretoken.resize(length, b'x');
                let mut arena = Vec::new();
                let slot = CountSlot::of(&pretoken, 1, number).stored(&pretoken, &mut arena).unwrap();
                partition.add(&slot, slot.hash(), &arena, Some(&spill)).unwrap();
                // The limit is checked before an insertion, so one more pretoken may be there now.
                assert!(partition.memory_with(0) <= limit + 2 * length + 4000, "{length}");
            }
        }
        assert!(spill.count() > 10);
        assert_eq!(partition.count(), number as usize);
    }
}
