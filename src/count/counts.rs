//! Counts of pretokens: the result of counting, from which training starts.

use std::cmp::Reverse;

use hashbrown::HashTable;
use once_cell::race::OnceBox;

use super::frequencies::{Frequencies, Frequent};
use super::log::SlotLog;
use super::places::{ReservedPlaces, sort_by_place};
use super::slot::CountSlot;
use super::slots::Slots;
use crate::control::{Control, PRETOKENS_PER_CHECK};
use crate::error::{Error, Result, show};
use crate::room;

/// The highest count, and the highest sum of counts, that is accepted. Sums of two such counts do not
/// overflow a `u64`.
pub(crate) const MAX_COUNT: u64 = 1 << 63;

/// Pretokens with their counts and the places of their first occurrences, in the order of these places.
///
/// Memory: 32 bytes for each pretoken, and the bytes of those with more than 15. A place is the number of
/// bytes before the first occurrence in all documents, one after the other; only the order of places has a
/// meaning.
#[derive(Debug, Default)]
pub struct PretokenCounts {
    slots: Slots,
    total: u64,
    /// A place after all occurrences.
    end: u64,
    /// Finds the number of a pretoken by its hash. Made when a pretoken is first looked up.
    index: OnceBox<HashTable<u32>>,
}

/// A pretoken, its count and the place of its first occurrence.
pub type CountedPretoken<'a> = (&'a [u8], u64, u64);

impl PretokenCounts {
    /// Makes counts from slots, which must be distinct and in the order of first occurrence; `end` is a place
    /// after all of them.
    pub(super) fn from_slots(slots: Vec<CountSlot>, long: Vec<u8>, end: u64) -> Result<Self> {
        let end = end_of(&slots, end);
        Self::with_total(Slots::list(slots, long), end)
    }

    /// Makes counts from the tables of counting; `spans` are the ranges of all places.
    pub(super) fn from_tables(tables: Vec<(SlotLog, Vec<u8>)>, spans: &[ReservedPlaces]) -> Result<Self> {
        Self::with_total(Slots::counted(tables, spans), spans.iter().map(|span| span.len).sum())
    }

    fn with_total(slots: Slots, end: u64) -> Result<Self> {
        let total = slots.unordered().try_fold(0, |total, (slot, long)| {
            sum(total, slot.count).ok_or_else(|| overflow(slot.pretoken(long)))
        })?;
        Ok(PretokenCounts { slots, total, end, index: OnceBox::new() })
    }

