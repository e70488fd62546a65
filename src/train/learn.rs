//! Counts of words → merges.

use super::corpus::{Corpus, WORDS_PER_CHECK};
use super::corpus16;
use super::corpus32::{self, Corpus32};
use super::limit::{Limit, MaxBytes, MaxWords};
use super::options::{Merge, Options, Ties};
use super::saver::Saver;
use super::start::Start;
use super::trainer::{BYTES_PER_MERGE, Trainer};
use crate::control::{Control, Stage};
use crate::count::PretokenCounts;
use crate::error::{Error, Result};
use crate::vocab::Vocab;

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
pub fn learn_from(
    counts: PretokenCounts,
    start: &Start<'_>,
    options: &Options,
    saver: &mut Saver<'_>,
    control: &Control,
) -> Result<Vec<Merge>> {
    let adapted = start.adapted(options);
    let merges = start.first_merges(&adapted)?;
    let vocab = start.vocab(&merges)?;
    if vocab.as_deref().is_some_and(Vocab::has_unmergeable) {
        return resume(counts.words(), start, options, saver, control);
    }
    control.begin(Stage::Merge, options.max_merges as u64);
    let learner = Learner { vocab: vocab.as_deref(), first: start.tokens(), options: &adapted, control };
    if learner.fits_corpus16(&merges) {
        let words = counts.into_words();
        let layout = corpus16::Layout::new(words.in_table_order(), control)?;
        return learner.run16(layout, |take| words.drain(take), merges, saver).map(|(merges, _)| merges);
    }
    // The order of the words decides ties.
    counts.check_memory_for_order()?;
    let _ = counts.words(); // puts them into it, so that they are drained in it
    let words = counts.into_words();
    let room = learner.room(&merges);
    let layout = corpus32::Layout::new(words.in_table_order(), vocab.as_deref(), room, control)?;
    learner.run32(layout, |take| words.drain(take), merges, saver).map(|(merges, _)| merges)
}

/// The memory that learning from `pretokens` distinct pretokens of `bytes` bytes takes at least, in bytes: with an index
/// of hardly any pair. `has_vocab` says whether it begins with a vocabulary or with forced tokens.
pub fn least_memory(pretokens: u64, bytes: u64, has_vocab: bool, options: &Options) -> u64 {
    let is_wide = has_vocab || options.ties == Ties::First || options.max_merges > corpus16::MAX_MERGES;
    let cells = pretokens + bytes;
    let merges = cells.min(options.max_merges as u64);
    (if is_wide { 5 } else { 3 }) * cells + merges * BYTES_PER_MERGE
}

/// Takes a word and its count.
type Take<'t> = &'t mut dyn FnMut(&[u8], u64) -> Result<()>;

/// What decides how merges are learned after others.
struct Learner<'l> {
    /// The vocabulary that lays out the words; `None` for bytes.
    vocab: Option<&'l Vocab>,
    /// The number of tokens before the first merge.
    first: u32,
    options: &'l Options,
    control: &'l Control<'l>,
}

impl Learner<'_> {
    /// The number of tokens that may be added after `merges`.
    fn room(&self, merges: &[Merge]) -> usize {
        Trainer::<Corpus32>::room(self.first, merges, self.options)
    }

    /// Whether the words fit into cells of 16 bits: their order must not matter, and ids must be small.
    fn fits_corpus16(&self, merges: &[Merge]) -> bool {
        self.vocab.is_none() && self.options.ties != Ties::First && self.room(merges) <= corpus16::MAX_MERGES
    }

    /// Gives `write` each word that `each` gives, and checks the control now and then.
    fn lay_out(
        &self,
        each: impl FnOnce(Take<'_>) -> Result<()>,
        mut write: impl FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()> {
        let mut number = 0_usize;
        each(&mut |word, weight| {
            number += 1;
            if number.is_multiple_of(WORDS_PER_CHECK) {
                self.control.check()?;
            }
            write(word, weight)
        })
    }

    /// Lays out the words that `each` gives, and learns merges. Returns them, and whether they are complete.
    fn run16(
        &self,
        mut layout: corpus16::Layout,
        each: impl FnOnce(Take<'_>) -> Result<()>,
        merges: Vec<Merge>,
        saver: &mut Saver<'_>,
    ) -> Result<(Vec<Merge>, bool)> {
        self.lay_out(each, |word, weight| {
            layout.write(word, weight);
            Ok(())
        })?;
        self.run(layout.finish(), merges, saver)
    }

    /// [`Learner::run16`] with cells of 32 bits.
    fn run32(
        &self,
        layout: corpus32::Layout<'_>,
        each: impl FnOnce(Take<'_>) -> Result<()>,
        merges: Vec<Merge>,
        saver: &mut Saver<'_>,
    ) -> Result<(Vec<Merge>, bool)> {
        let mut layout = layout.in_token_cells(self.options.max_words.is_some());
        self.lay_out(each, |word, weight| layout.write(word, weight, self.control))?;
        match self.options.max_words.zip(self.vocab) {
            None => self.run(layout.finish(), merges, saver),
            Some((words, vocab)) => {
                let limit = MaxWords::new(vocab, words, self.options)?;
                self.run_within(limit, layout.finish(), merges, saver)
            }
        }
    }

    fn run(
        &self,
        corpus: impl Corpus,
        merges: Vec<Merge>,
        saver: &mut Saver<'_>,
    ) -> Result<(Vec<Merge>, bool)> {
        self.run_within(MaxBytes(self.options.max_token_length), corpus, merges, saver)
    }

    fn run_within(
        &self,
        limit: impl Limit,
        corpus: impl Corpus,
        merges: Vec<Merge>,
        saver: &mut Saver<'_>,
    ) -> Result<(Vec<Merge>, bool)> {
        let Learner { vocab, first, options, control } = *self;
        let mut trainer = Trainer::new(corpus, vocab, first, merges, limit, options, control)?;
        let end = trainer.run(saver);
        let merges = trainer.into_merges();
        ended(end, &merges, saver).map(|ended| (merges, ended))
    }
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
/// `start.made`, or its base merges by names; [`crate::Error::Vocab`] for forced tokens that cannot be made; errors of `saver`.
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
        let vocab = start.vocab(&merges)?;
        let vocab = vocab.as_deref();
        control.begin(Stage::Merge, options.max_merges as u64);
        let learner = Learner { vocab, first: start.tokens(), options: &options, control };
        let mut all = words.clone();
        let each = |take: Take<'_>| all.try_for_each(|(word, weight)| take(word, weight));
        let is_complete;
        (merges, is_complete) = if learner.fits_corpus16(&merges) {
            learner.run16(corpus16::Layout::new(words.clone(), control)?, each, merges, saver)?
        } else {
            let layout = corpus32::Layout::new(words.clone(), vocab, learner.room(&merges), control)?;
            learner.run32(layout, each, merges, saver)?
        };
        if is_complete {
            return Ok(merges);
        }
    }
}
