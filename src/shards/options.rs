//! The options of a run: documents, splits, shards.

use std::path::PathBuf;

use serde::Deserialize;

use super::files::ShardFormat;
use super::packing::LongDocument;
use super::training::Training;
use crate::source::ReadOptions;

/// One of the splits that documents are divided into.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Split {
    /// The name of the split; the names of its files begin with it.
    pub name: String,
    /// A document belongs to the first split whose `below` is greater than the document's hash. The last
    /// split takes all documents that are left.
    pub below: u64,
}

/// Rows of a fixed length, into which documents are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Packing {
    /// The number of ids in each row.
    pub length: usize,
    /// What becomes of a document that is longer.
    pub long: LongDocument,
    /// The id that fills rows.
    pub pad: u32,
}

/// A bounded buffer, in which documents get another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Buffering {
    /// The seed of the new order; `None` to keep the order.
    pub seed: Option<u64>,
    /// The buffer is full once it holds this many ids. Its documents are then written.
    pub ids: u64,
    /// How documents are packed into rows; `None` if they are not.
    pub pack: Option<Packing>,
}

/// How documents become shards. Only `workers`, `chunk_bytes`, `snapshot_seconds` and `folder` have no
/// influence on what the shards hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardOptions {
    /// Whether special tokens in the text become their ids.
    pub special: bool,
    /// Whether invalid UTF-8 is read as U+FFFD.
    pub replace: bool,
    /// Whether a document that cannot be read is left out. If not, it ends the run.
    pub skip: bool,
    /// What separates the documents of a text file. Without a separator the whole file is one document.
    pub separator: Option<String>,
    /// The ids of special tokens, which are counted where text has become one.
    pub special_ids: Vec<u32>,
    /// Ids that are put before each document.
    pub prepend: Vec<u32>,
    /// Ids that are put after each document.
    pub append: Vec<u32>,
    /// Whether ids have 32 bits; otherwise 16.
    pub wide: bool,
    /// The splits; at least one.
    pub splits: Vec<Split>,
    /// The seed of the hash that divides documents among the splits.
    pub seed: u64,
    /// How documents are shuffled or packed; `None` to write them as they come.
    pub buffer: Option<Buffering>,
    /// A shard is closed once it holds this many ids.
    pub shard_size: u64,
    /// The format of whole shards.
    pub format: ShardFormat,
    /// Whether the shards are pieces, from which others are joined: they have no header and no checksum.
    #[serde(default)]
    pub is_piece: bool,
    /// How conversations are trained on; `None` if documents are texts.
    #[serde(default)]
    pub training: Option<Training>,
    /// The maximum number of threads.
    pub workers: usize,
    /// About how many bytes of text a worker takes at a time.
    pub chunk_bytes: u64,
    /// The minimum time between two snapshots.
    pub snapshot_seconds: f64,
    /// The folder of the unfinished shards.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// At most this many bytes at the beginning of a document are hashed to choose its split. A document longer
/// than the chunks of a file has to be placed before all of it is read, so the hash cannot depend on its
/// whole text. A chunk in which a document begins holds all of these bytes.
pub const HASHED_BYTES: usize = 1 << 16;

impl ShardOptions {
    /// Bytes of an id.
    pub(super) fn width(&self) -> u64 {
        if self.wide { 4 } else { 2 }
    }

    /// Whether each id has a byte that says whether it is trained on.
    pub(super) fn has_mask(&self) -> bool {
        self.training.is_some()
    }

    /// Bytes of an id with its mask, as they wait to be written.
    pub(super) fn stride(&self) -> u64 {
        self.width() + u64::from(self.has_mask())
    }

    /// A file of an unfinished shard.
    pub(super) fn path(&self, split: usize, number: u32, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}-{number:05}.{suffix}", self.splits[split].name))
    }

    /// Bytes that are left free before the ids in the file of a shard, for a header that is written later.
    pub(super) fn head_bytes(&self) -> u64 {
        if self.is_piece { 0 } else { self.format.head_bytes() as u64 }
    }

    /// How sources are read.
    pub(super) fn read(&self) -> ReadOptions {
        ReadOptions {
            replace: self.replace,
            skip: self.skip,
            separator: self.separator.clone(),
            chunk_bytes: self.chunk_bytes,
            first_bytes: HASHED_BYTES as u64,
            // Decompressing is a few times as fast as encoding.
            streams: self.workers / 4,
            at_characters: false,
        }
    }
}
