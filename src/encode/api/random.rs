//! Encoding with merges left out at random.

use std::ops::Range;

use crate::control::{BYTES_PER_CHECK, Control};
use crate::encode::encoder::Encoder;
use crate::encode::parallel::EncodedBatch;
use crate::encode::scratch::Worker;
use crate::error::{Error, Result};
use crate::merge::Draws;
use crate::pipeline::Stretch;
use crate::room;

/// How often a merge is left out, and where the choices come from.
#[derive(Clone, Copy, Debug)]
pub struct RandomMerges {
    /// The probability that a merge is left out at a step, from 0 to 1.
    pub rate: f64,
    /// The choices for a pretoken depend on the seed, on the number of its text in the batch and on its own
    /// number in the text.
    pub seed: u64,
}

impl Encoder {
    /// The ids of each text with merges left out at random (BPE-dropout), on up to `workers` threads, whose
    /// number changes nothing. A pretoken that is a token is merged like any other. Nothing is cached.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`]; [`crate::Error::BrokenState`] if the vocabulary merges by names.
    pub fn encode_batch_randomly(
        &self,
        texts: &[&[u8]],
        special: bool,
        merges: RandomMerges,
        workers: usize,
        control: &Control,
    ) -> Result<EncodedBatch> {
        let pairs = self.vocab.pairs().ok_or(Error::BrokenState)?;
        let encode = |worker: Worker, run: Range<usize>, ids: &mut Vec<u32>, ends: &mut Vec<usize>| {
            self.pool.with(self.isa, worker.number, |scratch| {
                for number in run {
                    // The pretokens of the text so far.
                    let mut count = 0;
                    let merge = |pretoken: &[u8], ids: &mut Vec<u32>| {
                        let mut draws = Draws::of_pretoken(merges.rate, merges.seed, number as u64, count);
                        count += 1;
                        scratch.merger.merge_randomly(pairs, pretoken, &mut draws, ids, control)
                    };
                    self.add_randomly(texts[number], special, merge, ids, control)?;
                    ends.push(ids.len());
                }
                Ok(())
            })
        };
        self.encode_runs(texts, (workers, usize::MAX), control, &encode)
    }

    /// Adds the ids of a text. `merge` adds the tokens of a pretoken, as indices.
    fn add_randomly(
        &self,
        text: &[u8],
        special: bool,
        mut merge: impl FnMut(&[u8], &mut Vec<u32>) -> Result<()>,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let mut unchecked = 0;
        let mut add = |text: &[u8], ids: &mut Vec<u32>| {
            self.pretokenizer.for_each(text, |range| {
                unchecked += range.len();
                if unchecked >= BYTES_PER_CHECK {
                    unchecked = 0;
                    control.check()?;
                }
                let first = ids.len();
                merge(&text[range], ids)?;
                ids[first..].iter_mut().for_each(|index| *index = self.vocab.tokens().id_at(*index));
                Ok(())
            })
        };
        self.for_each_stretch(text, special, false, control, &mut |stretch| match stretch {
            Stretch::Token { id, .. } => room::push(ids, id),
            Stretch::Same(range) => add(&text[range], ids),
            Stretch::Changed(text, _) => add(text, ids),
        })
    }
}
