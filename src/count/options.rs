//! How documents are counted, and what each part of counting may take of the memory.

use std::path::PathBuf;

use super::local_counts::bits_of;
use super::partition::PARTITIONS;
use super::spill::SpillFile;
use super::worker::WorkerSizes;

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

/// The least limit that tables and buffers are sized for, in bytes. With less, writing and sorting what does not fit
/// takes several times as long as counting.
const MIN_MEMORY_LIMIT: u64 = 32 << 20;

/// How the memory limit is divided: a third for the tables, half for the result, an eighth for the workers.
impl CountOptions {
    fn table_limit(&self) -> Option<u64> {
        self.table_limit.or(self.memory_limit.map(|limit| limit.max(MIN_MEMORY_LIMIT)))
    }

    /// The bytes that a worker's table and buffers may take.
    fn worker_bytes(&self) -> usize {
        let limit = self.table_limit().unwrap_or(u64::MAX) / 8 / self.workers.max(1) as u64;
        limit.clamp(1 << 15, 1 << 26) as usize
    }

    pub(super) fn sizes(&self) -> WorkerSizes {
        let bytes = self.worker_bytes();
        WorkerSizes {
            local_bits: bits_of(bytes / 4),
            pending: (bytes / 16 / 64).clamp(64, 1 << 12),
            long_bytes: (bytes / 16).min(1 << 18),
        }
    }

    /// The bytes of a chunk of a file or a block of a stream.
    pub(super) fn block_bytes(&self) -> u64 {
        self.chunk_bytes.min(self.worker_bytes() as u64 / 8).max(1)
    }

    pub(super) fn spill(&self) -> Option<SpillFile> {
        let limit = self.table_limit()?;
        let folder = self.temporary.clone().unwrap_or_else(std::env::temp_dir);
        let partition = (limit / 3 / PARTITIONS as u64).max(1 << 12);
        let merging = limit / 8 / self.workers.max(1) as u64;
        Some(SpillFile::new(folder, partition as usize, merging.min(1 << 30) as usize))
    }
}
