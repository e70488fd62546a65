//! The merge loop: from pretoken counts to the list of merges.
//!
//! A merge costs what it changes, never a pass over the text:
//!
//! - `corpus` holds the text of all words, and merges in place; `corpus16` and `corpus32` are two ways to keep it.
//! - `index` knows each pair's count and where it occurs. A merge only makes pairs with the new token and
//!   only breaks others up, so counts never rise and a pair's occurrences are written down once, when the
//!   younger of its tokens is made; whether one still stands is asked of the text.
//! - `neighbours` sums up what stands around the merged occurrences, so the index is asked once for each
//!   distinct neighbour.
//! - `queue` finds the most frequent pair, `ties` the first of equals.
//! - `start` is what there is before the first merge: the bytes, or a vocabulary that is extended, forced tokens
//!   (`forced`) and the merges of an interrupted training. Words are laid out as these encode them.
//! - `scan` fills the index. Most pairs are so rare that they are never merged: only those above a
//!   threshold are in it. When the queue runs dry the threshold is lowered and the text scanned once more.
//!   As counts never rise, none of those left out can have been due; the result does not depend on it.

mod checkpoint;
mod corpus;
mod corpus16;
mod corpus32;
mod fingerprint;
mod forced;
mod index;
mod learn;
mod neighbours;
mod options;
mod pair_table;
mod queue;
mod saver;
mod scan;
mod start;
mod ties;
mod tokens;
mod trainer;

pub use checkpoint::{merges_from_bytes, merges_to_bytes};
pub use fingerprint::fingerprint;
pub use learn::{learn_from, learn_merges, resume};
pub use options::{Merge, Options, Ties};
pub use saver::Saver;
pub use start::{Start, build_vocab};
