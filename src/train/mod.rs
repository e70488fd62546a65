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
mod neighbours;
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
pub use saver::Saver;
pub use start::{Start, build_vocab};

use self::corpus16::Corpus16;
use self::corpus32::Corpus32;
use self::trainer::Trainer;
use crate::control::{Control, Stage};
use crate::count::PretokenCounts;
use crate::error::{Error, Result};

/// Which of several pairs of equal count is merged. "Ids" are internal: bytes by value, then merges by age; those of
/// a vocabulary that is extended are its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The greatest `(bytes, bytes)` tuple, as CS336 has it.
    #[default]
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
    /// Tokens to add at the most.
    pub max_merges: usize,
    /// A pair that occurs less often is never merged; 0 counts as 1.
    pub min_frequency: u64,
    /// A pair of more bytes together is never merged.
    pub max_token_length: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { ties: Ties::Bytes, max_merges: 0, min_frequency: 1, max_token_length: u32::MAX }
    }
}

/// One merge. Ids are internal: 0..256 are the byte values, 256 + i is the token that was added as number i. Where a
/// vocabulary is extended, its own tokens come first, by ascending id, and then those that were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The left token.
    pub left: u32,
    /// The right token.
    pub right: u32,
    /// What they become: a token that was added, or one of the extended vocabulary that its own merges never made.
    pub token: u32,
    /// How often the pair occurred when it was chosen; 0 where it was not chosen by its count.
    pub count: u64,
}

/// Unique pretokens with their counts.
trait Words<'w>: Iterator<Item = (&'w [u8], u64)> + Clone {}

impl<'w, I: Iterator<Item = (&'w [u8], u64)> + Clone> Words<'w> for I {}

/// Learns merges from `words`: unique pretokens with their counts, in the order of their first occurrence.
///
/// The result has fewer merges than asked for where no pair is left that occurs often enough (and never
/// more than 2^30). A word given twice counts as the sum of both. Takes 2 or 4 bytes of memory for each
/// byte of the words, and 4 for each place where a pair occurs that may yet be merged.
///
/// # Errors
/// [`crate::Error::CountOverflow`], [`crate::Error::TooManyPretokens`], [`crate::Error::Interrupted`].
pub fn learn_merges<'w>(
    words: impl Iterator<Item = (&'w [u8], u64)> + Clone,
    options: &Options,
    control: &Control,
) -> Result<Vec<Merge>> {
    resume(words, &Start::default(), options, &mut Saver::none(), control)
}

/// Learns merges as [`resume`] does, from counts that nobody needs any more: they are let go of as soon as the text is
/// laid out.
///
/// # Errors
/// As [`resume`].
pub fn learn_from(
    counts: PretokenCounts,
    start: &Start<'_>,
    options: &Options,
    saver: &mut Saver<'_>,
    control: &Control,
) -> Result<Vec<Merge>> {
    if !start.is_bare() || !fits_corpus16(options, options.max_merges) {
        return resume(counts.words(), start, options, saver, control);
    }
    control.begin(Stage::Merge, options.max_merges as u64);
    let words = counts.into_words();
    let corpus = Corpus16::new(words.in_table_order(), words.words()?, control)?;
    drop(words);
    let mut trainer = Trainer::new(corpus, None, start.tokens(), Vec::new(), options, control)?;
    let end = trainer.run(saver);
    let merges = trainer.into_merges();
    ended(end, &merges, saver)?;
    Ok(merges)
}

/// Whether words can be laid out in cells of 16 bits: where their order does not matter, and no vocabulary does it.
fn fits_corpus16(options: &Options, room: usize) -> bool {
    options.ties != Ties::First && room <= corpus16::MAX_MERGES
}

/// Hands out the last merges; whether the training came to its end.
fn ended(end: Result<bool>, merges: &[Merge], saver: &mut Saver<'_>) -> Result<bool> {
    match end {
        Ok(true) => saver.last(merges).map(|()| true),
        Ok(false) => Ok(false),
        Err(error) => {
            // That error is the one to report, so one more is not.
            let _ = if matches!(error, Error::Interrupted) { saver.last(merges) } else { Ok(()) };
            Err(error)
        }
    }
}

/// Learns merges as [`learn_merges`] does, but begins with `start`, and hands what it has to `saver` now and then, and
/// in the end.
///
/// Returns the merges of `start.made`, or those that make the forced tokens, and then those that were learned. All of
/// them that add a token count towards `options.max_merges`.
///
/// # Errors
/// Those of [`learn_merges`]; [`crate::Error::BrokenState`] for `start.made` that no training of this start can have
/// made; [`crate::Error::ForcedOnUnreachable`]; what `saver` fails with.
pub fn resume<'w>(
    words: impl Iterator<Item = (&'w [u8], u64)> + Clone,
    start: &Start<'_>,
    options: &Options,
    saver: &mut Saver<'_>,
    control: &Control,
) -> Result<Vec<Merge>> {
    let options = start.adapted(options);
    let mut merges = start.first_merges(&options)?;
    loop {
        let begun = start.vocab(&merges)?;
        let first = start.tokens();
        let (begun, words) = (begun.as_deref(), words.clone());
        let room = Trainer::<Corpus32>::room(first, &merges, &options);
        let end;
        if begun.is_none() && fits_corpus16(&options, room) {
            control.begin(Stage::Merge, options.max_merges as u64);
            let corpus = Corpus16::new(words.clone(), words, control)?;
            let mut trainer = Trainer::new(corpus, begun, first, merges, &options, control)?;
            end = trainer.run(saver);
            merges = trainer.into_merges();
        } else {
            control.begin(Stage::Merge, options.max_merges as u64);
            let corpus = Corpus32::new(words, begun, room, control)?;
            let mut trainer = Trainer::new(corpus, begun, first, merges, &options, control)?;
            end = trainer.run(saver);
            merges = trainer.into_merges();
        }
        if ended(end, &merges, saver)? {
            return Ok(merges);
        }
    }
}
