//! The merge loop: from pretoken counts to the list of merges.
//!
//! A merge costs what it changes, never a pass over the text:
//!
//! - `arena` holds the text of all words, and merges in place.
//! - `index` knows each pair's count and where it occurs. A merge only makes pairs with the new token and
//!   only breaks others up, so counts never rise and a pair's occurrences are written down once, when the
//!   younger of its tokens is made; whether one still stands is asked of the arena.
//! - `neighbours` sums up what stands around the merged occurrences, so the index is asked once for each
//!   distinct neighbour.
//! - `queue` finds the most frequent pair, `ties` the first of equals.
//! - `scan` fills the index. Most pairs are so rare that they are never merged: only those above a
//!   threshold are in it. When the queue runs dry the threshold is lowered and the text scanned once more.
//!   As counts never rise, none of those left out can have been due; the result does not depend on it.

mod arena;
mod index;
mod neighbours;
mod queue;
mod scan;
mod ties;
mod tokens;
mod trainer;

use crate::control::Control;
use crate::error::Result;

/// Which of several pairs of equal count is merged. "Ids" are internal: bytes by value, then merges by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The greatest `(bytes, bytes)` tuple, as CS336 has it.
    Bytes,
    /// The greatest pair of ids.
    Ids,
    /// The smallest pair of ids, as in rustbpe and nanochat.
    SmallestIds,
    /// The pair whose first live occurrence comes first in the text, as in minbpe.
    First,
    /// The smallest pair of ids where the 256 bytes rank in GPT-2's printable order, as in Hugging Face tokenizers.
    HuggingFace,
}

/// What the merge loop is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which of several pairs of equal count is merged.
    pub ties: Ties,
    /// Merges to learn at the most.
    pub max_merges: usize,
    /// A pair that occurs less often is never merged; 0 counts as 1.
    pub min_frequency: u64,
}

/// One learned merge. Ids are internal: 0..256 are the byte values, 256 + i is the result of merge i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The left token.
    pub left: u32,
    /// The right token.
    pub right: u32,
    /// How often the pair occurred when it was chosen.
    pub count: u64,
}

/// Unique pretokens with their counts.
trait Words<'w>: Iterator<Item = (&'w [u8], u64)> + Clone {}

impl<'w, I: Iterator<Item = (&'w [u8], u64)> + Clone> Words<'w> for I {}

/// Learns merges from `words`: unique pretokens with their counts, in the order of their first occurrence.
///
/// The result has fewer merges than asked for where no pair is left that occurs often enough (and never
/// more than 2^30). A word given twice counts as the sum of both. Takes about 4 bytes of memory for each
/// byte of the words and for each place where a pair occurs that may yet be merged.
///
/// # Errors
/// [`crate::Error::CountOverflow`], [`crate::Error::TooManyPretokens`], [`crate::Error::Interrupted`].
pub fn learn_merges<'w>(
    words: impl Iterator<Item = (&'w [u8], u64)> + Clone,
    options: &Options,
    control: &Control,
) -> Result<Vec<Merge>> {
    trainer::Trainer::new(words, options, control)?.run()
}
