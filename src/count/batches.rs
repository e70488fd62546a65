//! Documents in memory, which the calling thread supplies in batches.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::counting::{Counting, UNKNOWN_TEXT_BYTES};
use super::worker::Worker;
use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::workers;

/// Bytes that the calling thread counts itself before it starts other threads. Fewer bytes take a few milliseconds,
/// and threads and their tables have a cost of their own.
const SINGLE_THREAD_BYTES: u64 = 1 << 20;

/// Documents, with the place of the first one.
type DocumentBatch<D> = (u64, Vec<D>);

impl Counting {
    /// Counts documents, which must be valid UTF-8. `next` returns them in batches, on this thread, and
    /// `None` at the end.
    ///
    /// # Errors
    /// Errors of `next`, and those of [`Counting::files`].
    pub fn batches<D: AsRef<[u8]> + Send>(
        &mut self,
        mut next: impl FnMut() -> Result<Option<Vec<D>>>,
        control: &Control,
    ) -> Result<()> {
        control.begin(Stage::Count, 0);
        let mut place = self.place;
        let begin = place;
        let mut take = || -> Result<Option<DocumentBatch<D>>> {
            control.check()?;
            let Some(batch) = next()? else { return Ok(None) };
            let bytes: u64 = batch.iter().map(|document| document.as_ref().len() as u64).sum();
            place += bytes;
            Ok(Some((place - bytes, batch)))
        };
        let mut worker = self.worker(0, UNKNOWN_TEXT_BYTES)?;
        let workers = if self.pretokenizer.is_parallel() { self.options.workers } else { 1 };
        let mut first = None;
        while let Some(batch) = take()? {
            if workers > 1 && batch.0 - begin >= SINGLE_THREAD_BYTES {
                first = Some(batch);
                break;
            }
            self.batch(batch, &mut worker, control)?;
        }
        worker.finish(control)?;
        if let Some(first) = first {
            self.on_threads(workers, first, take, control)?;
        }
        self.span(begin, place - begin);
        self.place = place;
        Ok(())
    }

    /// Counts the documents of a batch.
    fn batch<D: AsRef<[u8]>>(
        &self,
        (mut place, batch): DocumentBatch<D>,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        let start = place;
        for document in &batch {
            let text = document.as_ref();
            worker.document(text, place, &self.specials, &self.pretokenizer, control)?;
            place += text.len() as u64;
        }
        control.advance(place - start);
        Ok(())
    }

    /// Counts all batches on worker threads, which this thread supplies.
    fn on_threads<D: AsRef<[u8]> + Send>(
        &self,
        workers: usize,
        first: DocumentBatch<D>,
        mut take: impl FnMut() -> Result<Option<DocumentBatch<D>>>,
        control: &Control,
    ) -> Result<()> {
        let (sender, receiver) = sync_channel(2 * workers);
        let receiver = Mutex::new(receiver);
        let failed = AtomicBool::new(false);
        thread::scope(|scope| {
            let (receiver, failed) = (&receiver, &failed);
            let start =
                |number| workers::start(scope, move || self.take_batches(number, receiver, failed, control));
            let handles: Vec<_> = (0..workers).map_while(start).collect();
            if handles.is_empty() {
                return self.alone(first, take, control);
            }
            let mut batch = Some(first);
            let mut brought = Ok(());
            while let Some(full) = batch.take()
                && !failed.load(Relaxed)
            {
                brought = hand_over(&sender, full, failed, control).and_then(|()| {
                    batch = take()?;
                    Ok(())
                });
            }
            if brought.is_err() {
                failed.store(true, Relaxed);
            }
            drop(sender);
            let results: Vec<Result<()>> = handles
                .into_iter()
                .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            match (brought, results.into_iter().collect()) {
                // After a worker has failed, handing over a batch ends with an interruption on this thread. The error
                // to report is that of the worker.
                (Err(Error::Interrupted), Err(failed)) => Err(failed),
                (brought, done) => brought.and(done),
            }
        })
    }

    /// Counts all batches on this thread; used if the system starts no other.
    fn alone<D: AsRef<[u8]>>(
        &self,
        first: DocumentBatch<D>,
        mut take: impl FnMut() -> Result<Option<DocumentBatch<D>>>,
        control: &Control,
    ) -> Result<()> {
        let mut worker = self.worker(0, UNKNOWN_TEXT_BYTES)?;
        let mut batch = Some(first);
        while let Some(full) = batch {
            self.batch(full, &mut worker, control)?;
            batch = take()?;
        }
        worker.finish(control)
    }

    /// Counts batches until there are no more. After a failure it still receives them, without counting, so that the
    /// sender does not wait.
    fn take_batches<D: AsRef<[u8]> + Send>(
        &self,
        number: usize,
        receiver: &Mutex<Receiver<DocumentBatch<D>>>,
        failed: &AtomicBool,
        control: &Control,
    ) -> Result<()> {
        let work = || {
            let mut worker = self.worker(number, UNKNOWN_TEXT_BYTES)?;
            loop {
                let batch = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
                match batch {
                    Ok(_) if failed.load(Relaxed) => {}
                    Ok(batch) => self.batch(batch, &mut worker, control)?,
                    Err(_) => return worker.finish(control),
                }
            }
        };
        let done = work();
        if done.is_err() {
            failed.store(true, Relaxed);
        }
        done
    }
}

/// Sends a batch, and waits while the channel is full. Fails once a worker has failed.
fn hand_over<D>(
    sender: &SyncSender<DocumentBatch<D>>,
    mut batch: DocumentBatch<D>,
    failed: &AtomicBool,
    control: &Control,
) -> Result<()> {
    loop {
        match sender.try_send(batch) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(back)) if !failed.load(Relaxed) => batch = back,
            Err(_) => return Err(Error::Interrupted),
        }
        control.check()?;
        thread::sleep(Duration::from_micros(200));
    }
}
