//! The vocabulary: ids ↔ bytes, pair → merged token, special tokens. Validated once, immutable after.
//!
//! Inside, a token is known by its index: its place among all by ascending id. It is dense where ids are not.

mod build;
mod ordinary;
mod ranks;
mod reach;
mod state;
mod tokens;
mod vocabulary;

pub use build::SpecialSpec;
pub use ranks::RankLines;
pub use tokens::TokenBytes;
pub(crate) use tokens::{SLOT_BYTES, TAG_LENGTH_MASK, TAG_NOT_ASCII, TAG_OFFSET};
pub use vocabulary::{Semantics, Vocab};
