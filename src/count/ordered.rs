//! The slots of a result, sorted when their order is first asked for.
//!
//! A training takes the words in any order. So it does not wait for sorting, and needs no copy of the slots
//! beside the tables in which they were counted.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use once_cell::race::OnceBox;

use super::log::SlotLog;
use super::places::{ByteNumbers, Span};
use super::slot::{CountSlot, copied};
use crate::error::Result;
use crate::memory;
use crate::room;

/// A table of counting: its slots, and the arena of its long pretokens.
pub(super) type CountTable = (SlotLog, Vec<u8>);

/// Slots in the order of first occurrence, and the arena of the long pretokens.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    pub(super) slots: Vec<CountSlot>,
    pub(super) long: Vec<u8>,
}

/// The slots of a result. They stay in the tables of counting until their order is first asked for.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    slots: OnceBox<Arc<Slots>>,
    /// The tables, until `slots` is made. No thread ever waits for this lock: it is locked for writing only
    /// once `slots` is there and nobody needs the tables any more. So a child that is forked while another
    /// thread reads the tables can read them, too.
    counted: RwLock<CountedTables>,
    /// The number of slots in the tables.
    len: usize,
}

/// Tables of counting, and the spans of places that they use.
type CountedTables = (Vec<CountTable>, Vec<Span>);

impl Ordered {
    /// Makes a result of tables of counting and their spans.
    pub(super) fn counted(tables: Vec<CountTable>, spans: Vec<Span>) -> Self {
        let len = tables.iter().map(|(log, _)| log.len()).sum();
        Ordered { slots: OnceBox::new(), counted: RwLock::new((tables, spans)), len }
    }

    /// The number of slots.
    pub(super) fn len(&self) -> usize {
        self.slots.get().map_or(self.len, |slots| slots.slots.len())
    }

    /// Fails if there is not enough memory to sort the slots now.
    pub(super) fn check_memory_for_order(&self) -> Result<()> {
        if self.slots.get().is_some() {
            return Ok(());
        }
        let long: usize =
            self.tables().map_or(0, |counted| counted.0.iter().map(|(_, long)| long.len()).sum());
        // Twice the bytes of long pretokens: their list may have twice the memory it needs when it grows.
        room::check_available(self.len * size_of::<CountSlot>() + 2 * long)
    }

    /// All slots, in order of first occurrence.
    pub(super) fn slots(&self) -> &Slots {
        match self.slots.get() {
            Some(slots) => slots,
            None => self.put_in_order(),
        }
    }

    /// Makes the sorted slots, then drops the tables. In between both exist, so a child that is forked at
    /// that moment finds one of them whole.
    #[cold]
    fn put_in_order(&self) -> &Slots {
        let slots = self.slots.get_or_init(|| {
            let slots = self.tables().map(|counted| in_order(&counted, self.len)).unwrap_or_default();
            Box::new(Arc::new(slots))
        });
        // If another thread still reads the tables, they are kept until this value is dropped.
        if let Ok(mut counted) = self.counted.try_write() {
            let tables = std::mem::take(&mut *counted);
            drop(counted);
            drop(tables);
        }
        slots
    }

    /// The tables; `None` if another thread is dropping them.
    fn tables(&self) -> Option<RwLockReadGuard<'_, CountedTables>> {
        match self.counted.try_read() {
            Ok(counted) => Some(counted),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// All slots in order, as a value that can be changed.
    pub(super) fn into_slots(self) -> Slots {
        self.slots();
        let Ordered { slots, .. } = self;
        into_value(slots).unwrap_or_default()
    }

    /// The slots in any order, without sorting.
    pub(super) fn into_unordered(self) -> Unordered {
        if let Some(slots) = into_value(self.slots) {
            return Unordered { tables: Vec::new(), end: 0, slots };
        }
        let (tables, spans) = self.counted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let end = spans.iter().map(|span| span.start.saturating_add(span.len)).max().unwrap_or(0);
        Unordered { tables, end, slots: Slots::default() }
    }

    /// Calls `visit` with each slot and its arena, in any order and without sorting.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&CountSlot, &[u8])) {
        if self.slots.get().is_none()
            && let Some(counted) = self.tables()
            && !counted.0.is_empty()
        {
            for (log, long) in &counted.0 {
                log.blocks().flatten().for_each(|slot| visit(slot, long));
            }
            return;
        }
        let Slots { slots, long } = self.slots();
        slots.iter().for_each(|slot| visit(slot, long));
    }
}

impl From<Slots> for Ordered {
    fn from(slots: Slots) -> Self {
        Ordered { slots: OnceBox::with_value(Box::new(Arc::new(slots))), ..Ordered::default() }
    }
}

impl Clone for Ordered {
    fn clone(&self) -> Self {
        Ordered::from(self.slots().clone())
    }
}

