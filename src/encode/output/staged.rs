//! Ids on their way to a sink: short runs are collected before the sink is called.

use super::super::padded_ids::PaddedIds;
use super::sink::Sink;
use crate::error::Result;
use crate::vocab::Vocab;

/// The maximum number of ids that are collected: 8 KB.
const STAGED_IDS: usize = 2048;

/// Runs of this many ids or more go to the sink directly, without a copy.
const DIRECT_IDS: usize = 64;

/// Ids that are copied at a time if both sides have room for them: a copy of a fixed size is a few stores.
const COPIED_IDS: usize = 16;

/// Memory for the ids that are collected.
pub(in crate::encode) struct StagingBuffer([u32; STAGED_IDS]);

impl Default for StagingBuffer {
    fn default() -> Self {
        StagingBuffer([0; STAGED_IDS])
    }
}

/// A sink, and the gathered ids that it does not have yet. It gets them in blocks, so that it costs nothing
/// that its type is not known here: only whether it reads ids.
pub(in crate::encode) struct StagedOutput<'a, const READS_IDS: bool> {
    pub(in crate::encode) sink: &'a mut (dyn Sink + 'a),
    vocab: &'a Vocab,
    staged: &'a mut StagingBuffer,
    /// How many ids are gathered; for a sink that only counts, how many it has not received yet.
    len: usize,
    /// Whether [`StagedOutput::take_gathered`] will ask for the gathered ids.
    is_holding: bool,
}

impl<'a, const READS_IDS: bool> StagedOutput<'a, READS_IDS> {
    pub(in crate::encode) fn new(
        sink: &'a mut (dyn Sink + 'a),
        vocab: &'a Vocab,
        staged: &'a mut StagingBuffer,
    ) -> Self {
        StagedOutput { sink, vocab, staged, len: 0, is_holding: false }
    }

    /// Adds ids.
    #[inline(always)]
    pub(in crate::encode) fn add(&mut self, ids: PaddedIds<'_>) -> Result<()> {
        let count = ids.to - ids.from;
        if READS_IDS {
            let source = ids.all[ids.from..].first_chunk::<COPIED_IDS>();
            let room = self.staged.0[self.len..].first_chunk_mut::<COPIED_IDS>();
            match (source, room) {
                // Always copies `COPIED_IDS` ids, and the next copy overwrites the excess: a copy of exactly
                // `count` ids would be a call of `memcpy`.
                (Some(source), Some(room)) if count <= COPIED_IDS => *room = *source,
                _ => return self.add_many(ids.ids()),
            }
        }
        self.len += count;
        Ok(())
    }

    /// Adds any number of ids.
    #[inline(never)]
    fn add_many(&mut self, ids: &[u32]) -> Result<()> {
        if self.len + ids.len() > STAGED_IDS {
            self.flush()?;
        }
        if ids.len() <= DIRECT_IDS || self.is_holding && ids.len() <= STAGED_IDS {
            self.staged.0[self.len..self.len + ids.len()].copy_from_slice(ids);
            self.len += ids.len();
            Ok(())
        } else {
            self.flush()?;
            self.sink.ids(self.vocab, ids)
        }
    }

    /// Gathers the next ids, if they are not too many, so that [`StagedOutput::take_gathered`] can return
    /// them.
    pub(in crate::encode) fn hold(&mut self) -> Result<()> {
        self.flush()?;
        self.is_holding = true;
        Ok(())
    }

    /// The ids since [`StagedOutput::hold`], or none if they were too many. Ends the holding.
    pub(in crate::encode) fn take_gathered(&mut self) -> &[u32] {
        let all = std::mem::replace(&mut self.is_holding, false);
        if all { &self.staged.0[..self.len] } else { &[] }
    }

    /// Gives the sink all gathered ids.
    pub(in crate::encode) fn flush(&mut self) -> Result<()> {
        let count = std::mem::take(&mut self.len);
        self.is_holding = false;
        if READS_IDS {
            self.sink.ids(self.vocab, &self.staged.0[..count])
        } else {
            self.sink.count(count);
            Ok(())
        }
    }
}
