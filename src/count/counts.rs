//! Pretoken counts: what counting ends with and training starts from.

use std::cmp::Reverse;
use std::sync::Arc;

use hashbrown::HashTable;

use super::ordered::{CountTable, Ordered, Slots, Unordered};
use super::places::{Span, sort_by_place};
use super::slot::{CountSlot, copied, hash_long, store};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::once::Once;
use crate::pretokenize::key::Key;
use crate::room;

/// The largest count that is kept exact.
const MAX_COUNT: u64 = 1 << 63;

/// How often each pretoken occurs, and where it occurs first, in the order of first occurrence.
///
/// 32 bytes a pretoken, and its bytes where it has more than 15. A place is a number that only has an order: that of
/// the first byte in all documents, one behind the other, as counted.
#[derive(Clone, Debug, Default)]
pub struct PretokenCounts {
    slots: Ordered,
    total: u64,
    /// A place behind all that was counted.
    end: u64,
    index: Index,
}

/// Finds pretokens: made when one is looked for.
#[derive(Debug, Default)]
struct Index(Once<Arc<HashTable<u32>>>);

impl Clone for Index {
    fn clone(&self) -> Self {
        Index::default()
    }
}

/// A pretoken with its count, and where it occurs first.
pub type CountedPretoken<'a> = (&'a [u8], u64, u64);

impl PretokenCounts {
    /// From slots in the order of first occurrence, none of them twice, in so many bytes of text.
    pub(super) fn from_slots(slots: Vec<CountSlot>, long: Vec<u8>, end: u64) -> Result<Self> {
        let mut total = 0;
        for slot in &slots {
            total = sum(total, slot.count).ok_or_else(|| overflow(slot.pretoken(&long)))?;
        }
        let end = end_of(&slots, end);
        Ok(PretokenCounts { slots: Slots { slots, long }.into(), total, end, index: Index::default() })
    }

    /// From the tables that text was counted in; `spans` are all places.
    pub(super) fn from_tables(tables: Vec<CountTable>, spans: Vec<Span>) -> Result<Self> {
        let mut total = 0;
        for (log, long) in &tables {
            for slot in log.blocks().flatten() {
                total = sum(total, slot.count).ok_or_else(|| overflow(slot.pretoken(long)))?;
            }
        }
        let end = spans.iter().map(|span| span.len).sum();
        Ok(PretokenCounts { slots: Ordered::counted(tables, spans), total, end, index: Index::default() })
    }

