//! What else a tokenizer is asked for: trusted parts, pieces of so many tokens, text that arrives bit by bit, text that may
//! go on.

mod look_ahead;
mod one_pretoken;
mod parts;
mod pieces;
mod stream;
mod unstable;

pub use pieces::Piece;
pub use unstable::{Completions, SortedTokens};
