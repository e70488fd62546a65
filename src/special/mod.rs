//! Special tokens. They are found in a text before anything else: the leftmost, then the longest.

mod added;
mod backward;
mod many;
mod matches;
mod search;
mod set;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use backward::steps;

pub use added::{AddedTokens, Flags};
pub use matches::{Matches, Segment, SpecialMatch};
pub use set::{MAX_SET_BYTES, MAX_TOKEN_BYTES, Specials, overlap};
