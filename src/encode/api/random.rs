//! Encoding with merges left out at random.

use std::ops::Range;

use crate::control::{BYTES_PER_CHECK, Control};
use crate::encode::encoder::Encoder;
use crate::encode::parallel::EncodedBatch;
use crate::error::{Error, Result};
use crate::merge::{Draws, Pairs, RandomMerger};
use crate::pipeline::Stretch;
use crate::room;

/// How often a merge is left out, and where the choices come from.
#[derive(Clone, Copy, Debug)]
pub struct RandomMerges {
    /// The probability that a merge is left out at a step, from 0 to 1.
    pub rate: f64,
    /// The choices for a pretoken depend on the seed, on the number of its text in the batch and on its own number in
    /// the text.
    pub seed: u64,
}

impl Encoder {
    /// The ids of each text with merges left out at random (BPE-dropout), on up to `workers` threads, whose number
    /// changes nothing. A pretoken that is a token is merged like any other. Nothing is cached.
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
        let encode = |_, run: Range<usize>, ids: &mut Vec<u32>, ends: &mut Vec<usize>| {
            let merger = &mut RandomMerger::default();
            for number in run {
                let (text, merger) = (number as u64, &mut *merger);
                let (encoder, count, unchecked) = (self, 0, 0);
                let mut pretokens =
                    Pretokens { encoder, pairs, merges, merger, control, text, count, unchecked };
                pretokens.add(texts[number], special, ids)?;
                ends.push(ids.len());
            }
            Ok(())
        };
        self.encode_runs(texts, (workers, usize::MAX), control, &encode)
    }
}

/// The pretokens of one text, which are counted.
struct Pretokens<'a> {
    encoder: &'a Encoder,
    pairs: &'a Pairs,
    merges: RandomMerges,
    merger: &'a mut RandomMerger,
    control: &'a Control<'a>,
    /// The number of the text.
    text: u64,
    /// The number of pretokens so far.
    count: u64,
    /// Bytes of text since the last check of the control.
    unchecked: usize,
}

impl Pretokens<'_> {
    /// Adds the ids of the text.
    fn add(&mut self, text: &[u8], special: bool, ids: &mut Vec<u32>) -> Result<()> {
        let Pretokens { encoder, control, .. } = *self;
        encoder.for_each_stretch(text, special, false, control, &mut |stretch| match stretch {
            Stretch::Token { id, .. } => room::push(ids, id),
            Stretch::Same(range) => self.add_text(&text[range], ids),
            Stretch::Changed(text, _) => self.add_text(text, ids),
        })
    }

    /// Adds the ids of text without added tokens.
    fn add_text(&mut self, text: &[u8], ids: &mut Vec<u32>) -> Result<()> {
        let Encoder { vocab, pretokenizer, .. } = self.encoder;
        pretokenizer.for_each(text, |range| {
            self.unchecked += range.len();
            if self.unchecked >= BYTES_PER_CHECK {
                self.unchecked = 0;
                self.control.check()?;
            }
            let RandomMerges { rate, seed } = self.merges;
            let mut draws = Draws::of_pretoken(rate, seed, self.text, self.count);
            self.count += 1;
            let first = ids.len();
            self.merger.merge(self.pairs, &text[range], &mut draws, ids, self.control)?;
            ids[first..].iter_mut().for_each(|index| *index = vocab.tokens().id_at(*index));
            Ok(())
        })
    }
}