    /// Makes counts from pretokens with their counts and places. Counts of equal pretokens are added; empty
    /// pretokens and counts of 0 are left out. The result ends at `end`, or directly after the last place if
    /// that is later.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] if the total passes 2^63; [`Error::TooManyPretokens`] for 2^32 pretokens or
    /// more; [`Error::Interrupted`].
    pub fn from_items<'a>(
        items: impl Iterator<Item = CountedPretoken<'a>>,
        end: u64,
        control: &Control,
    ) -> Result<Self> {
        let (mut slots, mut long, mut total) = (Vec::<CountSlot>::new(), Vec::new(), 0);
        let mut index = HashTable::<u32>::new();
        for (number, (pretoken, count, first)) in items.enumerate() {
            if number % PRETOKENS_PER_CHECK == 0 {
                control.check()?;
            }
            if pretoken.is_empty() || count == 0 {
                continue;
            }
            total = sum(total, count).ok_or_else(|| overflow(pretoken))?;
            let slot = CountSlot::of(pretoken, count, first);
            match index.find(slot.hash(), |&at| slots[at as usize].pretoken(&long) == pretoken) {
                Some(&at) => slots[at as usize].add(&slot),
                None => {
                    let at = u32::try_from(slots.len()).map_err(|_| too_many(&slots, &long))?;
                    room::push(&mut slots, slot.stored(pretoken, &mut long)?)?;
                    let hash = |&at: &u32| slots[at as usize].hash();
                    index.try_reserve(1, hash).map_err(|_| room::out_of_memory(0))?;
                    index.insert_unique(slot.hash(), at, hash);
                }
            }
        }
        if !slots.is_sorted_by_key(|slot| slot.first) {
            sort_by_place(&mut slots, control)?;
        }
        let end = end_of(&slots, end);
        Ok(PretokenCounts { slots: Slots::list(slots, long), total, end, index: OnceBox::new() })
    }

    /// The sum of two counts. All places of `other` come after those of `self`.
    pub fn plus(&self, other: &PretokenCounts, control: &Control) -> Result<Self> {
        self.check_memory_for_copy()?;
        other.check_memory_for_copy()?;
        let Some(end) = self.end.checked_add(other.end) else {
            // Only the order of places has a meaning, so they are replaced by numbers from 0 on.
            let both = (0..).zip(self.words().chain(other.words()));
            let end = (self.len() + other.len()) as u64;
            let items = both.map(|(number, (pretoken, count))| (pretoken, count, number));
            return Self::from_items(items, end, control);
        };
        let moved = other.iter().map(|(pretoken, count, first)| (pretoken, count, self.end + first));
        Self::from_items(self.iter().chain(moved), end, control)
    }

    /// Finds the numbers of pretokens by their hashes. A pretoken that is there twice, in a file, is an
    /// error.
    pub(super) fn make_index(&self, control: &Control) -> Result<HashTable<u32>> {
        let mut index = HashTable::new();
        if u32::try_from(self.len()).is_err() {
            let bytes = self.slots.arena_bytes() as u64;
            return Err(Error::TooManyPretokens { bytes, limit: u32::MAX.into() });
        }
        let hash = |&at: &u32| self.slots.get(at).0.hash();
        index.try_reserve(self.len(), hash).map_err(|_| room::out_of_memory(8 * self.len()))?;
        for (at, (slot, long)) in (0..).zip(self.slots.ordered(0..self.len())) {
            if (at as usize).is_multiple_of(PRETOKENS_PER_CHECK) {
                control.check()?;
            }
            let is_same = |&other: &u32| {
                let (other, arena) = self.slots.get(other);
                other.is_same(arena, slot, long)
            };
            if index.find(slot.hash(), is_same).is_some() {
                let pretoken = show(slot.pretoken(long));
                return Err(Error::Invalid(format!("the pretoken {pretoken} occurs twice in the file")));
            }
            index.insert_unique(slot.hash(), at, hash);
        }
        Ok(index)
    }

    /// The number of different pretokens.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no pretokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The count of a pretoken; `None` if it is not there. The first call looks at all pretokens, to make an
    /// index.
    pub fn get(&self, pretoken: &[u8], control: &Control) -> Result<Option<u64>> {
        self.check_memory_for_order()?;
        let index = self.index.get_or_try_init(|| self.make_index(control).map(Box::new))?;
        if pretoken.is_empty() {
            return Ok(None);
        }
        let slot = |at| self.slots.get(at);
        let is_it = |&at: &u32| slot(at).0.pretoken(slot(at).1) == pretoken;
        let at = index.find(CountSlot::of(pretoken, 1, 0).hash(), is_it);
        Ok(at.map(|&at| slot(at).0.count))
    }

    /// A place after all occurrences; for documents their bytes of text.
    pub fn end_place(&self) -> u64 {
        self.end
    }

    /// The pretokens with their counts and first places, in the order of first occurrence.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CountedPretoken<'_>> + Clone {
        self.slice(0, self.len())
    }

    /// Up to `count` pretokens with their counts and first places, from index `start` on.
    pub fn slice(
        &self,
        start: usize,
        count: usize,
    ) -> impl ExactSizeIterator<Item = CountedPretoken<'_>> + Clone {
        let start = start.min(self.len());
        let end = start.saturating_add(count).min(self.len());
        let slots = self.slots.ordered(start..end);
        slots.map(|(slot, long)| (slot.pretoken(long), slot.count, self.slots.first(slot)))
    }

    /// The pretokens with their counts, in the order of first occurrence. The iterator copies nothing, so it
    /// can be made again at no cost.
    pub fn words(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> + Clone {
        self.slots.ordered(0..self.len()).map(|(slot, long)| (slot.pretoken(long), slot.count))
    }

    /// The pretokens with their counts, as they lie in memory, which is the fastest.
    pub(crate) fn unordered_words(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.slots.unordered().map(|(slot, long)| (slot.pretoken(long), slot.count))
    }

    /// Gives each pretoken with its count to `take`, in the order of first occurrence if `in_order` says so,
    /// and frees the memory that this needs no longer.
    ///
    /// # Errors
    /// Those of `take`; [`Error::OutOfMemory`].
    pub(crate) fn drain(self, in_order: bool, mut take: impl FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        self.slots.drain(in_order, |(slot, long)| take(slot.pretoken(long), slot.count))
    }

    /// The `count` most frequent pretokens; of equally frequent ones, the one that occurs first comes first.
    pub fn most_common(&self, count: usize) -> Result<Vec<(&[u8], u64)>> {
        self.check_memory_for_order()?;
        let mut words = room::collected((0..).zip(self.words()))?;
        let key = |&(at, (_, count)): &(usize, (&[u8], u64))| (Reverse(count), at);
        if count < words.len() {
            words.select_nth_unstable_by_key(count, key);
            words.truncate(count);
        }
        words.sort_unstable_by_key(key);
        Ok(words.into_iter().map(|(_, word)| word).collect())
    }

    /// A copy without the pretokens that occur less often than `min_count`.
    pub fn at_least(&self, min_count: u64, control: &Control) -> Result<Self> {
        self.check_memory_for_copy()?;
        Self::from_items(self.iter().filter(|&(_, count, _)| count >= min_count), self.end, control)
    }

    /// Fails if there is not enough memory to sort the pretokens, which happens when their order is first
    /// asked for.
    pub fn check_memory_for_order(&self) -> Result<()> {
        self.slots.check_memory_for_order()
    }

    /// Fails if there is not enough memory to sort the counts and to copy them.
    fn check_memory_for_copy(&self) -> Result<()> {
        self.check_memory_for_order()?;
        room::check_available(self.len() * (size_of::<CountSlot>() + 16) + self.slots.arena_bytes())
    }

    /// The distinct pretokens that occur at least so often, for some counts from 1 on.
    pub fn frequencies(&self) -> Vec<Frequent> {
        let mut frequencies = Frequencies::default();
        self.slots.unordered().for_each(|(slot, long)| frequencies.add(slot, long));
        frequencies.sums()
    }
}

fn too_many(slots: &[CountSlot], long: &[u8]) -> Error {
    let bytes = slots.iter().map(|slot| slot.pretoken(long).len() as u64).sum();
    Error::TooManyPretokens { bytes, limit: u32::MAX.into() }
}

/// A place after all of `slots`, which are in order, and not before `end`.
fn end_of(slots: &[CountSlot], end: u64) -> u64 {
    slots.last().map_or(end, |slot| end.max(slot.first.saturating_add(1)))
}

pub(super) fn sum(left: u64, right: u64) -> Option<u64> {
    left.checked_add(right).filter(|&sum| sum <= MAX_COUNT)
}

pub(super) fn overflow(pretoken: &[u8]) -> Error {
    Error::CountOverflow { left: pretoken.to_vec(), right: Vec::new() }
}
