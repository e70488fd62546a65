//! The ids of a text with all that Hugging Face's encodings have of each: its place, its word, the text of an
//! added token.

use std::ops::Range;

use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::output::{Sink, Spans};
use crate::error::Result;
use crate::normalize::origin_of;
use crate::pipeline::Stretch;
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
    pub fn encode_words(&self, text: &str, special: bool, control: &Control) -> Result<Words> {
        let text = text.as_bytes();
        let mut words = Words::default();
        self.for_each_stretch(text, special, true, control, &mut |stretch| match stretch {
            Stretch::Token { id, range, text } => {
                room::push(&mut words.words, words.count)?;
                words.count += 1;
                let text = String::from_utf8_lossy(text).into_owned();
                room::push(&mut words.added, (words.spans.ids.len(), text))?;
                words.spans.token(range, id)
            }
            Stretch::Same(range) => {
                let origin = |span: Range<usize>| range.start + span.start..range.start + span.end;
                self.add_words(&mut words, &text[range.clone()], &origin, control)
            }
            Stretch::Changed(text, origins) => {
                self.add_words(&mut words, text, &|span| origin_of(origins, span), control)
            }
        })?;
        Ok(words)
    }

    /// Adds the ids of a stretch. `origin` gives the range of the original that a range comes from.
    fn add_words(
        &self,
        words: &mut Words,
        text: &[u8],
        origin: &dyn Fn(Range<usize>) -> Range<usize>,
        control: &Control,
    ) -> Result<()> {
        let mut spans = Spans::default();
        self.pool.with(self.isa, 0, |scratch| {
            self.encode_text(scratch, text, 0..text.len(), &mut spans, control)
        })?;
        let mut ends = Vec::new();
        self.splitter.for_each(text, |range| room::push(&mut ends, range.end))?;
        let mut word = 0;
        for (id, span) in spans.ids.into_iter().zip(spans.spans) {
            word += ends[word..].iter().take_while(|&&end| end <= span.start).count();
            room::push(&mut words.words, words.count + word as u32)?;
            words.spans.token(origin(span), id)?;
        }
        words.count += ends.len() as u32;
        Ok(())
    }
}
