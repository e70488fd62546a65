//! Turns the tables of counting into [`PretokenCounts`].

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::counts::PretokenCounts;
use super::log::SlotLog;
use super::partition::Partition;
use super::places::{SORTED_AT_ONCE, Span, number_bytes, sort_by_place};
use super::slot::{CountSlot, memory_of, store};
use super::spill::SpillFile;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;
use crate::workers;

/// The largest arena of a partition that is always copied to the arena of the result. A larger one becomes the arena
/// of the result itself, if that is still empty.
const COPIED_BYTES: usize = 1 << 20;

/// The requirements and the limits of the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultOptions {
    /// The minimum count of a pretoken in the result.
    pub(super) min_count: u64,
    /// Bytes of memory that the result may take; `None` for no limit.
    pub(super) bytes: Option<u64>,
    pub(super) workers: usize,
}

/// Makes the result from all partitions, and from the sections of the temporary file.
pub(super) fn collect(
    partitions: Vec<Partition>,
    spill: Option<SpillFile>,
    spans: Vec<Span>,
    wanted: ResultOptions,
    control: &Control,
) -> Result<PretokenCounts> {
    let count: usize = partitions.iter().map(Partition::count).sum();
    let spilled = spill.as_ref().is_some_and(|spill| spill.bytes() > 0);
    // Sorting many slots takes long. It is done here, where it can be interrupted, and not when the order is
    // asked for.
    if !spilled && wanted.min_count <= 1 && count <= SORTED_AT_ONCE {
        let tables = partitions.into_iter().map(|mut partition| partition.take()).collect();
        return PretokenCounts::from_tables(tables, spans);
    }
    // The capacity for all slots is reserved at once: unused memory is never touched, and growing would
    // fragment memory.
    let max_slots =
        wanted.bytes.map_or(count, |bytes| count.min(bytes as usize / size_of::<CountSlot>() + 1));
    let parts = Mutex::new((room::for_items(max_slots)?, Vec::new()));
    let gathered = SlotCollector { parts, room: MemoryBudget::new(wanted) };
    let partitions: Vec<_> = partitions.into_iter().map(|partition| Mutex::new(Some(partition))).collect();
    let next = AtomicUsize::new(0);
    let workers = if spilled { wanted.workers } else { 1 };
    workers::run(workers, control, |_| {
        while let Some(partition) = partitions.get(next.fetch_add(1, Relaxed)) {
            let partition = partition.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(partition) = partition {
                gathered.take(partition, spill.as_ref(), wanted.min_count, control)?;
            }
        }
        Ok(())
    })?;
    let SlotCollector { parts, room } = gathered;
    room.check()?;
    let (mut slots, long) = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    slots.shrink_to_fit();
    sort_by_place(&mut slots, control)?;
    let end = number_bytes(&mut slots, spans);
    PretokenCounts::from_slots(slots, long, end)
}

/// Collects the slots of the result, in any order, and the bytes of long pretokens.
struct SlotCollector {
    parts: Mutex<(Vec<CountSlot>, Vec<u8>)>,
    room: MemoryBudget,
}

impl SlotCollector {
    /// Adds the slots of a partition that belong to the result.
    fn take(
        &self,
        mut partition: Partition,
        spill: Option<&SpillFile>,
        min_count: u64,
        control: &Control,
    ) -> Result<()> {
        let (mut slots, mut long, mut log) = (Vec::new(), Vec::new(), SlotLog::default());
        match spill {
            Some(spill) if !partition.sections.is_empty() => {
                partition.spill(spill)?;
                let sections = std::mem::take(&mut partition.sections);
                drop(partition);
                spill.merge(sections, control, |slot, arena| {
                    if self.room.has_room_for(slot, arena) && slot.count >= min_count {
                        let own = match slot.is_long() {
                            true => slot.moved_to(store(&mut long, slot.pretoken(arena))?),
                            false => *slot,
                        };
                        room::push(&mut slots, own)?;
                    }
                    Ok(())
                })?;
            }
            _ => {
                control.check()?;
                (log, long) = partition.take();
            }
        }
        if self.room.is_full() {
            return Ok(());
        }
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, arena) = &mut *parts;
        let base = arena.len();
        if arena.is_empty() && long.len() > COPIED_BYTES {
            *arena = long
        } else {
            room::extend(arena, &long)?
        }
        let wanted = |slot: &&CountSlot| slot.count >= min_count;
        let moved =
            |slot: &CountSlot| if slot.is_long() { slot.moved_to(base + slot.place()) } else { *slot };
        room::reserve(all, slots.len() + log.len())?;
        all.extend(slots.iter().chain(log.blocks().flatten()).filter(wanted).map(moved));
        Ok(())
    }
}

/// Counts for which the error message can say how many pretokens occur as often or more. Chosen as round
/// numbers.
const OFFERED_COUNTS: [u64; 20] =
    [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 75, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000];

/// Watches the memory of a result that comes from the temporary file.
struct MemoryBudget {
    wanted: ResultOptions,
    used: AtomicU64,
    /// For each of [`OFFERED_COUNTS`], the number of pretokens that occur as often, but less often than the
    /// next one says, and the bytes that they take.
    tallies: [[AtomicU64; 2]; OFFERED_COUNTS.len()],
}

impl MemoryBudget {
    fn new(wanted: ResultOptions) -> Self {
        MemoryBudget { wanted, used: AtomicU64::new(0), tallies: Default::default() }
    }

    fn is_full(&self) -> bool {
        self.wanted.bytes.is_some_and(|bytes| self.used.load(Relaxed) > bytes)
    }

    /// Registers a slot; returns whether the result still fits into memory.
    fn has_room_for(&self, slot: &CountSlot, arena: &[u8]) -> bool {
        let bytes = memory_of(slot, arena) as u64;
        let [count, sum] = &self.tallies[OFFERED_COUNTS.partition_point(|&count| count <= slot.count) - 1];
        count.fetch_add(1, Relaxed);
        sum.fetch_add(bytes, Relaxed);
        if slot.count >= self.wanted.min_count {
            self.used.fetch_add(bytes, Relaxed);
        }
        !self.is_full()
    }

    /// Fails if the result does not fit. The error names the lowest count with which the result would fit.
    fn check(&self) -> Result<()> {
        let Some(room) = self.wanted.bytes.filter(|_| self.is_full()) else { return Ok(()) };
        let (mut unique, mut bytes) = (0, 0);
        let mut offer = None;
        for (&min_count, [count, sum]) in OFFERED_COUNTS.iter().zip(&self.tallies).rev() {
            unique += count.load(Relaxed);
            bytes += sum.load(Relaxed);
            if bytes <= room {
                offer = Some((min_count, unique));
            }
        }
        let needed = self.used.load(Relaxed);
        Err(Error::TooManyUnique { unique, needed, room, offer })
    }
}
