//! Further methods of the encoder: text with marks, pieces of at most n tokens, text that arrives in parts,
//! text that changes, beginnings that many texts share, text whose end is not stable, what may come next, and
//! merges left out at random.

mod continuations;
mod document;
mod look_ahead;
mod marked;
mod one_pretoken;
mod pieces;
mod prefix_cache;
mod random;
mod rope;
mod shared_ids;
mod stream;
mod stretches;
mod unstable;
mod words;

pub use continuations::Continuations;
pub use document::{CHUNK_BYTES, Document};
pub use marked::{Mark, MarkedText, marks};
pub use prefix_cache::{KnownPrefix, PrefixCache};
pub use random::RandomMerges;
pub use shared_ids::IdView;
pub use stream::EncodeStream;
pub use unstable::Completions;
pub use words::Words;
