//! Counts of pretokens: the result of counting, from which training starts.

use std::cmp::Reverse;
use std::sync::Arc;

use hashbrown::HashTable;
use once_cell::race::OnceBox;

use super::frequencies::{Frequencies, Frequent};
use super::ordered::{CountTable, Ordered, Slots, Unordered, into_value};
use super::places::{Span, sort_by_place};
use super::slot::{CountSlot, copied};
use crate::control::{Control, PRETOKENS_PER_CHECK};
use crate::error::{Error, Result};
use crate::room;

/// The highest count, and the highest sum of counts, that is accepted. Sums of two such counts do not
/// overflow a `u64`.
pub(crate) const MAX_COUNT: u64 = 1 << 63;

/// Pretokens with their counts and the places of their first occurrences, in the order of these places.
///
/// Memory: 32 bytes for each pretoken, and the bytes of those with more than 15. A place is the number of
/// bytes before the first occurrence in all documents, one after the other; only the order of places has a
/// meaning.
#[derive(Clone, Debug, Default)]
pub struct PretokenCounts {
    slots: Ordered,
    total: u64,
    /// A place after all occurrences.
    end: u64,
    index: Index,
}

/// Finds a pretoken's slot by its hash. Made when a pretoken is first looked up.
#[derive(Debug, Default)]
struct Index(OnceBox<Arc<HashTable<u32>>>);

impl Clone for Index {
    fn clone(&self) -> Self {
        Index::default()
    }
}

/// A pretoken, its count and the place of its first occurrence.
pub type CountedPretoken<'a> = (&'a [u8], u64, u64);

impl PretokenCounts {
    /// Makes counts from slots, which must be distinct and in the order of first occurrence; `end` is a place
    /// after all of them.
    pub(super) fn from_slots(slots: Vec<CountSlot>, long: Vec<u8>, end: u64) -> Result<Self> {
        let end = end_of(&slots, end);
        Self::with_total(Slots { slots, long }.into(), end)
    }

    /// Makes counts from the tables of counting; `spans` are the ranges of all places.
    pub(super) fn from_tables(tables: Vec<CountTable>, spans: Vec<Span>) -> Result<Self> {
        let end = spans.iter().map(|span| span.len).sum();
        Self::with_total(Ordered::counted(tables, spans), end)
    }

