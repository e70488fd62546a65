//! Documents → shards: files of ids for training, written in parallel, with the documents in a fixed order.
//!
//! - `documents`: a job of some chunks, as [`crate::source`] makes them → ids as bytes, divided among the
//!   splits.
//! - `conversations`: a conversation, or a prompt with its completion → ids and their mask, by what a model
//!   is trained on (`training`). `records`: what is read of a record without Python.
//! - `place`, `buffer`: where the ids of a job go, in the order of the jobs. This is the only serial step,
//!   and it only adds up numbers; the next free worker writes the ids to that place (`write`, `shard`).
//! - `ledger`: which jobs are written. A snapshot of the run is saved only when all jobs before it are
//!   written.
//! - `run`: runs all these steps.
//! - `folder`: makes shards whole, saves the state of the run, and gives whole shards their names.
//! - `files`: headers and other files of whole shards.
//! - `packing`: which documents share a row of a fixed length.

mod buffer;
mod conversations;
mod documents;
mod files;
mod folder;
mod ledger;
mod options;
mod packing;
mod place;
mod records;
mod run;
mod shard;
mod special_ids;
mod training;
mod write;

pub use conversations::{ReadByPython, RecordReader};
pub use documents::{TextBatch, TextJob};
pub use files::{
    DocumentRange, LLM_C_HEADER_BYTES, NPY_HEADER_BYTES, RawShard, ShardFormat, llm_c_header, npy_header,
};
pub use folder::{ParquetWriter, ShardEntry, ShardFolder};
pub use ledger::{Packed, Snapshot};
pub use options::{Buffering, HASHED_BYTES, Packing, ShardOptions, Split};
pub use packing::{LongDocument, PackedPart, pack};
pub use place::MAX_LISTED;
pub use records::{Record, RecordOptions};
pub use run::ShardRun;
pub use shard::Filling;
pub use training::Training;
