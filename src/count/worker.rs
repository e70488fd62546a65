//! The workers of a call, one for each thread, and the state of each.

use super::counting::Counting;
use super::local_counts::{LocalCounts, bits_for};
use super::options::WorkerSizes;
use super::partition::{PARTITIONS, partition_of};
use super::slot::{CountSlot, hash_long, room_of, store};
use crate::control::Control;
use crate::error::Result;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::Key;
use crate::room;
use crate::special::Segment;
use crate::workers::{self, Lock};

/// Bytes of text after which a worker checks the control, and whether its table should grow. Counting them
/// takes less than a millisecond.
const BYTES_PER_GROWTH_CHECK: usize = 1 << 17;

/// The state of one counting thread. [`Worker::finish`] must be called: it brings all counts to the shared
/// tables.
pub(super) struct Worker<'c> {
    counting: &'c Counting,
    local: LocalCounts,
    sizes: WorkerSizes,
    /// Slots that are to be brought to the shared tables.
    pending: Vec<CountSlot>,
    /// The arena of the long pretokens among the pending slots.
    long: Vec<u8>,
    /// The hashes of the pending slots.
    hashes: Vec<u64>,
    /// The hashes and indices of the pending slots, sorted by partition.
    sorted: Vec<(u64, u32)>,
    ends: Box<[usize; ENDS]>,
    /// Bytes of text counted since the last check of the control.
    unchecked: usize,
    /// Bytes of text that the worker has counted, up to the last check.
    seen: u64,
    /// The end of all text that was counted in the local table. A hit keeps the place in the table, so places
    /// must rise: before text at a lower place is counted, the table is emptied.
    high: u64,
    /// Memory to read text into, kept from chunk to chunk.
    pub(super) buffer: Vec<u8>,
    /// The partition that the next flush begins with. It differs between workers, so that they rarely wait
    /// for each other.
    turn: usize,
}

impl<'c> Worker<'c> {
    /// A worker for about `bytes` bytes of text; its table grows with more.
    pub(super) fn new(counting: &'c Counting, bytes: u64, number: usize) -> Result<Self> {
        let sizes = counting.options.sizes();
        Ok(Worker {
            counting,
            local: LocalCounts::new(bits_for(bytes).min(sizes.local_bits))?,
            sizes,
            pending: room::for_items(sizes.pending + ENDS)?,
            long: Vec::new(),
            hashes: Vec::new(),
            sorted: Vec::new(),
            ends: Box::new([0; ENDS]),
            unchecked: 0,
            seen: 0,
            high: 0,
            buffer: Vec::new(),
            turn: number * 7 % PARTITIONS,
        })
    }

    /// Counts a document, or a part that was cut from one, whose first byte is at `place`.
    pub(super) fn document(&mut self, text: &[u8], place: u64, control: &Control) -> Result<()> {
        let Counting { specials, pretokenizer, .. } = self.counting;
        if place < self.high {
            self.empty(control)?;
        }
        self.high = place + text.len() as u64;
        let mut ends = std::mem::replace(&mut self.ends, Box::new([0; ENDS]));
        for segment in specials.segments(text, control) {
            let Segment::Text(range) = segment? else { continue };
            let (start, segment) = (range.start, &text[range]);
            pretokenizer.for_each_run(segment, &mut ends, |from, ends| {
                self.run(segment, from, ends, place + start as u64, control)?;
                Ok(true)
            })?;
        }
        self.ends = ends;
        Ok(())
    }

    /// Counts a run of pretokens of `text`; the first byte of `text` is at `place`.
    #[inline]
    fn run(
        &mut self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        place: u64,
        control: &Control,
    ) -> Result<()> {
        for number in 0..self.local.count(text, start, ends) {
            let missed = self.local.missed(number);
            let from = if missed.at == 0 { start } else { ends[missed.at - 1] };
            let first = place + from as u64;
            if missed.key == Key::NONE {
                self.long(&text[from..ends[missed.at]], first)?;
            } else if let Some(left) = self.local.admit(&missed, first) {
                self.pending.push(left);
            }
        }
        if self.pending.len() >= self.sizes.pending {
            self.flush()?;
        }
        self.unchecked += ends.last().map_or(0, |end| end - start);
        if self.unchecked >= BYTES_PER_GROWTH_CHECK {
            self.seen += self.unchecked as u64;
            self.unchecked = 0;
            control.check()?;
            self.grow(control)?;
        }
        Ok(())
    }

