//! Slots in the order in which they were added, in blocks that double in size: no slot is ever moved, and
//! memory is touched only when it is needed.

use std::cmp::Ordering;

use super::slot::CountSlot;
use crate::error::Result;
use crate::room;
use crate::simd;

/// log2 of the number of slots of the first two blocks; each later block has twice as many as the one before
/// it. 64 slots are 2 KB.
const FIRST_BLOCK_BITS: u32 = 6;

/// The block of a slot, the index in the block, and the number of slots of the block.
#[inline(always)]
fn place(at: usize) -> (usize, usize, usize) {
    let bit = (at >> FIRST_BLOCK_BITS).checked_ilog2().map_or(0, |bit| bit + 1);
    let first = (1 << bit >> 1) << FIRST_BLOCK_BITS;
    (bit as usize, at - first, first.max(1 << FIRST_BLOCK_BITS))
}

/// Slots in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct SlotLog {
    /// All blocks that have slots are full, except for the last of them.
    blocks: Vec<Vec<CountSlot>>,
    len: usize,
    /// The maximum number of slots since blocks were last freed; the memory of these slots was written to.
    peak_len: usize,
}

impl SlotLog {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Prefetches a slot.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: usize) {
        let (block, at, _) = place(at);
        simd::prefetch(&self.blocks[block], at);
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> &CountSlot {
        let (block, at, _) = place(at);
        &self.blocks[block][at]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: usize) -> &mut CountSlot {
        let (block, at, _) = place(at);
        &mut self.blocks[block][at]
    }

    /// Appends a slot.
    pub(super) fn push(&mut self, slot: CountSlot) -> Result<()> {
        let (block, _, size) = place(self.len);
        if block == self.blocks.len() {
            self.blocks.push(room::for_items(size)?);
        }
        self.blocks[block].push(slot);
        self.len += 1;
        Ok(())
    }

    /// Removes all slots, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.peak_len = self.peak_len.max(self.len);
        self.blocks.iter_mut().for_each(Vec::clear);
        self.len = 0;
    }

    /// Frees the blocks without slots.
    pub(super) fn shrink(&mut self) {
        let used = if self.len == 0 { 0 } else { place(self.len - 1).0 + 1 };
        self.blocks.truncate(used);
        // All blocks before one have as many slots together as the block itself.
        let room = if used == 0 { 0 } else { 1 << (used - 1) << FIRST_BLOCK_BITS };
        self.peak_len = self.peak_len.max(self.len).min(room);
    }

    /// An upper bound of the bytes of memory once one more slot is added, including what sorting needs.
    /// Memory that was written to counts until it is freed.
    pub(super) fn memory_with_one(&self) -> usize {
        let touched = self.peak_len.max(self.len + 1).next_multiple_of(1 << FIRST_BLOCK_BITS);
        touched * (size_of::<CountSlot>() + size_of::<u32>())
            + self.blocks.len() * size_of::<Vec<CountSlot>>()
    }

    /// All slots, sorted by `order`.
    pub(super) fn sorted_by(
        &self,
        order: impl Fn(&CountSlot, &CountSlot) -> Ordering,
    ) -> Result<impl ExactSizeIterator<Item = &CountSlot>> {
        let mut numbers = room::collected(0..self.len as u32)?;
        numbers.sort_unstable_by(|&left, &right| order(self.get(left as usize), self.get(right as usize)));
        Ok(numbers.into_iter().map(|number| self.get(number as usize)))
    }

    /// The blocks with slots, in order.
    pub(super) fn into_blocks(self) -> impl Iterator<Item = Vec<CountSlot>> {
        self.blocks.into_iter().filter(|block| !block.is_empty())
    }
}
