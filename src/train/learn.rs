//! Counts of words → merges.

use std::sync::Arc;

use super::checkpoint::Saver;
use super::corpus::{self, Corpus, WORDS_PER_CHECK};
use super::corpus16;
use super::corpus32::{self, Corpus32};
use super::limit::{Limit, MaxBytes, MaxWords};
use super::options::{Merge, Options, Ties};
use super::start::Start;
use super::trainer::Trainer;
use crate::control::{Control, Stage};
use crate::count::PretokenCounts;
use crate::error::{Error, Result};
use crate::vocab::Vocab;

/// [`resume`] from counts, which are freed once the corpus is laid out, if nobody else has them.
pub fn learn_from(
    counts: impl Into<Arc<PretokenCounts>>,
    start: &Start<'_>,
    options: &Options,
    saver: &mut Saver<'_>,
    control: &Control,
) -> Result<Vec<Merge>> {
    let counts = match Arc::try_unwrap(counts.into()) {
        Ok(counts) => counts,
        Err(counts) => return resume(counts.words(), start, options, saver, control),
    };
    let adapted = start.adapted(options);
    let merges = start.first_merges(&adapted)?;
    let vocab = start.vocab(&merges)?;
    if vocab.as_deref().is_some_and(Vocab::has_unmergeable) {
        return resume(counts.words(), start, options, saver, control);
    }
    control.begin(Stage::Merge, options.max_merges as u64);
    let learner = Learner { vocab: vocab.as_deref(), first: start.tokens(), options: &adapted, control };
    let layout = learner.layout(counts.unordered_words(), &merges)?;
    // There the order of the words decides ties.
    let in_order = matches!(layout, Layout::Wide(_));
    learner.run(layout, |take| counts.drain(in_order, take), merges, saver).map(|(merges, _)| merges)
}

/// Takes a word and its count.
type Take<'t> = &'t mut dyn FnMut(&[u8], u64) -> Result<()>;

/// A corpus without words.
enum Layout<'v> {
    Narrow(corpus16::Layout),
    Wide(corpus32::Layout<'v>),
}

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
    /// A corpus for the words, in cells of 16 bits, if their order does not matter and ids are small, or of
    /// 32.
    fn layout<'w>(
        &self,
        words: impl Iterator<Item = (&'w [u8], u64)>,
        merges: &[Merge],
    ) -> Result<Layout<'_>> {
        let room = Trainer::<Corpus32>::room(self.first, merges, self.options);
        let is_ordered = self.vocab.is_some() || self.options.ties == Ties::First;
        Ok(if !is_ordered && room <= corpus16::MAX_MERGES {
            Layout::Narrow(corpus16::Layout::new(words, self.control)?)
        } else {
            let size = corpus::measure(words, self.control, |_, _| ())?;
            // Each merge removes at least one token from the text, so there are fewer merges than cells.
            let mut wide = corpus32::Layout::new(size, self.vocab, (room as u64).min(size.into()))?;
            wide.has_token_cells = self.options.max_words.is_some();
            Layout::Wide(wide)
        })
    }

    /// Lays out the words that `each` gives, and learns merges. Returns them, and whether they are complete.
    fn run(
        &self,
        mut layout: Layout<'_>,
        each: impl FnOnce(Take<'_>) -> Result<()>,
        merges: Vec<Merge>,
        saver: &mut Saver<'_>,
    ) -> Result<(Vec<Merge>, bool)> {
        let mut number = 0_usize;
        each(&mut |word, weight| {
            number += 1;
            if number.is_multiple_of(WORDS_PER_CHECK) {
                self.control.check()?;
            }
            match &mut layout {
                Layout::Narrow(layout) => layout.write(word, weight),
                Layout::Wide(layout) => layout.write(word, weight, self.control)?,
            }
            Ok(())
        })?;
        let max_bytes = MaxBytes(self.options.max_token_length);
        match (layout, self.options.max_words.zip(self.vocab)) {
            (Layout::Narrow(layout), _) => self.run_within(max_bytes, layout.corpus, merges, saver),
            (Layout::Wide(layout), None) => self.run_within(max_bytes, layout.corpus, merges, saver),
            (Layout::Wide(layout), Some((words, vocab))) => {
                let limit = MaxWords::new(vocab, words, self.options)?;
                self.run_within(limit, layout.corpus, merges, saver)
            }
        }
    }

    /// Learns merges in a corpus, and gives the saver the last ones.
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
        if matches!(end, Ok(true) | Err(Error::Interrupted)) {
            let saved = saver.last(&merges);
            // The interruption is reported, not a second error of the saver.
            end.and(saved)?;
            return Ok((merges, true));
        }
        Ok((merges, end?))
    }
}

/// Learns merges from `words`: pretokens with their counts, in the order of first occurrence. The counts of a
/// word that occurs twice are added.
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
        let layout = learner.layout(words.clone(), &merges)?;
        let is_complete;
        (merges, is_complete) = learner.run(layout, each, merges, saver)?;
        if is_complete {
            return Ok(merges);
        }
    }
}
