//! Documents → shards: files of ids for training, written in parallel, with the documents in a fixed order.
//!
//! - `sources`, `plan`, `streams`, `cuts`: files of all kinds → jobs of some chunks each. A chunk ends between two
//!   documents, or where the document that it cuts can be cut without a change of its ids.
//! - `documents`: a chunk → its documents; `encoder`, `encoded`: their ids as bytes, divided among the splits.
//! - `place`, `buffer`: where the ids of a job go, in the order of the jobs. This is the only serial step, and it
//!   only adds up numbers; the next free worker writes the ids to that place (`write`, `shard`).
//! - `ledger`: which jobs are written. A snapshot of the run is saved only when all jobs before it are written.
//! - `run`: runs all these steps.
//! - `files`: headers and other files of whole shards.
//! - `permutation`: the order in which windows of the shards are read.

mod buffer;
mod cuts;
mod documents;
mod encoded;
mod encoder;
mod files;
mod ledger;
mod options;
mod permutation;
mod place;
mod plan;
mod run;
mod separator;
mod shard;
mod sources;
mod special;
mod streams;
mod write;

pub use documents::TextBatch;
pub use encoder::DocumentEncoder;
pub use files::{
    LLM_C_HEADER_BYTES, NPY_HEADER_BYTES, Piece, RawShard, ShardFormat, join_pieces, llm_c_header,
    npy_header, synced,
};
pub use ledger::Snapshot;
pub use options::{HASHED_BYTES, ShardOptions, Shuffle, Split};
pub use permutation::{KEY_BYTES, Permutation};
pub use place::MAX_LISTED;
pub use run::{Counts, Keeper, ShardRun, TextJob};
pub use shard::Filling;
pub use sources::{Cursor, Opener, Skipped, Source};
