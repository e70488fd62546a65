//! The merge loop: counts of pretokens → the list of merges.
//!
//! The cost of a merge depends on what it changes; no merge reads the whole text.
//!
//! - `corpus` holds the text of all words, in which tokens merge in place; `corpus16` and `corpus32`
//!   implement it.
//! - `index` holds the count of each pair and where it occurs. A merge makes pairs only with the new token,
//!   and breaks up others. So counts never rise, and the occurrences of a pair are written down once, when
//!   the younger of its tokens is made; whether one still exists is read from the corpus.
//! - `neighbours` adds up what is beside the merged occurrences, so the index is changed once for each
//!   distinct neighbour.
//! - `queue` finds the most frequent pair; `ties` decides between equally frequent ones.
//! - `start` is the state before the first merge: the bytes, or a vocabulary to extend, forced tokens
//!   (`forced`), and the merges of an interrupted training. Words are laid out as these encode them.
//! - `scan` fills the index. Most pairs are too rare to be ever merged, so only those above a threshold are
//!   in the index. When the queue is empty, the threshold is lowered and the corpus read once more. Counts
//!   never rise, so no pair that was left out can have been due before, and the result does not depend on the
//!   threshold.
//! - `superwords` cuts text into pieces in which tokens of several words are learned. There a cell holds a
//!   token of the vocabulary that is extended, not a byte, and `limit` bounds the words of a token.
//! - `memory` says how much memory all this takes.
//! - `layout` gives all tokens their ids.
//! - `balance` learns from the texts of several languages: which one the next merge serves depends on how
//!   well each of them is compressed.

mod balance;
mod checkpoint;
mod corpus;
mod corpus16;
mod corpus32;
mod forced;
mod index;
mod layout;
mod learn;
mod limit;
mod memory;
mod neighbours;
mod options;
mod pair_table;
mod queue;
mod scan;
mod start;
mod superwords;
mod texts;
mod ties;
mod tokens;
mod trainer;

pub use balance::{ChoiceWindow, Measure};
pub use checkpoint::{Saver, fingerprint, merges_from_bytes, merges_to_bytes};
pub use layout::{Layout, SpecialIds};
pub use learn::{learn_from, resume};
pub use memory::memory_to_learn;
pub use options::{Merge, Options, Ties};
pub use start::{Start, build_vocab};
pub use superwords::Count;
pub use texts::{Texts, learn};
