//! Several threads: many texts, or one long one, results in order.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::Encoder;
use crate::control::Control;
use crate::error::Result;
use crate::workers;

/// Texts are handed out in runs of about this many bytes.
const RUN_BYTES: usize = 1 << 18;
/// Below this many bytes a worker is not worth its start.
const BYTES_PER_WORKER: usize = 1 << 18;
/// One long text is cut into chunks of about this many bytes.
const CHUNK: usize = 1 << 19;

/// The ids of many texts, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The ids of all texts.
    pub ids: Vec<u32>,
    /// `ids[starts[i]..starts[i + 1]]` are those of text `i`; one more than there are texts.
    pub starts: Vec<usize>,
}

impl Encoder {
    /// The ids of one text, as [`Encoder::encode_to_vec`] finds them, on up to `workers` threads (`None`: as many as
    /// the machine has cores). It is cut where that changes nothing: text without such a place stays with one of
    /// them. A short text starts none.
    ///
    /// Memory: the ids, and those of one chunk a thread.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn encode_long(
        &self,
        text: &[u8],
        special: bool,
        workers: Option<usize>,
        control: &Control,
    ) -> Result<Vec<u32>> {
        let workers = self.useful(workers, text.len());
        if workers == 1 {
            return self.encode_to_vec(text, special, control);
        }
        self.encode_chunks(text, &self.chunks(text, special, CHUNK), special, workers, control)
    }

    /// How many ids [`Encoder::encode_long`] would find, without keeping them.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn count_long(
        &self,
        text: &[u8],
        special: bool,
        workers: Option<usize>,
        control: &Control,
    ) -> Result<usize> {
        let workers = self.useful(workers, text.len());
        if workers == 1 {
            return self.count(text, special, control);
        }
        let chunks = self.chunks(text, special, CHUNK);
        let mut total = 0;
        let work = |index: usize| self.count(&text[chunks[index].clone()], special, control);
        workers::in_order(workers, chunks.len(), control, work, |count| {
            total += count;
            Ok(())
        })?;
        Ok(total)
    }

    fn encode_chunks(
        &self,
        text: &[u8],
        chunks: &[Range<usize>],
        special: bool,
        workers: usize,
        control: &Control,
    ) -> Result<Vec<u32>> {
        // Used again: fresh memory for each chunk would be handed back and cleared each time.
        let spare: Mutex<Vec<Vec<u32>>> = Mutex::default();
        let spare = || spare.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |index: usize| {
            let mut ids = spare().pop().unwrap_or_default();
            self.encode(&text[chunks[index].clone()], special, &mut ids, control)?;
            Ok(ids)
        };
        let mut all = Vec::with_capacity(text.len() / 4);
        workers::in_order(workers, chunks.len(), control, work, |mut ids: Vec<u32>| {
            all.extend_from_slice(&ids);
            ids.clear();
            spare().push(ids);
            Ok(())
        })?;
        Ok(all)
    }

    /// Cuts `text` where that changes nothing, into pieces of at least `size` bytes.
    fn chunks(&self, text: &[u8], special: bool, size: usize) -> Vec<Range<usize>> {
        let (mut chunks, mut start) = (Vec::new(), 0);
        while start < text.len() {
            let end = self.cut_from(text, start + size.max(1), special);
            chunks.push(start..end);
            start = end;
        }
        chunks
    }

    fn useful(&self, workers: Option<usize>, bytes: usize) -> usize {
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
        let runs = runs(texts);
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let workers = self.useful(Some(workers), bytes).min(runs.len()).max(1);
        let next = AtomicUsize::new(0);
        let done = workers::run(workers, control, |_| {
            let mut mine = Vec::new();
            loop {
                let run = next.fetch_add(1, Relaxed);
                let Some(range) = runs.get(run) else { return Ok(mine) };
                mine.push((run, self.encode_run(&texts[range.clone()], special, control)?));
            }
        })?;
        let mut batches: Vec<(usize, Batch)> = done.into_iter().flatten().collect();
        batches.sort_unstable_by_key(|(run, _)| *run);
        Ok(batches.into_iter().map(|(_, batch)| batch).collect())
    }

    fn encode_run(&self, texts: &[&[u8]], special: bool, control: &Control) -> Result<Batch> {
        let mut batch = Batch { ids: Vec::new(), starts: vec![0] };
        self.pool.with(self.isa, |scratch| {
            for text in texts {
                self.encode_with(scratch, text, special, &mut batch.ids, control)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
    use crate::vocab::Vocab;

    #[test]
    fn chunks_of_every_size_and_number_give_the_ids_of_the_whole() {
        let tokens: Vec<(u32, Vec<u8>)> = (0..=255).map(|byte| (u32::from(byte), vec![byte])).collect();
        let specials = [(b"a \n".to_vec(), None), (b" b".to_vec(), None)];
        let vocab = Vocab::new(&tokens, None, &specials).unwrap();
        let pattern = Pattern::Named(Named::Gpt2, Isa::best());
        let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
        let encoder = Encoder::new(vocab, pretokenizer);
        let text = "aa \n bb  a \n\n bé 中\u{3000}中 b'll \r\n a \n".repeat(9).into_bytes();
        let control = Control::none();
        for special in [true, false] {
            let expected = encoder.encode_to_vec(&text, special, &control).unwrap();
            for size in 0..40 {
                let chunks = encoder.chunks(&text, special, size);
                for workers in [1, 2, 5] {
                    let ids = encoder.encode_chunks(&text, &chunks, special, workers, &control).unwrap();
                    assert_eq!(ids, expected, "{size} {workers}");
                }
            }
        }
    }
}
