//! Text for learning tokens of several words: pieces of runs of words, in the tokens of an ordinary
//! vocabulary.
//!
//! Runs of words hardly occur twice, so that counting them as they are would take the memory of the whole
//! text. But most neighbouring tokens are a rare pair, and a pair is never more frequent than the neighbours
//! of the first vocabulary in its middle: no merge ever crosses a place where these are too rare. So all
//! neighbours are counted first, in sums that many pairs share, and runs are cut where a sum is too low. What
//! is left are short pieces, which occur again and again, and in which all pairs that are frequent enough
//! have their true counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::checkpoint::Saver;
use super::learn::learn_from;
use super::options::{Merge, Options};
use super::start::Start;
use super::tokens::pack;
use super::trainer::added;
use crate::control::Control;
use crate::count::PretokenCounts;
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::hashing::spread;
use crate::memory;
use crate::pretokenize::{OnMatch, Pattern, Pretokenizer, Splitter, Unmatched};

/// log2 of the number of sums, which take 32 MB.
const SUM_BITS: u32 = 22;
/// Pairs of neighbours, for each merge, that are frequent enough to stay together at first.
const PAIRS_PER_MERGE: usize = 8;
/// By what the least count is divided if too few merges reach it.
const DIVISOR: u64 = 8;

/// Counts the pretokens that a pretokenizer finds in all of the text.
pub type Count<'c> = &'c mut (dyn FnMut(Pretokenizer) -> Result<Arc<PretokenCounts>> + Send);

/// Learns merges from pieces of runs in which all neighbours are frequent, or from longer ones if these are
/// too few.
pub(super) fn learn(
    pattern: Pretokenizer,
    count: Count<'_>,
    start: &Start<'_>,
    options: &Options,
    saver: &mut Saver<'_>,
    control: &Control,
) -> Result<Vec<Merge>> {
    let runs = Arc::new(Runs::new(start, pattern)?);
    count(runs.splitting(None))?;
    let floor = options.min_frequency.max(1);
    let frequent = runs.sum_of(options.max_merges.saturating_mul(PAIRS_PER_MERGE));
    let mut least = frequent.saturating_add(1).max(floor);
    loop {
        let counts = count(runs.splitting(Some(least)))?;
        let options = Options { min_frequency: least, ..*options };
        let merges = learn_from(counts, start, &options, saver, control)?;
        if least == floor || added(start.tokens(), &merges) >= options.max_merges {
            return Ok(merges);
        }
        least = (least / DIVISOR).max(floor);
    }
}

/// Runs of words in the tokens of a vocabulary, and how often these are neighbours.
struct Runs {
    encoder: Encoder,
    sums: Vec<AtomicU64>,
}

impl Runs {
    /// Runs that a pattern finds, with no text yet.
    fn new(start: &Start<'_>, pattern: Pretokenizer) -> Result<Self> {
        let encoder = start.base.map(|base| Encoder::of_words(base.clone(), pattern)).transpose()?.flatten();
        let encoder = encoder.ok_or_else(|| {
            Error::Vocab(
                "tokens of several words need a list of merges that makes all tokens, and this tokenizer has none"
                    .into(),
            )
        })?;
        let sums = memory::zeros::<u64>(1 << SUM_BITS)?.into_iter().map(AtomicU64::new).collect();
        Ok(Runs { encoder, sums })
    }

    /// A pretokenizer that finds the pieces of runs in which all neighbours have sums of at least `least`.
    /// Without `least`, it finds nothing, but adds all neighbours in a text to the sums.
    fn splitting(self: &Arc<Self>, least: Option<u64>) -> Pretokenizer {
        let rule = self.encoder.pretokenizer().cut_rule();
        let pieces = Pieces { runs: Arc::clone(self), least };
        Pretokenizer { pattern: Pattern::Custom(Arc::new(pieces), rule), unmatched: Unmatched::Drop }
    }

    /// A number that at most `count` sums exceed.
    fn sum_of(&self, count: usize) -> u64 {
        let mut sums: Vec<u64> = self.sums.iter().map(|sum| sum.load(Relaxed)).collect();
        let at = sums.len().saturating_sub(count.saturating_add(1));
        *sums.select_nth_unstable(at).1
    }

    #[inline]
    fn sum(&self, left: u32, right: u32) -> &AtomicU64 {
        &self.sums[(spread(pack(left, right)) >> (u64::BITS - SUM_BITS)) as usize]
    }
}

/// Finds pieces, or adds up sums.
struct Pieces {
    runs: Arc<Runs>,
    least: Option<u64>,
}

impl Splitter for Pieces {
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()> {
        let encoder = &self.runs.encoder;
        let tokens = encoder.vocab().tokens();
        let ids = encoder.encode_to_vec(text, false, &Control::none())?;
        let mut ids = ids.into_iter();
        encoder.pretokenizer().for_each_while(text, |run| {
            // A piece of one token has no neighbours, and is left out.
            let (mut start, mut at, mut has_pairs) = (run.start, run.start, false);
            let mut before = None;
            while at < run.end
                && let Some(id) = ids.next()
            {
                if let Some(before) = before {
                    let sum = self.runs.sum(before, id);
                    match self.least {
                        None => drop(sum.fetch_add(1, Relaxed)),
                        Some(least) if sum.load(Relaxed) >= least => has_pairs = true,
                        Some(_) => {
                            if has_pairs && !on_match(start..at)? {
                                return Ok(false);
                            }
                            (start, has_pairs) = (at, false);
                        }
                    }
                }
                before = Some(id);
                at += tokens.get(id).map_or(0, <[u8]>::len);
            }
            Ok(!has_pairs || on_match(start..at)?)
        })
    }

    fn is_parallel(&self) -> bool {
        self.runs.encoder.pretokenizer().is_parallel()
    }
}
