//! Ids with their places, for vocabularies whose ids do not have the bytes of the text.

use std::ops::Range;

use super::encoder::Encoder;
use super::output::Sink;
use crate::control::Control;
use crate::error::Result;

impl Encoder {
    /// [`Encoder::encode_text`] for a sink that reads spans, where the bytes of ids are not those of the text.
    pub(super) fn encode_spans(
        &self,
        text: &[u8],
        range: Range<usize>,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        let (mut ids, mut spans) = (Vec::new(), Vec::new());
        let base = range.start;
        self.pretokenizer.for_each_while(&text[range.clone()], |pretoken| {
            ids.clear();
            spans.clear();
            let start = base + pretoken.start;
            self.vocab.pretoken_spans(&text[start..base + pretoken.end], &mut ids, &mut spans, control)?;
            for (&id, span) in ids.iter().zip(&spans) {
                sink.token(start + span.start..start + span.end, id)?;
            }
            Ok(sink.wants_more())
        })
    }
}
