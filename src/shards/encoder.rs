//! What a run needs from an encoder.

use std::sync::Arc;

use crate::control::Control;
use crate::encode::Encoder;
use crate::error::Result;
use crate::source::Cutter;

/// Turns documents into ids.
pub trait DocumentEncoder: Sync {
    /// Appends the ids of each text to the ids, and for each text the number of ids up to its end to the ends.
    ///
    /// # Errors
    /// Those of encoding.
    fn encode(
        &self,
        worker: usize,
        texts: &[&[u8]],
        ids: &mut Vec<u32>,
        ends: &mut Vec<usize>,
        control: &Control,
    ) -> Result<()>;

    /// Finds places where a document can be cut; `None` if there are none.
    fn cutter(&self, replace: bool) -> Option<Cutter<'_>>;

    /// How many threads the encoder can use, at most `most`.
    fn workers(&self, most: usize) -> usize;
}

/// The encoder of the core.
pub struct CoreEncoder {
    /// The encoder.
    pub encoder: Arc<Encoder>,
    /// Whether special tokens become their ids.
    pub special: bool,
    /// Threads that encode one long document together.
    pub workers: usize,
}

impl DocumentEncoder for CoreEncoder {
    fn encode(
        &self,
        worker: usize,
        texts: &[&[u8]],
        ids: &mut Vec<u32>,
        ends: &mut Vec<usize>,
        control: &Control,
    ) -> Result<()> {
        self.encoder.encode_documents((worker, self.workers), texts, self.special, ids, ends, control)
    }

    fn cutter(&self, replace: bool) -> Option<Cutter<'_>> {
        Some(self.encoder.cutter(self.special, replace))
    }

    fn workers(&self, most: usize) -> usize {
        if self.encoder.pretokenizer().is_parallel() { most } else { 1 }
    }
}
