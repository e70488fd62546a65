//! Remembers what was found in the text ahead while a text is divided into pieces. So the cost of a piece
//! depends on the length of the piece, not on the distance to the next cut or on the length of the pretoken
//! at its end.

use std::ops::Range;

use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::output::Spans;
use crate::error::Result;
use crate::room;

/// A cut, or the end of a pretoken, is remembered only if it is at least this many bytes beyond the piece.
const FAR_BYTES: usize = if cfg!(test) { 8 } else { 1 << 14 };

/// What was found ahead in one text.
#[derive(Default)]
pub(super) struct LookAhead {
    /// A range whose end is the first cut at or after its start.
    cut: Range<usize>,
    /// A range without special tokens.
    plain: Range<usize>,
    pretoken: Option<Pretoken>,
    /// Bytes of the longest token.
    longest: Option<usize>,
}

/// A long pretoken.
struct Pretoken {
    start: usize,
    /// Places inside the pretoken. The text from any of them on begins with a pretoken that ends where this
    /// one does.
    stable: Range<usize>,
    /// The ends of its tokens.
    ends: Vec<usize>,
}

impl LookAhead {
    /// A place at `from` or later where the text that begins at `start` can be cut, or the end.
    pub(super) fn cut_from(&mut self, encoder: &Encoder, text: &[u8], from: usize, special: bool) -> usize {
        if !(self.cut.start <= from && from < self.cut.end) {
            let end = if from < text.len() {
                encoder.cutter(special, false).cut_from(text, from)
            } else {
                text.len()
            };
            self.cut = from..end;
        }
        self.cut.end
    }

    /// Whether there may be a special token in `range`.
    pub(super) fn may_be_special(&self, range: &Range<usize>) -> bool {
        !(self.plain.start <= range.start && range.end <= self.plain.end)
    }

    /// The ends of the first `count` tokens from `start` on, if `start` is in a long pretoken that has more
    /// tokens.
    pub(super) fn ends_from(&self, start: usize, count: usize) -> Result<Option<Vec<usize>>> {
        let Some(Pretoken { start: first, stable, ends }) = &self.pretoken else { return Ok(None) };
        let before = ends.partition_point(|&end| end <= start);
        let known = start == *first || (stable.contains(&start) && before > 0 && ends[before - 1] == start);
        // If consecutive tokens of a pretoken are merged alone, the result is the same tokens.
        let later = &ends[before..];
        (known && later.len() > count).then(|| room::copied(&later[..count])).transpose()
    }

    /// Looks for a pretoken that begins with `range` and ends far beyond the wanted bytes.
    pub(super) fn look(
        &mut self,
        encoder: &Encoder,
        text: &[u8],
        range: Range<usize>,
        wanted: usize,
        special: bool,
        control: &Control,
    ) -> Result<()> {
        // The pretokens of a text that goes through a pipeline are not parts of it.
        if range.len() < wanted.saturating_add(FAR_BYTES) || encoder.pipeline.is_some() {
            return Ok(());
        }
        let mut stop = range.end;
        if special && self.may_be_special(&range) {
            let first = encoder.vocab.specials().matches(&text[range.clone()], 0).next(control)?;
            stop = first.map_or(range.end, |first| range.start + first.range.start);
            self.plain = range.start..stop;
        }
        let own = &text[range.start..stop];
        let mut len = 0;
        encoder.pretokenizer.for_each_while(own, |first| {
            len = if first.start == 0 { first.end } else { 0 };
            Ok(false)
        })?;
        if len < wanted.saturating_add(FAR_BYTES) {
            return Ok(());
        }
        let Some(from) = encoder.pretokenizer.stable_suffix(own, 0..len) else { return Ok(()) };
        let mut tokens = Spans::default();
        encoder.pool.with(encoder.isa, 0, |scratch| {
            encoder.encode_pretoken(scratch, &own[..len], &mut tokens, control)
        })?;
        // A rest that is no longer than the longest token could itself be one token.
        let longest = *self.longest.get_or_insert_with(|| {
            encoder.vocab.tokens().iter().map(|(_, token)| token.len()).max().unwrap_or(0)
        });
        let stable = range.start + from..(range.start + len).saturating_sub(longest.max(8));
        let ends = room::collected(tokens.spans.into_iter().map(|span| range.start + span.end))?;
        self.pretoken = Some(Pretoken { start: range.start, stable, ends });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
