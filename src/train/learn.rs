//! Counts of words → merges.

use super::corpus16::{self, Corpus16};
use super::corpus32::Corpus32;
use super::options::{Merge, Options, Ties};
use super::saver::Saver;
use super::start::Start;
use super::trainer::Trainer;
use crate::control::{Control, Stage};
use crate::count::PretokenCounts;
use crate::error::{Error, Result};

/// Learns merges from `words`: distinct pretokens with their counts, in the order of first occurrence.
///
/// The result has fewer merges than requested if no pair is left that occurs often enough, and at most 2^30.
/// The counts of a word that occurs twice are added. Takes 2 or 4 bytes of memory for each byte of the words,
/// and 4 for each occurrence of a pair that may still be merged.
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

/// [`resume`] with counts that the caller no longer needs. They are freed as soon as the corpus is laid out.
///
/// # Errors
/// Same as [`resume`].
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

/// Whether the words fit into cells of 16 bits: their order must not matter, and ids must be small. `room` is
/// the number of merges.
fn fits_corpus16(options: &Options, room: usize) -> bool {
    options.ties != Ties::First && room <= corpus16::MAX_MERGES
}

/// Gives the saver the last merges. Returns whether the training is complete.
fn ended(end: Result<bool>, merges: &[Merge], saver: &mut Saver<'_>) -> Result<bool> {
    match end {
        Ok(true) => saver.last(merges).map(|()| true),
        Ok(false) => Ok(false),
        Err(error) => {
            // The error of the training is reported, not a second one of the saver.
            let _ = if matches!(error, Error::Interrupted) { saver.last(merges) } else { Ok(()) };
            Err(error)
        }
    }
}

/// [`learn_merges`] that begins with `start` and gives its merges to `saver` from time to time and at the
/// end.
///
/// Returns the merges of `start.made`, or those that make the forced tokens, followed by the learned ones.
/// All that add a token count towards `options.max_merges`.
///
/// # Errors
/// Those of [`learn_merges`]; [`crate::Error::BrokenState`] if no training of this start can have made
/// `start.made`; [`crate::Error::ForcedOnUnmergeable`]; errors of `saver`.
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
