//! The workers of a call, one for each thread.

use super::counting::Counting;
use super::worker::Worker;
use crate::control::Control;
use crate::error::Result;
use crate::workers::{self, Lock};

/// Workers by their numbers. Each is made when it is first needed.
pub(super) struct Workers<'c> {
    counting: &'c Counting,
    workers: Vec<Lock<Option<Worker<'c>>>>,
    /// About how many bytes of text each will count.
    bytes: u64,
}

impl<'c> Workers<'c> {
    pub(super) fn new(counting: &'c Counting, count: usize, bytes: u64) -> Self {
        let workers = (0..count).map(|_| Lock::new(None)).collect();
        Workers { counting, workers, bytes }
    }

    /// Runs `work` with a worker, which no other thread uses.
    pub(super) fn with<T>(
        &self,
        number: usize,
        work: impl FnOnce(&mut Worker<'c>) -> Result<T>,
    ) -> Result<T> {
        let mut slot = self.workers[number].lock();
        work(match &mut *slot {
            Some(worker) => worker,
            none => none.insert(Worker::new(self.counting, self.bytes, number)?),
        })
    }

    /// Brings all counts to the shared tables.
    pub(super) fn finish(self, control: &Control) -> Result<()> {
        let made = |slot: Lock<_>| slot.into_inner();
        let made: Vec<Worker<'_>> = self.workers.into_iter().filter_map(made).collect();
        let (count, left) = (made.len(), Lock::new(made));
        let next = || left.lock().pop();
        let finish = |_| {
            while let Some(worker) = next() {
                worker.finish(control)?;
            }
            Ok(())
        };
        workers::run_here_too(count, control, || Ok(()), finish)
    }
}
