//! Text that goes through a pipeline before it is cut into pretokens.

use std::ops::Range;

use super::encoder::Encoder;
use super::output::{Sink, Spans};
use super::scratch::Scratch;
use super::special_set::ActiveSpecials;
use crate::control::Control;
use crate::error::Result;
use crate::normalize::origin_of;
use crate::pipeline::{Passage, Pipeline, Prefix, Stretch, Trust};
use crate::room;
use crate::special::Segment;

impl Encoder {
    /// Encodes a text after the steps of a pipeline.
    pub(super) fn encode_staged(
        &self,
        scratch: &mut Scratch,
        pipeline: &Pipeline,
        passage: Passage<'_>,
        specials: ActiveSpecials<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let Passage { text, trust, control, .. } = passage;
        let special = matches!(trust, Trust::All);
        if !matches!(trust, Trust::Inside(_)) && pipeline.leaves(text, special, control)? {
            return self.encode_plain(scratch, pipeline.plain_prefix(), passage, specials, sink);
        }
        pipeline.for_each_stretch(passage, &mut |stretch| {
            match stretch {
                Stretch::Token { id, range, .. } => sink.token(range, id)?,
                Stretch::Same(range) => self.encode_text(scratch, text, range, sink, control)?,
                Stretch::Changed(text, origins) => {
                    self.encode_changed(scratch, text, &|span| origin_of(origins, span), sink, control)?;
                }
            }
            Ok(sink.wants_more())
        })
    }

    /// Whether a text is encoded as it stands: no step of a pipeline changes it.
    pub fn leaves(&self, text: &[u8], special: bool) -> Result<bool> {
        let Some(pipeline) = &self.pipeline else { return Ok(true) };
        Ok(pipeline.plain_prefix() == Prefix::None && pipeline.leaves(text, special, &Control::none())?)
    }

    /// Encodes a text that no step changes, but for a prefix.
    pub(super) fn encode_plain(
        &self,
        scratch: &mut Scratch,
        prefix: Prefix,
        passage: Passage<'_>,
        specials: ActiveSpecials<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let Passage { text, is_first, control, .. } = passage;
        for segment in specials.search.segments(text, control) {
            match segment? {
                Segment::Text(range) => {
                    let begins = is_first || range.start > 0;
                    if begins && prefix.is_before(&text[range.clone()], b" ", range.start == 0) {
                        self.encode_prefixed(scratch, text, range, sink, control)?;
                    } else {
                        self.encode_text(scratch, text, range, sink, control)?;
                    }
                }
                Segment::Special(token) => sink.token(token.range.clone(), specials.ids[token.index])?,
            }
            if !sink.wants_more() {
                break;
            }
        }
        Ok(())
    }

    /// Encodes `text[range]` as if a space stood before it, which has the place of the first character.
    fn encode_prefixed(
        &self,
        scratch: &mut Scratch,
        text: &[u8],
        range: Range<usize>,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        let mut prefixed = room::for_items(1 + range.len())?;
        prefixed.push(b' ');
        prefixed.extend_from_slice(&text[range.clone()]);
        let first = text[range.clone()].utf8_chunks().next();
        let first = first.and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8);
        let origin = |span: Range<usize>| {
            let end = if span.end <= 1 { first } else { span.end - 1 };
            range.start + span.start.saturating_sub(1)..range.start + end
        };
        self.encode_changed(scratch, &prefixed, &origin, sink, control)
    }

    /// Encodes text that is not a part of the original. `origin` gives the range of the original that a range
    /// comes from.
    fn encode_changed(
        &self,
        scratch: &mut Scratch,
        text: &[u8],
        origin: &dyn Fn(Range<usize>) -> Range<usize>,
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        if !sink.reads_spans() {
            return self.encode_text(scratch, text, 0..text.len(), sink, control);
        }
        let mut spans = Spans::default();
        self.encode_text(scratch, text, 0..text.len(), &mut spans, control)?;
        for (id, span) in spans.ids.into_iter().zip(spans.spans) {
            sink.token(origin(span), id)?;
        }
        Ok(())
    }

    /// [`Encoder::encode_text`] for a sink that reads spans, where the bytes of ids are not those of the
    /// text.
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
