//! Which jobs are written, and snapshots of a run that wait for those before them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shard::{Filling, Shard};
use super::sources::{Cursor, Skipped};

/// The state of a run between two jobs: all that is needed to go on from there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The place in the sources.
    pub at: Cursor,
    /// Ends of lines before the place in its source.
    pub lines: u64,
    /// Documents behind the place that are in the shards already: with a shuffle, those of buffers that became full in
    /// the middle of a job.
    pub passed: u64,
    /// For each split the number of its shard, and what that holds.
    pub shards: Vec<(u32, Filling)>,
    /// The split of the document that goes on.
    pub open: Option<usize>,
    /// For each split what all its shards hold.
    pub totals: Vec<Filling>,
    /// Documents of each source so far.
    pub documents: Vec<u64>,
    /// Bytes of the text of all documents.
    pub text_bytes: u64,
    /// Documents that were left out; lines are those of their sources.
    pub skipped: Vec<Skipped>,
    /// How many were left out, of which the first are in the list.
    pub skipped_count: u64,
}

/// No run has so many bytes, ids or documents. Sums of less, and their products with the bytes of an id, fit into 64 bits.
const MAX_NUMBER: u64 = 1 << 56;

impl Snapshot {
    /// Whether it can be that of a run with so many splits and sources: its lists have an element for each, and no
    /// number is too large to be added to.
    pub(super) fn is_of(&self, splits: usize, sources: usize) -> bool {
        let fillings = self.totals.iter().chain(self.shards.iter().map(|(_, filling)| filling));
        let numbers = [self.at.offset, self.lines, self.passed, self.text_bytes, self.skipped_count];
        let mut all = numbers
            .into_iter()
            .chain(self.documents.iter().copied())
            .chain(fillings.flat_map(|f| [f.ids, f.documents]));
        self.shards.len() == splits
            && self.totals.len() == splits
            && self.open.is_none_or(|split| split < splits)
            && self.at.source <= sources
            && self.documents.len() <= sources
            && self.skipped.iter().all(|skipped| skipped.source < sources)
            && all.try_fold(0, u64::checked_add).is_some_and(|sum| sum < MAX_NUMBER)
    }
}

/// A snapshot that is to be saved, with the shards that it needs on the disk.
pub(super) struct Pending {
    pub(super) job: u64,
    pub(super) snapshot: Snapshot,
    pub(super) shards: Vec<Arc<Shard>>,
}

/// Counts what is still to be done for each job.
#[derive(Default)]
pub(super) struct Ledger(Mutex<LedgerState>);

#[derive(Default)]
struct LedgerState {
    /// Things to be done by the number of their job.
    open: BTreeMap<u64, usize>,
    waiting: VecDeque<Pending>,
    is_saving: bool,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, LedgerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a job has so many things to be done.
    pub(super) fn expect(&self, job: u64, things: usize) {
        if things > 0 {
            *self.lock().open.entry(job).or_insert(0) += things;
        }
    }

    /// Notes that one of them is done.
    pub(super) fn done(&self, job: u64) {
        let mut state = self.lock();
        if let Some(things) = state.open.get_mut(&job) {
            *things -= 1;
            if *things == 0 {
                state.open.remove(&job);
            }
        }
    }

    /// Adds a snapshot of the state behind a job.
    pub(super) fn add(&self, pending: Pending) {
        self.lock().waiting.push_back(pending);
    }

    /// The latest snapshot that can be saved, if no other one is being saved. [`Ledger::saved`] is to be called
    /// afterwards.
    pub(super) fn take(&self) -> Option<Pending> {
        let mut state = self.lock();
        if state.is_saving {
            return None;
        }
        let mut latest = None;
        let first = state.open.keys().next().copied().unwrap_or(u64::MAX);
        while state.waiting.front().is_some_and(|pending| pending.job < first) {
            latest = state.waiting.pop_front();
        }
        state.is_saving = latest.is_some();
        latest
    }

    /// Notes that a snapshot was saved, or could not be.
    pub(super) fn saved(&self) {
        self.lock().is_saving = false;
    }

    /// Whether nothing is to be done for any job.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().open.is_empty()
    }
}
