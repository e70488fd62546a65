//! What a run is told: documents, splits, shards.

use std::path::PathBuf;
use std::time::Duration;

/// One of the splits that documents are divided into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Its name, with which its files begin.
    pub name: String,
    /// Documents whose hash is below this number belong to it, unless they belong to a split before it. The
    /// last split takes all that are left.
    pub below: u64,
}

/// A shuffle of documents in a bounded buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    /// What the order is made of.
    pub seed: u64,
    /// The buffer is full once it holds so many ids. Its documents are then written in another order.
    pub buffer_ids: u64,
}

/// How documents become shards. Only `workers`, `chunk_bytes`, `snapshot_every` and `folder` have no influence on
/// what the shards hold.
#[derive(Clone, Debug)]
pub struct ShardOptions {
    /// Whether invalid UTF-8 is read as U+FFFD.
    pub replace: bool,
    /// Whether a document that cannot be read is left out; otherwise it ends the run.
    pub skip: bool,
    /// What separates the documents of a text file; without it the whole file is a document.
    pub separator: Option<Vec<u8>>,
    /// Ids that are put before each document.
    pub prepend: Vec<u32>,
    /// Ids that are put behind each document.
    pub append: Vec<u32>,
    /// Whether ids have 32 bits; otherwise 16.
    pub wide: bool,
    /// The splits; at least one.
    pub splits: Vec<Split>,
    /// The seed of the hash that divides documents among the splits.
    pub seed: u64,
    /// How documents are shuffled; `None` to keep their order.
    pub shuffle: Option<Shuffle>,
    /// A shard is closed once it holds so many ids.
    pub shard_ids: u64,
    /// Bytes before the ids in the file of a shard, for a head that is written later.
    pub head_bytes: u64,
    /// The greatest number of threads.
    pub workers: usize,
    /// Bytes of text that a worker takes at a time, about.
    pub chunk_bytes: u64,
    /// The least time between two snapshots.
    pub snapshot_every: Duration,
    /// The folder of unfinished shards.
    pub folder: PathBuf,
}

/// Bytes of a document that its hash is made of. A document that is longer than the chunks of a file has to be
/// placed before it is known as a whole.
pub const HASHED_BYTES: usize = 1 << 16;

impl ShardOptions {
    /// Bytes of an id.
    pub(super) fn width(&self) -> u64 {
        if self.wide { 4 } else { 2 }
    }

    /// Bytes of a chunk at the least. The first chunk of a document that goes on has all that is hashed.
    pub(super) fn least_chunk(&self, begins: bool) -> u64 {
        self.chunk_bytes.max(1).max(if begins { HASHED_BYTES as u64 } else { 0 })
    }
}