    fn with_total(slots: Ordered, end: u64) -> Result<Self> {
        let mut total = Ok(0);
        slots.for_each(|slot, long| {
            if let Ok(before) = total {
                total = sum(before, slot.count).ok_or_else(|| overflow(slot.pretoken(long)));
            }
        });
        Ok(PretokenCounts { slots, total: total?, end, index: Index::default() })
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

    /// The sum of two counts. All places of `other` come after those of `self`.
    pub fn plus(&self, other: &PretokenCounts, control: &Control) -> Result<Self> {
        self.check_memory_for_order()?;
        other.check_memory_for_order()?;
        // The memory of a copy of `self`, of an index, and of what is added.
        room::check_available(self.copy_bytes() + other.copy_bytes())?;
        let mut both = self.clone();
        if let Some(end) = self.end.checked_add(other.end) {
            let moved = |(pretoken, count, first)| (pretoken, count, self.end + first);
            both.extend(other.iter().map(moved), control)?;
            both.end = end;
        } else {
            // The sum of both ends overflows. Only the order of places has a meaning, so they are replaced by
            // numbers from 0 on.
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
        let index = into_value(std::mem::take(&mut self.index).0);
        let mut index = index.map_or_else(|| self.make_index(control), Ok)?;
        let Slots { slots: mut all, mut long } = std::mem::take(&mut self.slots).into_slots();
        for (number, (pretoken, count, first)) in items.enumerate() {
            if number % PRETOKENS_PER_CHECK == 0 {
                control.check()?;
            }
            if pretoken.is_empty() || count == 0 {
                continue;
            }
            self.total = sum(self.total, count).ok_or_else(|| overflow(pretoken))?;
            let slot = CountSlot::of(pretoken, count, first);
            let hash = slot.hash();
            match index.find(hash, |&at| all[at as usize].pretoken(&long) == pretoken) {
                Some(&at) => all[at as usize].add(&slot),
                None => {
                    let at = u32::try_from(all.len()).map_err(|_| too_many(&all, &long))?;
                    room::push(&mut all, slot.stored(pretoken, &mut long)?)?;
                    index
                        .try_reserve(1, |&at| all[at as usize].hash())
                        .map_err(|_| room::out_of_memory(0))?;
                    index.insert_unique(hash, at, |&at| all[at as usize].hash());
                }
            }
        }
        self.slots = Slots { slots: all, long }.into();
        self.index = Index(OnceBox::with_value(Box::new(Arc::new(index))));
        Ok(())
    }

    fn make_index(&self, control: &Control) -> Result<HashTable<u32>> {
        let Slots { slots, long } = self.slots.slots();
        let mut index = HashTable::new();
        let hash = |&at: &u32| slots[at as usize].hash();
        index.try_reserve(slots.len(), hash).map_err(|_| room::out_of_memory(8 * slots.len()))?;
        for (at, slot) in slots.iter().enumerate() {
            if at % PRETOKENS_PER_CHECK == 0 {
                control.check()?;
            }
            let at = u32::try_from(at).map_err(|_| too_many(slots, long))?;
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

    /// The count of a pretoken; `None` if it is not there. The first call looks at all pretokens, to make an index.
    pub fn get(&self, pretoken: &[u8], control: &Control) -> Result<Option<u64>> {
        self.check_memory_for_order()?;
        let index = self.index.0.get_or_try_init(|| Ok(Box::new(Arc::new(self.make_index(control)?))))?;
        if pretoken.is_empty() {
            return Ok(None);
        }
        let hash = CountSlot::of(pretoken, 1, 0).hash();
        let Slots { slots, long } = self.slots.slots();
        let position = index.find(hash, |&at| slots[at as usize].pretoken(long) == pretoken);
        Ok(position.map(|&at| slots[at as usize].count))
    }

    /// A place after all occurrences; for documents their bytes of text.
    pub fn end_place(&self) -> u64 {
        self.end
    }

    /// The pretokens with their counts and first places, in the order of first occurrence.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CountedPretoken<'_>> + Clone {
        let Slots { slots, long } = self.slots.slots();
        slots.iter().map(|slot| (slot.pretoken(long), slot.count, slot.first))
    }

    /// Up to `count` pretokens with their counts and first places, from index `start` on.
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

    /// The pretokens with their counts, in the order of first occurrence. The iterator copies nothing, so it
    /// can be made again at no cost.
    pub fn words(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> + Clone {
        self.iter().map(|(pretoken, count, _)| (pretoken, count))
    }

    /// The pretokens with their counts in any order. Frees all memory that this needs no longer.
    pub fn into_words(self) -> Unordered {
        self.slots.into_unordered()
    }

    /// The `count` most frequent pretokens; of equally frequent ones, the one that occurs first comes first.
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

    /// A copy without the pretokens that occur less often than `min_count`.
    pub fn at_least(&self, min_count: u64) -> Self {
        let (mut slots, mut long, mut total) = (Vec::new(), Vec::new(), 0);
        let all = self.slots.slots();
        for slot in all.slots.iter().filter(|slot| slot.count >= min_count) {
            total += slot.count;
            let pretoken = slot.pretoken(&all.long);
            slots.push(if slot.is_long() { slot.moved_to(copied(&mut long, pretoken)) } else { *slot });
        }
        PretokenCounts { slots: Slots { slots, long }.into(), total, end: self.end, index: Index::default() }
    }

    /// About how many bytes a copy takes.
    fn copy_bytes(&self) -> usize {
        let Slots { slots, long } = self.slots.slots();
        slots.len() * (size_of::<CountSlot>() + 16) + long.len()
    }

    /// Fails if there is not enough memory to sort the pretokens, which happens when their order is first
    /// asked for.
    pub(crate) fn check_memory_for_order(&self) -> Result<()> {
        self.slots.check_memory_for_order()
    }

    /// Fails if there is not enough memory to copy the counts and sort the copy.
    #[cfg(feature = "python")]
    pub(crate) fn check_memory_for_copy(&self) -> Result<()> {
        self.check_memory_for_order()?;
        room::check_available(2 * self.copy_bytes())
    }

    /// The distinct pretokens that occur at least so often, for some counts from 1 on.
    pub fn frequencies(&self) -> Vec<Frequent> {
        let mut frequencies = Frequencies::default();
        self.slots.for_each(|slot, long| frequencies.add_alone(slot, long));
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

fn sum(left: u64, right: u64) -> Option<u64> {
    left.checked_add(right).filter(|&sum| sum <= MAX_COUNT)
}

fn overflow(pretoken: &[u8]) -> Error {
    Error::CountOverflow { left: pretoken.to_vec(), right: Vec::new() }
}