/// The value of a cell whose value is not shared.
pub(super) fn into_value<T>(cell: OnceBox<Arc<T>>) -> Option<T> {
    let value = cell.get().cloned();
    drop(cell);
    Arc::into_inner(value?)
}

/// Copies the slots of all tables and sorts the copy.
fn in_order((tables, spans): &CountedTables, len: usize) -> Slots {
    let (mut slots, mut long) = (Vec::with_capacity(len), Vec::new());
    for (log, own) in tables {
        for slot in log.blocks().flatten() {
            let moved = slot.is_long().then(|| slot.moved_to(copied(&mut long, slot.pretoken(own))));
            slots.push(moved.unwrap_or(*slot));
        }
    }
    slots.sort_unstable_by_key(|slot| slot.first);
    let numbers = ByteNumbers::new(spans);
    slots.iter_mut().for_each(|slot| slot.first = numbers.of(slot.first));
    Slots { slots, long }
}

/// Pretokens with their counts in any order, in tables or in a list.
#[derive(Debug)]
pub struct Unordered {
    tables: Vec<CountTable>,
    /// A place after all occurrences in the tables.
    end: u64,
    slots: Slots,
}

/// Ranges of places that [`Unordered::words`] keeps in order; within one, words come in any order. No order at all
/// made training slower (multi 272 ms instead of 259).
const PLACE_RANGES: u64 = 1 << 11;
/// How many slots ahead of its use a slot is prefetched.
const SLOTS_AHEAD: usize = 12;

/// Slots that [`Unordered::drain`] frees at a time: 4 MB.
const DRAINED_SLOTS: usize = 1 << 17;

impl Unordered {
    /// The pretokens with their counts in the order in which they lie in memory, which is the fastest.
    pub fn in_table_order(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let tables = self.tables.iter();
        let counted = tables.flat_map(|(log, long)| log.blocks().flatten().map(|slot| word(slot, long)));
        counted.chain(self.in_order())
    }

    /// The pretokens with their counts, approximately in the order of first occurrence, so that words that
    /// occur together stay together in memory.
    pub fn words(&self) -> Result<impl Iterator<Item = (&[u8], u64)>> {
        let numbers = self.numbers()?;
        let counted = (0..numbers.len()).map(move |at| {
            if let Some(&(table, ahead)) = numbers.get(at + SLOTS_AHEAD) {
                self.tables[table as usize].0.prefetch(ahead as usize);
            }
            let (table, at) = numbers[at];
            let (log, long) = &self.tables[table as usize];
            word(log.get(at as usize), long)
        });
        Ok(counted.chain(self.in_order()))
    }

    /// Gives each pretoken with its count to `take`, in the order of [`Unordered::words`], and frees the slots of a list
    /// piece by piece.
    ///
    /// # Errors
    /// Those of `take`; [`crate::Error::OutOfMemory`].
    pub fn drain(mut self, mut take: impl FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        if !self.tables.is_empty() {
            return self.words()?.try_for_each(|(pretoken, count)| take(pretoken, count));
        }
        // Memory is given back from the end of a list.
        let Slots { slots, long } = &mut self.slots;
        slots.reverse();
        while !slots.is_empty() {
            let kept = slots.len().saturating_sub(DRAINED_SLOTS);
            slots.drain(kept..).rev().try_for_each(|slot| take(slot.pretoken(long), slot.count))?;
            memory::release_unused(slots);
        }
        Ok(())
    }

    fn in_order(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.slots.slots.iter().map(|slot| word(slot, &self.slots.long))
    }

    /// The table and the index in it of each slot, sorted by ranges of places.
    fn numbers(&self) -> Result<Vec<(u32, u32)>> {
        let width = self.end / PLACE_RANGES + 1;
        let stretch = |slot: &CountSlot| (slot.first / width).min(PLACE_RANGES - 1) as usize;
        let all = || self.tables.iter().flat_map(|(log, _)| log.blocks().flatten());
        let mut starts = [0; PLACE_RANGES as usize + 1];
        all().for_each(|slot| starts[stretch(slot) + 1] += 1);
        for stretch in 0..PLACE_RANGES as usize {
            starts[stretch + 1] += starts[stretch];
        }
        let mut numbers = room::filled((0, 0), starts[PLACE_RANGES as usize])?;
        for (table, (log, _)) in (0..).zip(&self.tables) {
            for (at, slot) in (0..).zip(log.blocks().flatten()) {
                let next = &mut starts[stretch(slot)];
                numbers[*next] = (table, at);
                *next += 1;
            }
        }
        Ok(numbers)
    }
}

fn word<'s>(slot: &'s CountSlot, long: &'s [u8]) -> (&'s [u8], u64) {
    (slot.pretoken(long), slot.count)
}
