//! The vocabulary: ids ↔ bytes, pairs → merged tokens, special tokens. It is validated once and then
//! immutable.
//!
//! Inside, a token is identified by its index, its position among all tokens by ascending id. Indices have no
//! gaps, unlike ids.

mod bpe;
mod build;
mod characters;
mod model;
mod reach;
mod surgery;
mod tokens;
mod vocabulary;

pub use crate::merge::{BpeOptions, Dropout};
pub use crate::spelling::TextSpelling;
pub(crate) use bpe::{Additions, BpeModel};
pub use build::SpecialSpec;
pub(crate) use model::Model;
pub use model::{CharacterTokens, Semantics};
pub use surgery::Pruned;
pub use tokens::TokenBytes;
pub(crate) use tokens::{SLOT_BYTES, TAG_LENGTH_MASK, TAG_NOT_ASCII, TAG_OFFSET, TokenSlot};
pub use vocabulary::Vocab;
