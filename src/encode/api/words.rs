//! The ids of a text with all that Hugging Face's encodings have of each: its place, its word, the text of an added
//! token.

use std::ops::Range;

use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::output::{Sink, Spans};
use crate::error::Result;
use crate::pipeline::{Passage, Pipeline, PipelineParts, Stretch, Trust};
use crate::room;

/// The ids of a text, each with its place and its word.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The ids and their places, in bytes.
    pub spans: Spans,
    /// For each id the number of its pretoken; an added token counts as one.
    pub words: Vec<u32>,
    /// The index of each added token among the ids, and its text as it was matched.
    pub added: Vec<(usize, String)>,
    /// How many pretokens there are so far.
    count: u32,
}

impl Encoder {
    /// The ids of `text` with places, words and the text of added tokens. See [`Encoder::encode`].
    ///
    /// # Errors
    /// Same as [`Encoder::encode`].
    pub fn encode_words(&self, text: &str, special: bool, control: &Control) -> Result<Words> {
        let plain;
        let pipeline = match &self.pipeline {
            Some(pipeline) => &**pipeline,
            None => {
                plain = Pipeline::new(PipelineParts::of_specials(&self.vocab))?;
                &plain
            }
        };
        let trust = if special { Trust::All } else { Trust::None };
        let passage = Passage { text: text.as_bytes(), trust, is_first: true, is_tracked: true, control };
        let mut words = Words::default();
        pipeline.for_each_stretch(passage, &mut |stretch| {
            match stretch {
                Stretch::Token { id, range, text } => {
                    room::push(&mut words.words, words.count)?;
                    words.count += 1;
                    let text = String::from_utf8_lossy(text).into_owned();
                    room::push(&mut words.added, (words.spans.ids.len(), text))?;
                    words.spans.token(range, id)?;
                }
                Stretch::Same(range) => {
                    let base = range.start;
                    let place = |part: Range<usize>| base + part.start..base + part.end;
                    self.add_words(&mut words, pipeline, passage, &text.as_bytes()[range], place)?;
                }
                Stretch::Changed(text, origins) => {
                    let place = |part: Range<usize>| match origins.get(part) {
                        Some([(start, end)]) => *start as usize..*end as usize,
                        Some([(start, _), .., (_, end)]) => *start as usize..*end as usize,
                        _ => 0..0,
                    };
                    self.add_words(&mut words, pipeline, passage, text, place)?;
                }
            }
            Ok(true)
        })?;
        Ok(words)
    }

    /// Adds the ids of a stretch.
    fn add_words(
        &self,
        words: &mut Words,
        pipeline: &Pipeline,
        passage: Passage<'_>,
        text: &[u8],
        place: impl Fn(Range<usize>) -> Range<usize>,
    ) -> Result<()> {
        let mut spans = Spans::default();
        let same = |part: Range<usize>| part;
        self.pool.with(self.isa, 0, |scratch| {
            self.encode_changed(scratch, pipeline, passage, text, same, &mut spans)
        })?;
        let mut ends = Vec::new();
        self.splitter.for_each(text, |range| room::push(&mut ends, range.end))?;
        let mut word = 0;
        for (id, span) in spans.ids.into_iter().zip(spans.spans) {
            word += ends[word..].iter().take_while(|&&end| end <= span.start).count();
            room::push(&mut words.words, words.count + word as u32)?;
            words.spans.token(place(span), id)?;
        }
        words.count += ends.len() as u32;
        Ok(())
    }
}
