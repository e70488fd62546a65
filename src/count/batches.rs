//! Documents in memory, which the calling thread supplies in batches.

use super::counting::{Counting, UNKNOWN_TEXT_BYTES};
use super::places::ReservedPlaces;
use super::worker::{Worker, Workers};
use crate::control::{Control, Stage};
use crate::error::Result;
use crate::{room, workers};

/// Bytes that the calling thread counts itself before it starts other threads. Fewer bytes take a few
/// milliseconds, and threads and their tables have a cost of their own.
const SINGLE_THREAD_BYTES: u64 = 1 << 20;
/// About how many bytes of documents a thread takes at a time.
const BATCH_BYTES: usize = 1 << 18;

impl Counting {
    /// Counts documents, which must be valid UTF-8.
    ///
    /// # Errors
    /// The first error of `documents`, and those of [`Counting::files`].
    pub fn documents<D: AsRef<[u8]> + Send>(
        &mut self,
        documents: impl IntoIterator<Item = Result<D>>,
        control: &Control,
    ) -> Result<()> {
        let mut documents = documents.into_iter();
        let next = || {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while bytes < BATCH_BYTES
                && let Some(document) = documents.next().transpose()?
            {
                // A document without bytes also takes memory.
                bytes += document.as_ref().len() + size_of::<D>();
                room::push(&mut batch, document)?;
            }
            Ok((!batch.is_empty()).then_some(batch))
        };
        self.batches(next, control)
    }

    /// Counts documents, which must be valid UTF-8. `next` returns them in batches, on this thread, and
    /// `None` at the end.
    ///
    /// # Errors
    /// Errors of `next`, and those of [`Counting::files`].
    pub fn batches<D: AsRef<[u8]>, B: AsRef<[D]> + Send>(
        &mut self,
        mut next: impl FnMut() -> Result<Option<B>>,
        control: &Control,
    ) -> Result<()> {
        control.begin(Stage::Count, 0);
        let (begin, mut end) = (self.place, self.place);
        let count = self.workers();
        let workers = Workers::new(self, count, UNKNOWN_TEXT_BYTES);
        // The place of the first document of a batch, and the documents.
        let mut jobs = || -> Result<Option<(u64, B)>> {
            control.check()?;
            let Some(batch) = next()? else { return Ok(None) };
            let place = end;
            end += batch.as_ref().iter().map(|document| document.as_ref().len() as u64).sum::<u64>();
            Ok(Some((place, batch)))
        };
        let work = |number, (place, batch): (u64, B)| {
            workers.with(number, |worker| self.batch(place, batch.as_ref(), worker, control))
        };
        while let Some((place, batch)) = jobs()? {
            work(0, (place, batch))?;
            if count > 1 && place - begin >= SINGLE_THREAD_BYTES {
                let (place, write) = (|()| Ok(Vec::new()), |()| Ok(()));
                workers::placed_by_caller(count, control, &mut jobs, work, place, write)?;
                break;
            }
        }
        workers.finish(control)?;
        self.spans.lock().push(ReservedPlaces { start: begin, len: end - begin });
        self.place = end;
        Ok(())
    }

    /// Counts the documents of a batch; the first begins at `place`.
    fn batch<D: AsRef<[u8]>>(
        &self,
        place: u64,
        batch: &[D],
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        let mut end = place;
        for document in batch {
            let text = document.as_ref();
            worker.document(text, end, control)?;
            end += text.len() as u64;
        }
        control.advance(end - place);
        Ok(())
    }
}
