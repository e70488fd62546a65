//! Ids whose place is known, and how they are written there.

use std::ops::Range;
use std::sync::Arc;

use super::buffer::ShuffleBuffer;
use super::encoded::Encoded;
use super::shard::{Filling, Shard};
use crate::error::Result;
use crate::room;

/// The ids of some documents that follow each other in a shard.
pub(super) struct Segment {
    pub(super) shard: Arc<Shard>,
    /// What the shard holds before.
    pub(super) at: Filling,
    pub(super) what: Content,
}

/// What a segment has.
pub(super) enum Content {
    /// The head of the job.
    Head,
    /// Bytes of the part of a split, and the documents in it that end.
    Part { split: usize, bytes: Range<usize>, documents: Range<usize> },
    /// Documents of a shuffled buffer, by their index in its new order.
    ShuffleBuffer { order: Range<usize> },
}

/// Where the content of segments is.
pub(super) enum Contents {
    Job(Box<Encoded>),
    ShuffleBuffer(Arc<ShuffleBuffer>),
}

/// Segments to be written.
pub(super) struct PlacedIds {
    /// The number of the job that they were placed with.
    pub(super) job: u64,
    pub(super) contents: Contents,
    pub(super) segments: Vec<Segment>,
}

impl PlacedIds {
    /// Writes all segments, and calls `closed` for each shard that is then whole.
    pub(super) fn write(&self, closed: &mut dyn FnMut(&Arc<Shard>) -> Result<()>) -> Result<()> {
        for segment in &self.segments {
            self.write_segment(segment)?;
            if segment.shard.done() {
                closed(&segment.shard)?;
            }
        }
        Ok(())
    }

    fn write_segment(&self, segment: &Segment) -> Result<()> {
        let Segment { shard, at, what } = segment;
        match (what, &self.contents) {
            (Content::Head, Contents::Job(encoded)) => {
                let Some(head) = &encoded.head else { return Ok(()) };
                let ids = head.bytes.len() as u64 / shard.width();
                let ends = if head.ends { ends(at.ids, &[ids])? } else { Vec::new() };
                shard.write(*at, &head.bytes, &ends)
            }
            (Content::Part { split, bytes, documents }, Contents::Job(encoded)) => {
                let part = &encoded.parts[*split];
                shard.write(*at, &part.bytes[bytes.clone()], &ends(at.ids, &part.lengths[documents.clone()])?)
            }
            (Content::ShuffleBuffer { order }, Contents::ShuffleBuffer(buffer)) => {
                let (bytes, lengths) = buffer.gather(order.clone())?;
                shard.write(*at, &bytes, &ends(at.ids, &lengths)?)
            }
            _ => Ok(()),
        }
    }
}

/// Where documents of these lengths end, as bytes of the index; the first begins at `start`.
fn ends(start: u64, lengths: &[u64]) -> Result<Vec<u8>> {
    let mut bytes = room::for_items(8 * lengths.len())?;
    let mut end = start;
    for length in lengths {
        end += length;
        bytes.extend_from_slice(&end.to_le_bytes());
    }
    Ok(bytes)
}
