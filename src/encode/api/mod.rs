//! Further methods of the encoder: trusted parts, pieces of at most n tokens, text that arrives in parts, and text
//! whose end is not stable.

mod look_ahead;
mod one_pretoken;
mod parts;
mod pieces;
mod stream;
mod unstable;
mod words;

pub use pieces::Piece;
pub use stream::EncodeState;
pub use unstable::{Completions, SortedTokens};
pub use words::Words;
