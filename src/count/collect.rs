//! Turns the tables of counting into [`PretokenCounts`].

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::counts::PretokenCounts;
use super::frequencies::Frequencies;
use super::log::SlotLog;
use super::options::CountOptions;
use super::partition::Partition;
use super::places::{ByteNumbers, ReservedPlaces, SORTED_AT_ONCE, sort, sort_by_place};
use super::saved::Oversized;
use super::slot::CountSlot;
use super::spill::{SortedSlots, SpillFile};
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::room;
use crate::workers::{self, Lock};

/// The largest arena of a partition that is always copied to the arena of the result. A larger one becomes
/// the arena of the result itself, if that is still empty.
const COPIED_BYTES: usize = 1 << 20;

/// Makes the result from all partitions, and from the sections of the temporary file, if it fits into memory.
/// `by_bytes` says whether pretokens are sorted and numbered by their bytes, as their places have no meaning.
pub(super) fn collect(
    partitions: Vec<Partition>,
    spill: Option<SpillFile>,
    spans: Vec<ReservedPlaces>,
    (options, by_bytes): (&CountOptions, bool),
    control: &Control,
) -> Result<std::result::Result<PretokenCounts, Oversized>> {
    let count: usize = partitions.iter().map(Partition::count).sum();
    let spill = spill.filter(|spill| spill.bytes() > 0);
    // Sorting many slots takes long. It is done here, where it can be interrupted, and not when the order is
    // asked for.
    if spill.is_none() && !by_bytes && options.min_count <= 1 && count <= SORTED_AT_ONCE {
        let tables = partitions.into_iter().map(|mut partition| partition.take()).collect();
        return PretokenCounts::from_tables(tables, &spans).map(Ok);
    }
    // The capacity for all slots is reserved at once: unused memory is never touched, and growing would
    // fragment memory.
    let room = options.result_bytes();
    let max_slots = room.map_or(count, |bytes| count.min(bytes as usize / size_of::<CountSlot>() + 1));
    let collected = Collected { slots: room::for_items(max_slots)?, ..Collected::default() };
    let (collected, used) = (Lock::new(collected), AtomicU64::new(0));
    let collector = SlotCollector { min_count: options.min_count, room, collected, used };
    let left = Lock::new(partitions);
    let next = || left.lock().pop();
    let is_spilled = spill.is_some();
    let workers = if is_spilled { options.workers } else { 1 };
    workers::run(workers, control, |_| {
        while let Some(partition) = next() {
            collector.take(partition, spill.as_ref(), control)?;
        }
        Ok(())
    })?;
    let is_full = collector.is_full();
    let needed = collector.used.into_inner();
    let Collected { mut slots, long, sections, frequencies, total } = collector.collected.into_inner();
    if let (true, Some(spill), Some(room)) = (is_full, spill, room) {
        let frequencies = frequencies.sums();
        return Ok(Err(Oversized { sections, spill, spans, frequencies, total, needed, room }));
    }
    memory::release_unused(&mut slots);
    if is_spilled {
        memory::release_freed();
    }
    let end = number(&mut slots, &long, &spans, by_bytes, control)?;
    PretokenCounts::from_slots(slots, long, end).map(Ok)
}

/// Sorts and numbers slots by their places, or by their bytes if places have no meaning; returns the place
/// behind the last one.
fn number(
    slots: &mut [CountSlot],
    long: &[u8],
    spans: &[ReservedPlaces],
    by_bytes: bool,
    control: &Control,
) -> Result<u64> {
    if by_bytes {
        sort(slots, &|left, right| left.pretoken(long).cmp(right.pretoken(long)), control)?;
        (1..).zip(slots).for_each(|(rank, slot)| slot.first = rank);
        return Ok(0);
    }
    sort_by_place(slots, control)?;
    let numbers = ByteNumbers::new(spans);
    slots.iter_mut().for_each(|slot| slot.first = numbers.of(slot.first));
    Ok(spans.iter().map(|span| span.len).sum())
}

/// The slots of the result, in any order, and the bytes of long pretokens.
#[derive(Default)]
struct Collected {
    slots: Vec<CountSlot>,
    long: Vec<u8>,
    /// The sections of each partition, from which they can be merged again.
    sections: Vec<Vec<SortedSlots>>,
    frequencies: Frequencies,
    /// The sum of all counts.
    total: u64,
}

/// Collects slots. Watches the memory of those that come from the temporary file.
struct SlotCollector {
    /// The minimum count of a pretoken in the result.
    min_count: u64,
    /// Bytes of memory that the result may take; `None` for no limit.
    room: Option<u64>,
    collected: Lock<Collected>,
    /// Bytes of memory of the result.
    used: AtomicU64,
}

impl SlotCollector {
    /// Adds the slots of a partition that belong to the result.
    fn take(&self, mut partition: Partition, spill: Option<&SpillFile>, control: &Control) -> Result<()> {
        let is_wanted = |slot: &CountSlot| slot.count >= self.min_count;
        let (mut slots, mut long, mut log) = (Vec::new(), Vec::new(), SlotLog::default());
        match spill {
            Some(spill) => {
                partition.spill(spill)?;
                let sections = std::mem::take(&mut partition.sections);
                drop(partition);
                let (mut frequencies, mut total) = (Frequencies::default(), 0);
                spill.merge(sections.clone(), control, |slot, arena| {
                    frequencies.add(slot, arena);
                    total += slot.count;
                    if is_wanted(slot) {
                        self.used.fetch_add(slot.memory(arena) as u64, Relaxed);
                        if !self.is_full() {
                            room::push(&mut slots, slot.stored(slot.pretoken(arena), &mut long)?)?;
                        }
                    }
                    Ok(())
                })?;
                let mut collected = self.collected.lock();
                collected.frequencies.add_all(&frequencies);
                collected.total += total;
                collected.sections.push(sections);
            }
            None => {
                control.check()?;
                (log, long) = partition.take();
            }
        }
        if self.is_full() {
            return Ok(());
        }
        let Collected { slots: all, long: arena, .. } = &mut *self.collected.lock();
        let base = arena.len();
        if arena.is_empty() && long.len() > COPIED_BYTES {
            *arena = long
        } else {
            room::extend(arena, &long)?
        }
        let moved = |slot: CountSlot| if slot.is_long() { slot.moved_to(base + slot.place()) } else { slot };
        room::reserve(all, slots.len() + log.len())?;
        all.extend(slots.into_iter().chain(log.into_blocks().flatten()).filter(is_wanted).map(moved));
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.room.is_some_and(|bytes| self.used.load(Relaxed) > bytes)
    }
}