    /// Replaces the local table by a larger one, once the counted text calls for a table at least four times
    /// as large.
    fn grow(&mut self, control: &Control) -> Result<()> {
        let buckets = 1 << bits_for(self.seen).min(self.sizes.local_bits);
        if buckets >= 4 * self.local.len() {
            // If there is no memory for a larger table, the worker keeps the present one.
            if let Ok(larger) = LocalCounts::new(buckets.ilog2()) {
                self.empty(control)?;
                self.local = larger;
            }
        }
        Ok(())
    }

    /// Counts a long pretoken, which never goes into the local table.
    fn long(&mut self, pretoken: &[u8], first: u64) -> Result<()> {
        let hash = hash_long(pretoken);
        if room_of(pretoken) > self.sizes.long_bytes {
            // A pretoken that is longer than the buffer is brought to the shared tables at once.
            let mut arena = Vec::new();
            let place = store(&mut arena, pretoken)?;
            return self.counting.shared.add(&CountSlot::long(hash, place, 1, first), &arena);
        }
        if self.long.len() + room_of(pretoken) > self.sizes.long_bytes {
            self.flush()?;
        }
        let place = store(&mut self.long, pretoken)?;
        self.pending.push(CountSlot::long(hash, place, 1, first));
        Ok(())
    }

    /// Brings all counts to the shared tables.
    pub(super) fn finish(mut self, control: &Control) -> Result<()> {
        self.empty(control)
    }

    /// Brings the pending slots and the local table to the shared tables.
    fn empty(&mut self, control: &Control) -> Result<()> {
        self.flush()?;
        let buckets = (self.sizes.pending / 2).max(1);
        for start in (0..self.local.len()).step_by(buckets) {
            control.check()?;
            self.pending.extend(self.local.drain(start..start + buckets));
            self.flush()?;
        }
        Ok(())
    }

    /// Brings the pending slots to the shared tables, partition by partition.
    fn flush(&mut self) -> Result<()> {
        let starts = self.sort();
        for step in 0..PARTITIONS {
            let partition = (self.turn + step) % PARTITIONS;
            let part = &self.sorted[starts[partition]..starts[partition + 1]];
            if part.is_empty() {
                continue;
            }
            let shared = &self.counting.shared;
            let mut partition = shared.partitions[partition].lock();
            partition.add_all(part, &self.pending, &self.long, shared.spill.as_ref())?;
        }
        self.turn = (self.turn + 1) % PARTITIONS;
        self.pending.clear();
        self.long.clear();
        Ok(())
    }

    /// Sorts the pending slots by partition; returns where each partition begins in `sorted`.
    fn sort(&mut self) -> [usize; PARTITIONS + 1] {
        let Worker { pending, hashes, sorted, .. } = self;
        let mut starts = [0; PARTITIONS + 1];
        hashes.clear();
        hashes.extend(pending.iter().map(CountSlot::hash));
        for &hash in &*hashes {
            starts[partition_of(hash) + 1] += 1;
        }
        for partition in 0..PARTITIONS {
            starts[partition + 1] += starts[partition];
        }
        let mut next = starts;
        sorted.resize(pending.len(), (0, 0));
        for (at, &hash) in (0..).zip(&*hashes) {
            let place = &mut next[partition_of(hash)];
            sorted[*place] = (hash, at);
            *place += 1;
        }
        starts
    }
}

/// Workers by their numbers. Each is made when it is first needed.
pub(super) struct Workers<'c> {
    counting: &'c Counting,
    workers: Vec<Lock<Option<Worker<'c>>>>,
    /// About how many bytes of text each will count.
    bytes: u64,
}

impl<'c> Workers<'c> {
    pub(super) fn new(counting: &'c Counting, count: usize, bytes: u64) -> Self {
        let workers = (0..count).map(|_| Lock::new(None)).collect();
        Workers { counting, workers, bytes }
    }

    /// Runs `work` with a worker, which no other thread uses.
    pub(super) fn with<T>(
        &self,
        number: usize,
        work: impl FnOnce(&mut Worker<'c>) -> Result<T>,
    ) -> Result<T> {
        let mut slot = self.workers[number].lock();
        work(match &mut *slot {
            Some(worker) => worker,
            none => none.insert(Worker::new(self.counting, self.bytes, number)?),
        })
    }

    /// Brings all counts to the shared tables.
    pub(super) fn finish(self, control: &Control) -> Result<()> {
        let made = |slot: Lock<_>| slot.into_inner();
        let made: Vec<Worker<'_>> = self.workers.into_iter().filter_map(made).collect();
        let (count, left) = (made.len(), Lock::new(made));
        let next = || left.lock().pop();
        let finish = |_| {
            while let Some(worker) = next() {
                worker.finish(control)?;
            }
            Ok(())
        };
        workers::run_here_too(count, control, || Ok(()), finish)
    }
}
