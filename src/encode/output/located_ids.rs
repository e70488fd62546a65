//! Ids for which a mask is made: where some of them are in the text, instead of a range for each.

use std::ops::Range;

use super::sink::Sink;
use crate::error::Result;
use crate::room;
use crate::vocab::Vocab;

/// A sink that keeps ids, and where in the text they are wherever that does not follow from the ids before.
#[derive(Clone, Debug, Default)]
pub struct LocatedIds {
    /// The ids.
    pub ids: Vec<u32>,
    anchors: Vec<Anchor>,
}

/// An id whose place in the text is known.
#[derive(Clone, Debug)]
struct Anchor {
    /// The index of the id.
    index: usize,
    /// Where it starts in the text, in bytes.
    start: usize,
    /// Where it ends, if the next id is at a place of its own. Otherwise the next ids follow it without a
    /// gap.
    end: Option<usize>,
}

impl Sink for LocatedIds {
    fn reads_spans(&self) -> bool {
        true
    }

    fn start(&mut self, start: usize) {
        self.anchors.push(Anchor { index: self.ids.len(), start, end: None });
    }

    fn ids(&mut self, _: &Vocab, ids: &[u32]) -> Result<()> {
        room::extend(&mut self.ids, ids)
    }

    fn token(&mut self, range: Range<usize>, id: u32) -> Result<()> {
        let anchor = Anchor { index: self.ids.len(), start: range.start, end: Some(range.end) };
        room::push(&mut self.anchors, anchor)?;
        room::push(&mut self.ids, id)
    }
}

impl LocatedIds {
    /// An empty list, with memory for the ids of a text of `bytes` bytes.
    ///
    /// # Errors
    /// Memory.
    pub fn for_text(bytes: usize) -> Result<Self> {
        Ok(LocatedIds { ids: room::for_items(bytes / 4)?, anchors: Vec::new() })
    }

    /// The special tokens, and other ids that came by themselves, with their ranges of the text in bytes.
    pub fn alone(&self) -> impl Iterator<Item = (Range<usize>, u32)> {
        self.anchors.iter().filter_map(|anchor| Some((anchor.start..anchor.end?, self.ids[anchor.index])))
    }

    /// Whether each id has a byte of one of the ranges, which are in order. The text has `bytes` bytes.
    ///
    /// # Errors
    /// Memory.
    pub fn touching(
        &self,
        ranges: impl IntoIterator<Item = Range<usize>>,
        bytes: usize,
        vocab: &Vocab,
    ) -> Result<Vec<bool>> {
        let mut ranges = ranges.into_iter().filter(|range| !range.is_empty()).peekable();
        let mut mask = room::filled(false, self.ids.len())?;
        for (number, anchor) in self.anchors.iter().enumerate() {
            let next = self.anchors.get(number + 1);
            let stop = next.map_or(self.ids.len(), |next| next.index);
            // No id of this anchor ends behind it.
            let limit = anchor.end.unwrap_or(next.map_or(bytes, |next| next.start));
            let (mut at, mut index) = (anchor.start, anchor.index);
            while index < stop {
                while ranges.next_if(|range| range.end <= at).is_some() {}
                match ranges.peek() {
                    Some(range) if range.start < limit && at < limit => {
                        if range.start <= at && limit <= range.end {
                            mask[index..stop].fill(true);
                            break;
                        }
                        let len = || vocab.tokens().get(self.ids[index]).map_or(0, <[u8]>::len);
                        let end = anchor.end.unwrap_or_else(|| at + len());
                        mask[index] = range.start < end;
                        (at, index) = (end, index + 1);
                    }
                    _ => break,
                }
            }
        }
        Ok(mask)
    }
}
