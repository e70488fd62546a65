//! Documents → pretoken counts, in parallel.
//!
//! - `local_counts`: the hot loop. A worker's own small table counts nineteen of twenty pretokens, and never grows.
//! - `worker`: what leaves that table goes, some thousands at a time, to tables that all workers share.
//! - `partition`, `log`: those tables, by hash, an index and its slots. So there is one of each pretoken, and nothing to merge in the end.
//! - `spill`: where memory is limited, a table that is full goes to a temporary file, sorted. Sums of counts, and the
//!   least of places, do not depend on the order they are made in, so the result is the same.
//! - `collect`: all tables → `counts`, in the order of first occurrence once that is asked for (`ordered`).
//! - `files`, `chunks`, `streams`: files of all kinds, cut where no result can change.

mod batches;
mod chunks;
mod collect;
mod counts;
mod file;
mod files;
mod local_counts;
mod log;
mod ordered;
mod partition;
mod slot;
mod spill;
mod streams;
mod worker;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;

pub use counts::{CountedPretoken, PretokenCounts};
pub use files::{DocumentFormat, InputFile};
pub use ordered::Unordered;

use crate::control::Control;
use crate::error::Result;
use crate::pretokenize::Pretokenizer;
use crate::special::Specials;
use collect::{ResultOptions, Span};
use partition::PARTITIONS;
use spill::SpillFile;
use worker::{SharedCounts, Worker, WorkerSizes};

/// How documents are counted. None of it but `replace` and `min_count` changes a result.
#[derive(Clone, Debug)]
pub struct CountOptions {
    /// Threads at the most.
    pub workers: usize,
    /// Bytes that a thread takes at a time.
    pub chunk_bytes: u64,
    /// Bytes of a longer chunk that are read at a time.
    pub window_bytes: usize,
    /// Whether invalid UTF-8 is read as U+FFFD; else it is an error.
    pub replace: bool,
    /// Bytes of memory that counting may take; none for no limit. (One document in memory, and one pretoken, count for
    /// nothing: they have to be there. Tables and buffers have a least size, for a limit of 32 MB.)
    pub memory_limit: Option<u64>,
    /// The limit that the tables and the workers go by, if it is another: for tests of what is spilled.
    #[doc(hidden)]
    pub table_limit: Option<u64>,
    /// Where a file is made when that is too little; the system's folder by default.
    pub temporary: Option<PathBuf>,
    /// Pretokens that occur less often are left out of the result.
    pub min_count: u64,
}

impl Default for CountOptions {
    fn default() -> Self {
        CountOptions {
            workers: crate::workers::cores(),
            chunk_bytes: 1 << 19,
            window_bytes: 1 << 20,
            replace: false,
            memory_limit: None,
            table_limit: None,
            temporary: None,
            min_count: 1,
        }
    }
}

/// Bytes of text that a worker is made for where nobody knows how much will come.
const UNKNOWN_TEXT_BYTES: u64 = 1 << 20;

/// Tables and buffers are never smaller than for this limit: to write and sort what does not fit into less takes several
/// times as long as to count it.
const MIN_MEMORY_LIMIT: u64 = 32 << 20;

/// What the parts of counting take of the limit: the tables a third, the result half, the workers an eighth.
impl CountOptions {
    fn table_limit(&self) -> Option<u64> {
        self.table_limit.or(self.memory_limit.map(|limit| limit.max(MIN_MEMORY_LIMIT)))
    }

    /// A worker's part: its table, its buffers.
    fn worker_bytes(&self) -> usize {
        let limit = self.table_limit().unwrap_or(u64::MAX) / 8 / self.workers.max(1) as u64;
        limit.clamp(1 << 15, 1 << 26) as usize
    }

    fn sizes(&self) -> WorkerSizes {
        let bytes = self.worker_bytes();
        WorkerSizes {
            local_bits: local_counts::bits_of(bytes / 4),
            pending: (bytes / 16 / 64).clamp(64, 1 << 12),
            long_bytes: (bytes / 16).min(1 << 18),
        }
    }

