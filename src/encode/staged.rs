//! Text that goes through a pipeline before it is cut into pretokens.

use std::ops::Range;

use super::encoder::Encoder;
use super::output::{Sink, Spans};
use super::scratch::Scratch;
use super::special_set::ActiveSpecials;
use crate::control::Control;
use crate::error::Result;
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
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Passage { text, trust, control, .. } = passage;
        let special = matches!(trust, Trust::All);
        let is_plain = !pipeline.fuses_unknown() && !(passage.is_tracked && self.has_unknown());
        if !matches!(trust, Trust::Inside(_)) && is_plain && pipeline.leaves(text, special, control)? {
            return self.encode_plain(scratch, pipeline.plain_prefix(), passage, specials, sink);
        }
        pipeline.for_each_stretch(passage, &mut |stretch| {
            match stretch {
                Stretch::Token { id, range, .. } => sink.token(range, id)?,
                Stretch::Same(range) if is_plain => self.encode_text(scratch, text, range, sink, control)?,
                Stretch::Same(range) => {
                    let base = range.start;
                    let place = |part: Range<usize>| base + part.start..base + part.end;
                    self.encode_changed(scratch, pipeline, passage, &text[range], place, sink)?;
                }
                Stretch::Changed(text, origins) => {
                    let place = |part: Range<usize>| match origins.get(part) {
                        Some([(start, end)]) => *start as usize..*end as usize,
                        Some([(start, _), .., (_, end)]) => *start as usize..*end as usize,
                        _ => 0..0,
                    };
                    self.encode_changed(scratch, pipeline, passage, text, place, sink)?;
                }
            }
            Ok(sink.wants_more())
        })
    }

    /// Whether a text is encoded as it stands: no step of a pipeline changes it.
    ///
    /// # Errors
    /// Errors of a pattern.
    pub fn leaves(&self, text: &[u8], special: bool) -> Result<bool> {
        let Some(pipeline) = &self.pipeline else { return Ok(true) };
        Ok(pipeline.plain_prefix() == Prefix::None && pipeline.leaves(text, special, &Control::none())?)
    }

    /// Encodes a text that no step changes, but for a prefix.
    fn encode_plain(
        &self,
        scratch: &mut Scratch,
        prefix: Prefix,
        passage: Passage<'_>,
        specials: ActiveSpecials<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Passage { text, is_first, control, .. } = passage;
        for segment in specials.search.segments(text, control) {
            match segment? {
                Segment::Text(range) => {
                    let begins = is_first || range.start > 0;
                    if begins && prefix.is_before(&text[range.clone()], range.start == 0) {
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
        sink: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        let mut prefixed = room::for_items(1 + range.len())?;
        prefixed.push(b' ');
        prefixed.extend_from_slice(&text[range.clone()]);
        if !sink.reads_places() {
            return self.encode_text(scratch, &prefixed, 0..prefixed.len(), sink, control);
        }
        let first = text[range.clone()].utf8_chunks().next();
        let first = first.and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8);
        let mut spans = Spans::default();
        self.encode_text(scratch, &prefixed, 0..prefixed.len(), &mut spans, control)?;
        for (id, span) in spans.ids.into_iter().zip(spans.spans) {
            let start = span.start.saturating_sub(1);
            let end = if span.end <= 1 { first } else { span.end - 1 };
            sink.token(range.start + start..range.start + end, id)?;
        }
        Ok(())
    }

    /// Encodes text that is not a part of the original, or whose ids do not have the bytes that they stand for.
    pub(super) fn encode_changed(
        &self,
        scratch: &mut Scratch,
        pipeline: &Pipeline,
        passage: Passage<'_>,
        text: &[u8],
        place: impl Fn(Range<usize>) -> Range<usize>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (all, control) = (0..text.len(), passage.control);
        if !sink.reads_places() {
            if !pipeline.fuses_unknown() {
                return self.encode_text(scratch, text, all, sink, control);
            }
            let mut ids = Vec::new();
            self.encode_text(scratch, text, all, &mut ids, control)?;
            let unknown = self.unknown();
            ids.dedup_by(|id, before| id == before && Some(*id) == unknown);
            return sink.ids(&self.vocab, &ids);
        }
        let mut spans = Spans::default();
        self.encode_text(scratch, text, all, &mut spans, control)?;
        if self.has_unknown() {
            self.measure_unknown(text, &mut spans, pipeline.fuses_unknown())?;
        }
        for (id, span) in spans.ids.into_iter().zip(spans.spans) {
            sink.token(place(span), id)?;
        }
        Ok(())
    }

    fn unknown(&self) -> Option<u32> {
        self.vocab.characters().and_then(|characters| characters.unknown)
    }

    fn has_unknown(&self) -> bool {
        self.unknown().is_some()
    }

    /// Corrects the spans of a text with unknown characters, each of which has the bytes of one character; with
    /// `fuses`, neighbours become one.
    fn measure_unknown(&self, text: &[u8], spans: &mut Spans, fuses: bool) -> Result<()> {
        let unknown = self.unknown();
        let mut measured = Spans::default();
        let mut at = 0;
        for &id in &spans.ids {
            let length = if Some(id) == unknown {
                let first = text[at..].utf8_chunks().next();
                first.and_then(|chunk| chunk.valid().chars().next()).map_or(1, char::len_utf8)
            } else {
                self.vocab.tokens().get(id).map_or(0, <[u8]>::len)
            };
            let range = at..at + length;
            at = range.end;
            match (measured.ids.last(), measured.spans.last_mut()) {
                (Some(last), Some(span)) if fuses && Some(id) == unknown && *last == id => span.end = at,
                _ => measured.token(range, id)?,
            }
        }
        *spans = measured;
        Ok(())
    }
}
