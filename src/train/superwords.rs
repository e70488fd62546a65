//! Text for learning tokens of several words: pieces of runs of words, in the tokens of an ordinary vocabulary.
//!
//! Runs of words hardly occur twice, so that counting them as they are would take the memory of the whole text. But most
//! neighbouring tokens are a rare pair, and a pair is never more frequent than the neighbours of the first vocabulary in
//! its middle: no merge ever crosses a place where these are too rare. So all neighbours are counted first, in sums that
//! many pairs share, and runs are cut where a sum is too low. What is left are short pieces, which occur again and again,
//! and in which all pairs that are frequent enough have their true counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::tokens::pack;
use crate::control::Control;
use crate::encode::Encoder;
use crate::error::Result;
use crate::hashing::spread;
use crate::memory;
use crate::pretokenize::{OnMatch, Pattern, Pretokenizer, Splitter, Unmatched};
use crate::vocab::Vocab;

/// log2 of the number of sums, which take 32 MB.
const SUM_BITS: u32 = 22;

/// Runs of words in the tokens of a vocabulary, and how often these are neighbours.
pub struct Runs {
    encoder: Encoder,
    sums: Vec<AtomicU64>,
}

impl Runs {
    /// Runs that a pattern finds, with no text yet; `None` where the tokens of the vocabulary are not the bytes and what
    /// the merges of a list make.
    pub fn new(vocab: Vocab, pattern: Pretokenizer) -> Result<Option<Self>> {
        let Some(encoder) = Encoder::of_words(vocab, pattern)? else { return Ok(None) };
        let sums = memory::zeros::<u64>(1 << SUM_BITS)?.into_iter().map(AtomicU64::new).collect();
        Ok(Some(Runs { encoder, sums }))
    }

    /// A pretokenizer that finds nothing, but adds all neighbours in a text to the sums.
    pub fn sums(self: &Arc<Self>) -> Pretokenizer {
        self.splitting(None)
    }

    /// A pretokenizer that finds the pieces of runs in which all neighbours have sums of at least `least`.
    pub fn pieces(self: &Arc<Self>, least: u64) -> Pretokenizer {
        self.splitting(Some(least))
    }

    fn splitting(self: &Arc<Self>, least: Option<u64>) -> Pretokenizer {
        let rule = self.encoder.pretokenizer().cut_rule();
        let pieces = Pieces { runs: Arc::clone(self), least };
        Pretokenizer { pattern: Pattern::Custom(Arc::new(pieces), rule), unmatched: Unmatched::Drop }
    }

    /// A number that at most `count` sums exceed.
    pub fn sum_of(&self, count: usize) -> u64 {
        let mut sums: Vec<u64> = self.sums.iter().map(|sum| sum.load(Relaxed)).collect();
        let at = sums.len().saturating_sub(count + 1);
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
