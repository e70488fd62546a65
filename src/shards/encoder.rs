//! What a run needs of an encoder.

use std::sync::Arc;

use crate::control::Control;
use crate::encode::Encoder;
use crate::error::Result;
use crate::source::Cutter;

/// Turns documents into ids.
pub struct DocumentEncoder {
    /// The encoder.
    pub encoder: Arc<Encoder>,
    /// Whether special tokens become their ids.
    pub special: bool,
    /// Threads that encode one long document together.
    pub workers: usize,
}

impl DocumentEncoder {
    /// Appends the ids of each text to the ids, and for each text the number of ids up to its end to the ends.
    ///
    /// # Errors
    /// Those of encoding.
    pub(super) fn encode(
        &self,
        worker: usize,
        texts: &[&[u8]],
        ids: &mut Vec<u32>,
        ends: &mut Vec<usize>,
        control: &Control,
    ) -> Result<()> {
        self.encoder.encode_documents((worker, self.workers), texts, self.special, ids, ends, control)
    }

    /// Finds places where a document can be cut.
    pub(super) fn cutter(&self, replace: bool) -> Cutter<'_> {
        self.encoder.cutter(self.special, replace)
    }

    /// How many threads the encoder can use, at most `max_workers`.
    pub(super) fn workers(&self, max_workers: usize) -> usize {
        if self.encoder.is_parallel() { max_workers } else { 1 }
    }
}
