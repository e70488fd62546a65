//! Ids that have a place in a shard, and how they are written there.

use std::ops::Range;
use std::sync::Arc;

use super::buffer::DocumentBuffer;
use super::documents::Encoded;
use super::shard::{Filling, Shard};
use crate::error::Result;
use crate::room;

/// The ids of consecutive documents in a shard.
pub(super) struct ShardRange {
    pub(super) shard: Arc<Shard>,
    /// What the shard holds before this segment.
    pub(super) at: Filling,
    pub(super) what: Content,
}

/// Where the ids of a segment are.
pub(super) enum Content {
    /// In the head of a job.
    Head(Arc<Encoded>),
    /// In the part of a split: a range of its bytes, and the documents that end in this range.
    SplitIds { encoded: Arc<Encoded>, split: usize, bytes: Range<usize>, documents: Range<usize> },
    /// In a buffer: a range of its entries in their new order.
    Buffered(Arc<DocumentBuffer>, Range<usize>),
}

/// Segments to be written.
pub(super) struct PlacedIds {
    /// The number of the job that they were placed with.
    pub(super) job: u64,
    pub(super) segments: Vec<ShardRange>,
}

impl PlacedIds {
    /// Writes all segments, and calls `closed` for each shard that is complete afterwards.
    pub(super) fn write(&self, closed: &mut dyn FnMut(&Arc<Shard>) -> Result<()>) -> Result<()> {
        for segment in &self.segments {
            segment.write()?;
            if segment.shard.done() {
                closed(&segment.shard)?;
            }
        }
        Ok(())
    }
}

impl ShardRange {
    fn write(&self) -> Result<()> {
        let ShardRange { shard, at, what } = self;
        match what {
            Content::Head(encoded) => {
                let Some(head) = &encoded.head else { return Ok(()) };
                let ids = head.bytes.len() as u64 / shard.stride();
                let ends = if head.ends { ends(at.ids, &[ids])? } else { Vec::new() };
                shard.write(*at, &head.bytes, &ends)
            }
            Content::SplitIds { encoded, split, bytes, documents } => {
                let part = &encoded.parts[*split];
                shard.write(*at, &part.bytes[bytes.clone()], &ends(at.ids, &part.lengths[documents.clone()])?)
            }
            Content::Buffered(buffer, order) => {
                let (bytes, lengths) = buffer.gather(order.clone())?;
                shard.write(*at, &bytes, &ends(at.ids, &lengths)?)
            }
        }
    }
}

/// The ends of documents of these lengths, as bytes of the index. The first document begins at `start`.
fn ends(start: u64, lengths: &[u64]) -> Result<Vec<u8>> {
    let mut bytes = room::for_items(8 * lengths.len())?;
    let mut end = start;
    for length in lengths {
        end += length;
        bytes.extend_from_slice(&end.to_le_bytes());
    }
    Ok(bytes)
}
