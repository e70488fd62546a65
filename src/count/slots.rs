//! The slots of a result: a list in the order of first occurrence, or the tables in which they were counted.
//!
//! A training takes the words of tables in any order. So it does not wait for sorting, and slots are not
//! copied.

use std::ops::Range;

use once_cell::race::OnceBox;

use super::log::SlotLog;
use super::places::{ByteNumbers, ReservedPlaces};
use super::slot::CountSlot;
use crate::error::Result;
use crate::memory;
use crate::room;
use crate::simd;

/// A slot, and the arena of its pretoken, if that is long.
pub(super) type SlotOf<'s> = (&'s CountSlot, &'s [u8]);

/// The number of a block, and an index in it.
type SlotPlace = (u32, u32);

/// The slots of a result.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// Slots, and the number of the arena of the long pretokens among them.
    blocks: Vec<(Vec<CountSlot>, u32)>,
    arenas: Vec<Vec<u8>>,
    len: usize,
    /// Whether this is a list: one block, in the order of first occurrence.
    is_list: bool,
    /// What the places in tables stand for, and a place after all of them.
    numbers: ByteNumbers,
    end: u64,
    /// All slots of tables in the order of first occurrence, sorted when it is first asked for.
    order: OnceBox<Vec<SlotPlace>>,
}

/// Ranges of places that [`Slots::in_ranges`] keeps in order; within one, slots come in any order. No order
/// at all made training slower (multi 272 ms instead of 259).
const PLACE_RANGES: u64 = 1 << 11;
/// How many slots ahead of its use a slot is prefetched.
const SLOTS_AHEAD: usize = 12;
/// Slots of a list that [`Slots::drain`] frees at a time: 4 MB.
const DRAINED_SLOTS: usize = 1 << 17;

impl Slots {
    /// Distinct slots in the order of first occurrence.
    pub(super) fn list(slots: Vec<CountSlot>, long: Vec<u8>) -> Self {
        let len = slots.len();
        Slots { blocks: vec![(slots, 0)], arenas: vec![long], len, is_list: true, ..Slots::default() }
    }

    /// The slots of tables, whose places are in `spans`.
    pub(super) fn counted(tables: Vec<(SlotLog, Vec<u8>)>, spans: &[ReservedPlaces]) -> Self {
        let len = tables.iter().map(|(log, _)| log.len()).sum();
        let end = spans.iter().map(|span| span.start.saturating_add(span.len)).max().unwrap_or(0);
        let (mut blocks, mut arenas) = (Vec::new(), Vec::new());
        for (number, (log, long)) in (0..).zip(tables) {
            blocks.extend(log.into_blocks().map(|block| (block, number)));
            arenas.push(long);
        }
        Slots { blocks, arenas, len, end, numbers: ByteNumbers::new(spans), ..Slots::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of the long pretokens.
    pub(super) fn arena_bytes(&self) -> usize {
        self.arenas.iter().map(Vec::len).sum()
    }

    /// The place of a slot in bytes of text.
    pub(super) fn first(&self, slot: &CountSlot) -> u64 {
        self.numbers.of(slot.first)
    }

    fn at(&self, (block, at): SlotPlace) -> SlotOf<'_> {
        let (slots, arena) = &self.blocks[block as usize];
        (&slots[at as usize], &self.arenas[*arena as usize])
    }

    /// All slots, as they lie in memory.
    pub(super) fn unordered(&self) -> impl Iterator<Item = SlotOf<'_>> {
        let arena = |number: u32| &*self.arenas[number as usize];
        self.blocks
            .iter()
            .flat_map(move |(slots, number)| slots.iter().map(move |slot| (slot, arena(*number))))
    }

    fn places(&self) -> impl Iterator<Item = (SlotPlace, &CountSlot)> {
        let blocks = (0..).zip(&self.blocks);
        blocks.flat_map(|(block, (slots, _))| (0..).zip(slots).map(move |(at, slot)| ((block, at), slot)))
    }

    /// Some slots in the order of first occurrence.
    pub(super) fn ordered(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = SlotOf<'_>> + Clone {
        let order = self.order();
        range.map(|number| self.at(order.get(number).copied().unwrap_or((0, number as u32))))
    }

    /// The slot of a number in the order of first occurrence.
    pub(super) fn get(&self, number: u32) -> SlotOf<'_> {
        self.at(self.order().get(number as usize).copied().unwrap_or((0, number)))
    }

    /// The order of tables; nothing for a list.
    fn order(&self) -> &[SlotPlace] {
        if self.is_list {
            return &[];
        }
        self.order.get_or_init(|| {
            let (mut order, ends) = self.in_ranges(vec![(0, 0); self.len]);
            let mut start = 0;
            for end in ends {
                order[start..end].sort_unstable_by_key(|&place| self.at(place).0.first);
                start = end;
            }
            Box::new(order)
        })
    }

    /// Fails if there is not enough memory to sort the slots now.
    pub(super) fn check_memory_for_order(&self) -> Result<()> {
        let is_known = self.is_list || self.order.get().is_some();
        if is_known { Ok(()) } else { room::check_available(self.len * size_of::<SlotPlace>()) }
    }

    /// Writes the places of all slots to `places`, sorted by ranges of first occurrence, and returns the end
    /// of each range.
    fn in_ranges(&self, mut places: Vec<SlotPlace>) -> (Vec<SlotPlace>, Vec<usize>) {
        let width = self.end / PLACE_RANGES + 1;
        let range = |slot: &CountSlot| (slot.first / width).min(PLACE_RANGES - 1) as usize;
        let mut next = vec![0; PLACE_RANGES as usize + 1];
        self.unordered().for_each(|(slot, _)| next[range(slot) + 1] += 1);
        for number in 0..PLACE_RANGES as usize {
            next[number + 1] += next[number];
        }
        for (place, slot) in self.places() {
            let at = &mut next[range(slot)];
            places[*at] = place;
            *at += 1;
        }
        (places, next)
    }

    /// Gives each slot to `take`, and frees those of a list piece by piece. Unless they are wanted
    /// `in_order`, they come approximately in the order of first occurrence, so that words that occur
    /// together stay together in memory.
    ///
    /// # Errors
    /// Those of `take`; [`crate::Error::OutOfMemory`].
    pub(super) fn drain(
        mut self,
        in_order: bool,
        mut take: impl FnMut(SlotOf<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.is_list && in_order {
            self.check_memory_for_order()?;
            return self.ordered(0..self.len).try_for_each(take);
        }
        if !self.is_list {
            let (places, _) = self.in_ranges(room::filled((0, 0), self.len)?);
            return places.iter().enumerate().try_for_each(|(number, &place)| {
                if let Some(&(block, ahead)) = places.get(number + SLOTS_AHEAD) {
                    simd::prefetch(&self.blocks[block as usize].0, ahead as usize);
                }
                take(self.at(place))
            });
        }
        // Memory is given back from the end of a list.
        for (slots, arena) in &mut self.blocks {
            slots.reverse();
            while !slots.is_empty() {
                let kept = slots.len().saturating_sub(DRAINED_SLOTS);
                let long = &self.arenas[*arena as usize];
                slots.drain(kept..).rev().try_for_each(|slot| take((&slot, long)))?;
                memory::release_unused(slots);
            }
        }
        Ok(())
    }
}