    /// From pretokens with their counts and places. One that comes again is added to the first; empty ones, and those
    /// that never occur, are left out. `end` is a place behind all of them, if that is not the one behind the last.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] where the total passes 2^63; [`Error::TooManyPretokens`] for 2^32 or more;
    /// [`Error::Interrupted`].
    pub fn from_items<'a>(
        items: impl Iterator<Item = CountedPretoken<'a>>,
        end: u64,
        control: &Control,
    ) -> Result<Self> {
        let mut counts = Self::default();
        counts.extend(items, control)?;
        counts.index = Index::default();
        let mut slots = std::mem::take(&mut counts.slots).into_slots();
        if !slots.slots.is_sorted_by_key(|slot| slot.first) {
            sort_by_place(&mut slots.slots, control)?;
        }
        counts.end = end_of(&slots.slots, end);
        counts.slots = slots.into();
        Ok(counts)
    }

    /// The sum of both: all of `other` comes after all of this.
    ///
    /// # Errors
    /// Same as [`PretokenCounts::from_items`].
    pub fn plus(&self, other: &PretokenCounts, control: &Control) -> Result<Self> {
        self.check_memory_for_order()?;
        other.check_memory_for_order()?;
        // A copy of these, an index, and what comes to them.
        room::check_available(self.copy_bytes() + other.copy_bytes())?;
        let mut both = self.clone();
        if let Some(end) = self.end.checked_add(other.end) {
            let moved = |(pretoken, count, first)| (pretoken, count, self.end + first);
            both.extend(other.iter().map(moved), control)?;
            both.end = end;
        } else {
            // Places have only an order: numbers will do.
            let mut slots = std::mem::take(&mut both.slots).into_slots();
            (0..).zip(&mut slots.slots).for_each(|(number, slot)| slot.first = number);
            let next = slots.slots.len() as u64;
            both.slots = slots.into();
            let numbered = (next..).zip(other.iter());
            both.extend(numbered.map(|(number, (pretoken, count, _))| (pretoken, count, number)), control)?;
            both.end = next + other.len() as u64;
        }
        Ok(both)
    }

    fn extend<'a>(
        &mut self,
        items: impl Iterator<Item = CountedPretoken<'a>>,
        control: &Control,
    ) -> Result<()> {
        let index = std::mem::take(&mut self.index).0.into_inner();
        let mut index = index.map_or_else(|| self.make_index(control), Ok)?;
        let Slots { slots: mut all, mut long } = std::mem::take(&mut self.slots).into_slots();
        for (number, (pretoken, count, first)) in items.enumerate() {
            if number % 4096 == 0 {
                control.check()?;
            }
            if pretoken.is_empty() || count == 0 {
                continue;
            }
            self.total = sum(self.total, count).ok_or_else(|| overflow(pretoken))?;
            let (mut slot, hash) = sought(pretoken, count, first);
            match index.find(hash, |&at| all[at as usize].pretoken(&long) == pretoken) {
                Some(&at) => all[at as usize].add(&slot),
                None => {
                    let at = u32::try_from(all.len()).map_err(|_| too_many(&all, &long))?;
                    if slot.is_long() {
                        slot = slot.moved_to(store(&mut long, pretoken)?);
                    }
                    room::push(&mut all, slot)?;
                    index
                        .try_reserve(1, |&at| all[at as usize].hash())
                        .map_err(|_| room::out_of_memory(0))?;
                    index.insert_unique(hash, at, |&at| all[at as usize].hash());
                }
            }
        }
        self.slots = Slots { slots: all, long }.into();
        self.index = Index(Arc::new(index).into());
        Ok(())
    }

    fn make_index(&self, control: &Control) -> Result<HashTable<u32>> {
        let Slots { slots, long } = self.slots.slots();
        let mut index = HashTable::new();
        let hash = |&at: &u32| slots[at as usize].hash();
        index.try_reserve(slots.len(), hash).map_err(|_| room::out_of_memory(8 * slots.len()))?;
        for (at, slot) in slots.iter().enumerate() {
            if at % 4096 == 0 {
                control.check()?;
            }
            let at = u32::try_from(at).map_err(|_| too_many(slots, long))?;
            index.insert_unique(slot.hash(), at, hash);
        }
        Ok(index)
    }

    /// How many different pretokens there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many pretokens were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes of all different pretokens together.
    pub fn pretoken_bytes(&self) -> u64 {
        self.slots.bytes()
    }

    /// The count of a pretoken; 0 for one that does not occur. The first time takes as long as looking at all.
    ///
    /// # Errors
    /// Same as [`PretokenCounts::from_items`].
    pub fn get(&self, pretoken: &[u8], control: &Control) -> Result<u64> {
        self.check_memory_for_order()?;
        let index = match self.index.0.get() {
            Some(index) => index,
            None => {
                let made = self.make_index(control)?;
                self.index.0.get_or_make(|| Arc::new(made))
            }
        };
        if pretoken.is_empty() {
            return Ok(0);
        }
        let (_, hash) = sought(pretoken, 1, 0);
        let Slots { slots, long } = self.slots.slots();
        let found = index.find(hash, |&at| slots[at as usize].pretoken(long) == pretoken);
        Ok(found.map_or(0, |&at| slots[at as usize].count))
    }

    /// A place behind all that was counted: bytes of text, for documents.
    pub fn end_place(&self) -> u64 {
        self.end
    }

    /// The pretokens with their counts and first places, in the order of first occurrence.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CountedPretoken<'_>> + Clone {
        let Slots { slots, long } = self.slots.slots();
        slots.iter().map(|slot| (slot.pretoken(long), slot.count, slot.first))
    }

    /// Up to `count` of the pretokens with their counts and first places, from number `start` on.
    pub fn slice(
        &self,
        start: usize,
        count: usize,
    ) -> impl ExactSizeIterator<Item = CountedPretoken<'_>> + Clone {
        let Slots { slots, long } = self.slots.slots();
        let start = start.min(slots.len());
        let end = start.saturating_add(count).min(slots.len());
        slots[start..end].iter().map(|slot| (slot.pretoken(long), slot.count, slot.first))
    }

    /// The pretokens with their counts, in the order of their first occurrence. It copies nothing, so it can be gone
    /// through again and again.
    pub fn words(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> + Clone {
        self.iter().map(|(pretoken, count, _)| (pretoken, count))
    }

    /// The pretokens with their counts in no order. All other memory is freed.
    pub fn into_words(self) -> Unordered {
        self.slots.into_unordered()
    }

    /// The pretokens with their counts, in the order of first occurrence, as a list.
    pub fn in_order(&self) -> Vec<(&[u8], u64)> {
        self.words().collect()
    }

    /// The `count` most frequent pretokens, the first-seen first of equals.
    pub fn most_common(&self, count: usize) -> Vec<(&[u8], u64)> {
        let Slots { slots, long } = self.slots.slots();
        let mut places: Vec<usize> = (0..slots.len()).collect();
        let key = |&at: &usize| (Reverse(slots[at].count), at);
        if count < places.len() {
            places.select_nth_unstable_by_key(count, key);
            places.truncate(count);
        }
        places.sort_unstable_by_key(key);
        let item = |at: usize| (slots[at].pretoken(long), slots[at].count);
        places.into_iter().map(item).collect()
    }

    /// Without the pretokens that occur less often than `least`.
    pub fn at_least(&self, least: u64) -> Self {
        let (mut slots, mut long, mut total) = (Vec::new(), Vec::new(), 0);
        let all = self.slots.slots();
        for slot in all.slots.iter().filter(|slot| slot.count >= least) {
            total += slot.count;
            let pretoken = slot.pretoken(&all.long);
            slots.push(if slot.is_long() { slot.moved_to(copied(&mut long, pretoken)) } else { *slot });
        }
        PretokenCounts { slots: Slots { slots, long }.into(), total, end: self.end, index: Index::default() }
    }

    /// Bytes of a copy, about.
    fn copy_bytes(&self) -> usize {
        let Slots { slots, long } = self.slots.slots();
        slots.len() * (size_of::<CountSlot>() + 16) + long.len()
    }

    /// Fails where there would be no memory to put the pretokens in order now, which is done when that is asked for.
    pub(crate) fn check_memory_for_order(&self) -> Result<()> {
        self.slots.check_memory_for_order()
    }

    /// Fails where there would be no memory to copy the counts and sort the copy.
    #[cfg(feature = "python")]
    pub(crate) fn check_memory_for_copy(&self) -> Result<()> {
        self.check_memory_for_order()?;
        room::check_available(2 * self.copy_bytes())
    }

    /// Bytes of memory that this takes.
    pub fn memory(&self) -> u64 {
        let Slots { slots, long } = self.slots.slots();
        (slots.capacity() * size_of::<CountSlot>() + long.capacity()) as u64
    }
}

fn too_many(slots: &[CountSlot], long: &[u8]) -> Error {
    let bytes = slots.iter().map(|slot| slot.pretoken(long).len() as u64).sum();
    Error::TooManyPretokens { bytes, limit: u32::MAX.into() }
}

/// A place behind all of these, in order, and not before `end`.
fn end_of(slots: &[CountSlot], end: u64) -> u64 {
    slots.last().map_or(end, |slot| end.max(slot.first.saturating_add(1)))
}

/// A slot to look for, with its hash. A long one has no place yet.
fn sought(pretoken: &[u8], count: u64, first: u64) -> (CountSlot, u64) {
    let slot = match Key::new(pretoken, 0, pretoken.len()) {
        Key::NONE => CountSlot::long(hash_long(pretoken), 0, count, first),
        key => CountSlot::short(key, count, first),
    };
    (slot, slot.hash())
}

fn sum(one: u64, other: u64) -> Option<u64> {
    one.checked_add(other).filter(|&sum| sum <= MAX_COUNT)
}

fn overflow(pretoken: &[u8]) -> Error {
    Error::CountOverflow { left: pretoken.to_vec(), right: Vec::new() }
}
