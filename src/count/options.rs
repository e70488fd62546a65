//! Options of counting, and the division of the memory limit among its parts.

use std::path::PathBuf;

use serde::Deserialize;

use super::local_counts::bits_of;
use super::partition::PARTITIONS;
use super::spill::SpillFile;

/// Options of counting. Only `separator`, `replace` and `min_count` change a result.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CountOptions {
    /// The maximum number of threads.
    pub workers: usize,
    /// Bytes of a chunk, which one thread takes at a time.
    pub chunk_bytes: u64,
    /// What separates the documents of a text file. Without a separator the whole file is one document.
    pub separator: Option<String>,
    /// Whether invalid UTF-8 is read as U+FFFD; otherwise it is an error.
    pub replace: bool,
    /// Bytes of memory that counting may take; `None` for no limit. The limit does not include a single
    /// document in memory or a single pretoken, since both have to be in memory. Tables and buffers are never
    /// smaller than for a limit of 32 MB.
    pub memory_limit: Option<u64>,
    /// A limit for the tables and the workers in place of `memory_limit`, for tests of the temporary file.
    #[doc(hidden)]
    #[serde(rename = "table_bytes")]
    pub table_limit: Option<u64>,
    /// The folder of the temporary file; `None` for the system's.
    #[serde(skip)]
    pub temporary: Option<PathBuf>,
    /// The minimum count of a pretoken in the result.
    pub min_count: u64,
}

impl Default for CountOptions {
    fn default() -> Self {
        CountOptions {
            workers: crate::workers::cores(),
            chunk_bytes: 1 << 19,
            separator: None,
            replace: false,
            memory_limit: None,
            table_limit: None,
            temporary: None,
            min_count: 1,
        }
    }
}

/// The sizes of a worker's tables and buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkerSizes {
    /// log2 of the maximum number of buckets of its local table.
    pub(super) local_bits: u32,
    /// Slots that are brought to the shared tables together.
    pub(super) pending: usize,
    /// Bytes of long pretokens that are brought to the shared tables together.
    pub(super) long_bytes: usize,
}

/// The smallest limit in bytes that tables and buffers are sized for. With less memory, sorting, writing and
/// merging would take several times as long as counting.
const MIN_MEMORY_LIMIT: u64 = 32 << 20;

/// The memory limit is divided: a third for the shared tables, an eighth for the workers, and an eighth for
/// merging. The result may take three quarters: it grows while the tables are freed. For `pending`, 1,024 and
/// 2,048 slots were as fast as 4,096.
impl CountOptions {
    fn table_limit(&self) -> Option<u64> {
        self.table_limit.or(self.memory_limit.map(|limit| limit.max(MIN_MEMORY_LIMIT)))
    }

    /// Bytes that the table and the buffers of one worker may take.
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

    /// Bytes of a chunk of a file or of a block of a stream.
    pub(super) fn block_bytes(&self) -> u64 {
        self.chunk_bytes.min(self.worker_bytes() as u64 / 8).max(1)
    }

    /// Bytes of memory that the result may take; `None` for no limit.
    pub(super) fn result_bytes(&self) -> Option<u64> {
        self.memory_limit.map(|limit| (limit / 4 * 3).max(1 << 19))
    }

    pub(super) fn spill(&self) -> Option<SpillFile> {
        let limit = self.table_limit()?;
        let folder = self.temporary.clone().unwrap_or_else(std::env::temp_dir);
        let partition = (limit / 3 / PARTITIONS as u64).max(1 << 12);
        let merging = limit / 8 / self.workers.max(1) as u64;
        Some(SpillFile::new(folder, partition as usize, merging.min(1 << 30) as usize))
    }
}
