//! Where ids go while text is encoded.

use std::ops::Range;

use crate::error::Result;
use crate::room;
use crate::vocab::Vocab;

/// Takes ids in the order of the text.
pub trait Sink {
    /// Whether the sink reads the ids, not only their number.
    fn reads_ids(&self) -> bool {
        true
    }

    /// Whether the sink reads where ids are in the text, besides special tokens.
    fn reads_spans(&self) -> bool {
        false
    }

    /// Says that the next ids are those of the text from byte `start` on, without a gap.
    fn start(&mut self, _start: usize) {}

    /// Takes the next ids.
    fn ids(&mut self, vocab: &Vocab, ids: &[u32]) -> Result<()>;

    /// Takes a special token, which is at `range`, in bytes.
    fn token(&mut self, range: Range<usize>, id: u32) -> Result<()>;

    /// Takes the number of the next ids, for a sink that does not read them.
    fn count(&mut self, _ids: usize) {}

    /// Whether the sink wants more ids; encoding ends soon after it does not.
    fn wants_more(&self) -> bool {
        true
    }
}

impl Sink for Vec<u32> {
    fn ids(&mut self, _: &Vocab, ids: &[u32]) -> Result<()> {
        room::extend(self, ids)
    }

    fn token(&mut self, _: Range<usize>, id: u32) -> Result<()> {
        room::push(self, id)
    }
}

/// Counts ids.
pub(in crate::encode) struct CountSink(pub(in crate::encode) usize);

impl Sink for CountSink {
    fn reads_ids(&self) -> bool {
        false
    }

    fn ids(&mut self, _: &Vocab, ids: &[u32]) -> Result<()> {
        self.0 += ids.len();
        Ok(())
    }

    fn token(&mut self, _: Range<usize>, _: u32) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn count(&mut self, ids: usize) {
        self.0 += ids;
    }
}

/// A sink that keeps ids with their ranges in the text.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The ids.
    pub ids: Vec<u32>,
    /// The range of the text, in bytes, that each id stands for. Ranges have gaps if unmatched text is
    /// dropped.
    pub spans: Vec<Range<usize>>,
    /// The start of the next id in the text, in bytes.
    at: usize,
    /// No more ids are wanted once there are more than so many.
    limit: Option<usize>,
}

impl Sink for Spans {
    fn reads_spans(&self) -> bool {
        true
    }

    fn start(&mut self, start: usize) {
        self.at = start;
    }

    fn ids(&mut self, vocab: &Vocab, ids: &[u32]) -> Result<()> {
        room::extend(&mut self.ids, ids)?;
        room::reserve(&mut self.spans, ids.len())?;
        let mut at = self.at;
        self.spans.extend(ids.iter().map(|&id| {
            let start = at;
            at += vocab.tokens().get(id).map_or(0, <[u8]>::len);
            start..at
        }));
        self.at = at;
        Ok(())
    }

    fn token(&mut self, range: Range<usize>, id: u32) -> Result<()> {
        room::push(&mut self.ids, id)?;
        room::push(&mut self.spans, range)
    }

    fn wants_more(&self) -> bool {
        self.limit.is_none_or(|limit| self.ids.len() <= limit)
    }
}

impl Spans {
    /// Keeps ids until there are more than `limit`.
    pub(in crate::encode) fn up_to(limit: usize) -> Self {
        Spans { limit: Some(limit), ..Spans::default() }
    }

    /// Start and end of each id in bytes, one pair after the other.
    pub fn in_bytes(&self) -> Result<Vec<i64>> {
        let mut pairs = room::for_items(2 * self.spans.len())?;
        pairs.extend(self.spans.iter().flat_map(|span| [span.start as i64, span.end as i64]));
        Ok(pairs)
    }

    /// Start and end of each id in characters of `text`, which is UTF-8, one pair after the other: from the
    /// character that the id starts in to the end of the one that it ends in. So ids that share a character
    /// overlap, and each span is text that can be shown.
    pub fn in_characters(&self, text: &[u8]) -> Result<Vec<i64>> {
        let mut pairs = room::for_items(2 * self.spans.len())?;
        // Characters that start before byte `at`.
        let (mut at, mut started) = (0, 0i64);
        // Spans may overlap, so that a place may come before the last one.
        let mut started_before = |byte: usize| {
            let run = &text[at.min(byte)..at.max(byte)];
            let count = run.iter().filter(|&&b| !is_continuation(b)).count() as i64;
            started += if byte < at { -count } else { count };
            at = byte;
            started
        };
        for span in &self.spans {
            let inside = text.get(span.start).is_some_and(|&b| is_continuation(b));
            let start = started_before(span.start) - i64::from(inside);
            pairs.extend([start, started_before(span.end)]);
        }
        Ok(pairs)
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
