//! Text → ids.
//!
//! - [`encoder`]: the [`Encoder`], and how one text is encoded on the calling thread.
//! - [`active`], [`special_set`]: the special tokens that a call looks for. [`sharing`]: more of them, or a
//!   pipeline, for the same tables.
//! - [`staged`]: text that goes through the steps of a [pipeline](crate::pipeline) first.
//! - [`hot_loop`]: runs of pretokens → ids, as long as the ids are in their bucket of the [`cache`].
//! - [`lookup`]: the ids of a pretoken that are elsewhere in the cache, or must be made by merging;
//!   [`fragments`]: a pretoken that can be split at places that no token crosses ([`safe_splits`]).
//! - [`superwords`]: pretokens of many words, which are encoded word by word.
//! - [`output`]: where ids go.
//! - [`parallel`]: a long text, a batch, a file, on several threads. [`scratch`]: the working memory of each;
//!   [`growth`]: when it gets a cache, and of what size; [`preparation`]: a cache made by a thread.
//! - [`api`]: everything else that a tokenizer is asked for.

mod active;
mod api;
mod cache;
mod encoder;
mod fragments;
mod growth;
mod hot_loop;
mod joined_pairs;
mod lookup;
mod output;
mod padded_ids;
mod parallel;
mod preparation;
mod safe_splits;
mod scratch;
mod section;
mod seeds;
mod sharing;
mod special_set;
mod staged;
mod superwords;
mod tables;

pub use api::{
    CHUNK_BYTES, Completions, Continuations, Document, EncodeStream, IdView, KnownPrefix, Mark, MarkedText,
    PrefixCache, RandomMerges, Words, marks,
};
pub use encoder::Encoder;
pub(crate) use encoder::Request;
pub(crate) use output::put_ids;
pub use output::{IdType, LocatedIds, Sink, Spans, recycle};
pub use parallel::{EncodedBatch, FileOptions};
pub use special_set::{Special, SpecialSet, SpecialTokens};
