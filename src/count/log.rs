//! Slots in the order they came, in blocks: no slot is ever moved, and no memory is touched before it is needed.

use std::cmp::Ordering;

use super::slot::Slot;
use crate::simd;

/// Slots in a block.
const BLOCK: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// All but the last one of those with slots in them are full.
    blocks: Vec<Vec<Slot>>,
    len: usize,
}

impl Log {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Asks for the memory of a slot.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: usize) {
        simd::prefetch(&self.blocks[at / BLOCK], at % BLOCK);
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> &Slot {
        &self.blocks[at / BLOCK][at % BLOCK]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.blocks[at / BLOCK][at % BLOCK]
    }

    pub(super) fn push(&mut self, slot: Slot) {
        let block = self.len / BLOCK;
        if block == self.blocks.len() {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        self.blocks[block].push(slot);
        self.len += 1;
    }

    /// Forgets all, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.blocks.iter_mut().for_each(Vec::clear);
        self.len = 0;
    }

    /// Bytes of memory at the most once there is one more, with those that sorting takes.
    pub(super) fn memory_with_one(&self) -> usize {
        let blocks = self.blocks.len().max(self.len / BLOCK + 1);
        blocks * BLOCK * (size_of::<Slot>() + size_of::<u32>()) + blocks * size_of::<Vec<Slot>>()
    }

    /// All slots in some order.
    pub(super) fn sorted_by(&self, order: impl Fn(&Slot, &Slot) -> Ordering) -> impl Iterator<Item = &Slot> {
        let mut numbers: Vec<u32> = (0..self.len as u32).collect();
        numbers.sort_unstable_by(|&one, &other| order(self.get(one as usize), self.get(other as usize)));
        numbers.into_iter().map(|number| self.get(number as usize))
    }

    /// The blocks, in order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &[Slot]> {
        self.blocks.iter().map(Vec::as_slice)
    }
}