    /// Bytes of a chunk or a block.
    fn block_bytes(&self) -> u64 {
        self.chunk_bytes.min(self.worker_bytes() as u64 / 8).max(1)
    }

    fn spill(&self) -> Option<SpillFile> {
        let limit = self.table_limit()?;
        let folder = self.temporary.clone().unwrap_or_else(std::env::temp_dir);
        let partition = (limit / 3 / PARTITIONS as u64).max(1 << 12);
        let merging = limit / 8 / self.workers.max(1) as u64;
        Some(SpillFile::new(folder, partition as usize, merging.min(1 << 30) as usize))
    }
}

/// Finds and counts the pretokens of documents. Special tokens separate documents and are not counted.
pub struct Counting {
    specials: Specials,
    pretokenizer: Pretokenizer,
    options: CountOptions,
    shared: SharedCounts,
    spans: Mutex<Vec<Span>>,
    /// The place of the next document.
    place: u64,
}

impl Counting {
    /// Nothing counted yet.
    pub fn new(specials: Specials, pretokenizer: Pretokenizer, options: CountOptions) -> Self {
        let shared = SharedCounts::new(options.spill());
        Counting { specials, pretokenizer, options, shared, spans: Mutex::default(), place: 0 }
    }

    /// Counts one document.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`], [`crate::Error::Spill`], or what the pattern fails with.
    pub fn document(&mut self, text: &[u8], control: &Control) -> Result<()> {
        let place = self.take_places(text.len() as u64);
        let mut worker = self.worker(0, text.len() as u64)?;
        worker.document(text, place, &self.specials, &self.pretokenizer, control)?;
        worker.finish(control)?;
        self.span(place, text.len() as u64);
        Ok(())
    }

    /// Adds what was counted elsewhere: it comes after all that was counted here so far.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`], [`crate::Error::Spill`].
    pub fn add(&mut self, counts: &PretokenCounts, control: &Control) -> Result<()> {
        let end = counts.end_place();
        let place = self.take_places(end);
        let mut arena = Vec::new();
        for (number, (pretoken, count, first)) in counts.iter().enumerate() {
            if number % 4096 == 0 {
                control.check()?;
            }
            arena.clear();
            self.shared.add(&slot::CountSlot::of(pretoken, count, place + first, &mut arena)?, &arena)?;
        }
        self.span(place, end);
        Ok(())
    }

    /// Ends counting.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`]; [`crate::Error::Spill`]; [`crate::Error::TooManyUnique`] where the result does
    /// not fit into the limit; [`crate::Error::CountOverflow`].
    pub fn finish(self, control: &Control) -> Result<PretokenCounts> {
        let (partitions, spill) = self.shared.into_partitions();
        let limit = self.options.memory_limit;
        let wanted = ResultOptions {
            least: self.options.min_count,
            bytes: limit.map(|limit| (limit / 2).max(1 << 19)),
            memory_limit: limit.unwrap_or(0),
            workers: self.options.workers,
        };
        let spans = self.spans.into_inner().unwrap_or_else(PoisonError::into_inner);
        collect::collect(partitions, spill, spans, wanted, control)
    }

    /// Bytes in the temporary file.
    pub fn spilled_bytes(&self) -> u64 {
        self.shared.spill.as_ref().map_or(0, SpillFile::bytes)
    }

    /// How many times a table was written to the temporary file, for tests.
    #[doc(hidden)]
    pub fn spills(&self) -> u64 {
        self.shared.spill.as_ref().map_or(0, SpillFile::count)
    }

    /// A worker for about so many bytes.
    fn worker(&self, number: usize, bytes: u64) -> Result<Worker<'_>> {
        Worker::new(&self.shared, self.options.sizes(), bytes, number)
    }

    /// So many places behind all others.
    fn take_places(&mut self, count: u64) -> u64 {
        let place = self.place;
        self.place = self.place.saturating_add(count);
        place
    }

    /// Says that `len` bytes of text were counted from a place on.
    fn span(&self, start: u64, len: u64) {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).push(Span { start, len });
    }
}
