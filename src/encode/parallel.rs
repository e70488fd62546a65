//! Many texts on several threads, results in order.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{Active, Encoder};
use crate::control::Control;
use crate::error::Result;
use crate::workers;

/// Texts are handed out in runs of about this many bytes.
const RUN_BYTES: usize = 1 << 18;
/// Below this many bytes a worker is not worth its start.
const BYTES_PER_WORKER: usize = 1 << 18;

/// The ids of many texts, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The ids of all texts.
    pub ids: Vec<u32>,
    /// `ids[starts[i]..starts[i + 1]]` are those of text `i`; one more than there are texts.
    pub starts: Vec<usize>,
}

impl Encoder {
    /// How many threads are of use for so many bytes.
    pub(super) fn useful(&self, workers: Option<usize>, bytes: usize) -> usize {
        let useful = if self.pretokenizer.is_parallel() { bytes / BYTES_PER_WORKER } else { 1 };
        if useful <= 1 {
            return 1; // without a question to the system
        }
        workers.unwrap_or_else(workers::cores).min(useful).max(1)
    }

    /// Encodes every text, as [`Encoder::encode`] does, on up to `workers` threads. The result does
    /// not depend on their number; a small batch starts none.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_batch(
        &self,
        texts: &[&[u8]],
        special: bool,
        workers: usize,
        control: &Control,
    ) -> Result<Vec<Batch>> {
        self.encode_batch_among(texts, self.active(special), workers, control)
    }

    /// [`Encoder::encode_batch`], with the special tokens of `active`.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_batch_among(
        &self,
        texts: &[&[u8]],
        active: Active<'_>,
        workers: usize,
        control: &Control,
    ) -> Result<Vec<Batch>> {
        let runs = runs(texts);
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let workers = self.useful(Some(workers), bytes).min(runs.len()).max(1);
        let next = AtomicUsize::new(0);
        let done = workers::run(workers, control, |_| {
            let mut mine = Vec::new();
            loop {
                let run = next.fetch_add(1, Relaxed);
                let Some(range) = runs.get(run) else { return Ok(mine) };
                mine.push((run, self.encode_run(&texts[range.clone()], active, control)?));
            }
        })?;
        let mut batches: Vec<(usize, Batch)> = done.into_iter().flatten().collect();
        batches.sort_unstable_by_key(|(run, _)| *run);
        Ok(batches.into_iter().map(|(_, batch)| batch).collect())
    }

    fn encode_run(&self, texts: &[&[u8]], active: Active<'_>, control: &Control) -> Result<Batch> {
        let mut batch = Batch { ids: Vec::new(), starts: vec![0] };
        self.pool.with(self.isa, |scratch| {
            for text in texts {
                self.encode_with(scratch, text, active, &mut batch.ids, control)?;
                batch.starts.push(batch.ids.len());
                control.advance(text.len() as u64);
            }
            Ok(batch)
        })
    }
}

fn runs(texts: &[&[u8]]) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        bytes += text.len() + 1;
        if bytes >= RUN_BYTES || index + 1 == texts.len() {
            runs.push(start..index + 1);
            (start, bytes) = (index + 1, 0);
        }
    }
    runs
}
