//! Records which jobs are written. A snapshot of the run waits until all jobs before it are written.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::shard::{Filling, Shard};
use crate::source::{Cursor, Skipped};
use crate::workers::Lock;

/// What packing has added to all shards, and left out of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packed {
    /// The number of ids that fill rows.
    pub padding: u64,
    /// The number of ids of long documents that were dropped or truncated.
    pub left_out: u64,
    /// How many of these a model would be trained on.
    pub trained_left_out: u64,
}

/// The state of a run between two jobs: all that is needed to continue from there. Its JSON is part of the
/// state file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The place in the sources.
    pub at: Cursor,
    /// Ends of lines before the place, within its source.
    pub lines: u64,
    /// The number of documents after the place that are already in the shards. With a buffer these are
    /// documents of buffers that became full in the middle of a job.
    pub passed: u64,
    /// For each split the number of its open shard, and what that shard holds.
    pub shards: Vec<(u32, Filling)>,
    /// For each split the BLAKE3 of the files of its open shard, up to what that shard holds; empty if it
    /// holds nothing. Known only when the snapshot is saved.
    pub checksums: Vec<Vec<String>>,
    /// The split of the document that continues after the place.
    pub open: Option<usize>,
    /// For each split the sum of what all its shards hold.
    pub totals: Vec<Filling>,
    /// What packing has added and left out.
    pub packed: Packed,
    /// Documents of each source so far.
    pub documents: Vec<u64>,
    /// Bytes of the text of all documents.
    pub text_bytes: u64,
    /// Ids of special tokens that stood in the text.
    pub special_tokens: u64,
    /// Ids that a model is trained on, of conversations.
    pub trained: u64,
    /// Documents that were left out, with their line numbers in their sources. A long list is cut off.
    pub skipped: Vec<Skipped>,
    /// How many documents were left out, including those that the list omits.
    pub skipped_count: u64,
}

/// No run has that many bytes, ids or documents. Sums of smaller numbers, and their products with the bytes
/// of an id, fit into 64 bits.
const MAX_NUMBER: u64 = 1 << 56;

impl Snapshot {
    /// Whether the snapshot can belong to a run with this many splits and sources: its lists have one element
    /// for each, and no number is too large for sums.
    pub(super) fn is_of(&self, splits: usize, sources: usize) -> bool {
        let fillings = self.totals.iter().chain(self.shards.iter().map(|(_, filling)| filling));
        let numbers = [
            self.at.offset,
            self.lines,
            self.passed,
            self.text_bytes,
            self.special_tokens,
            self.trained,
            self.packed.padding,
            self.packed.left_out,
            self.packed.trained_left_out,
            self.skipped_count,
        ];
        let mut all = numbers
            .into_iter()
            .chain(self.documents.iter().copied())
            .chain(fillings.flat_map(|f| [f.ids, f.documents]));
        self.shards.len() == splits
            && self.totals.len() == splits
            && self.checksums.len() == splits
            && self.open.is_none_or(|split| split < splits)
            && self.at.source <= sources
            && self.documents.len() <= sources
            && self.skipped.iter().all(|skipped| skipped.source < sources)
            && all.try_fold(0, u64::checked_add).is_some_and(|sum| sum < MAX_NUMBER)
    }
}

/// A snapshot that is to be saved, and the shards that must be on the disk before it.
pub(super) struct Pending {
    pub(super) job: u64,
    pub(super) snapshot: Snapshot,
    pub(super) shards: Vec<Arc<Shard>>,
}

/// Counts the unfinished tasks of each job.
#[derive(Default)]
pub(super) struct Ledger(Lock<LedgerState>);

#[derive(Default)]
struct LedgerState {
    /// The number of unfinished tasks, by the number of their job.
    open: BTreeMap<u64, usize>,
    waiting: VecDeque<Pending>,
    is_saving: bool,
}

impl Ledger {
    /// Notes that a job has `things` more tasks.
    pub(super) fn expect(&self, job: u64, things: usize) {
        if things > 0 {
            *self.0.lock().open.entry(job).or_insert(0) += things;
        }
    }

    /// Notes that one task of a job is done.
    pub(super) fn done(&self, job: u64) {
        let mut state = self.0.lock();
        if let Some(things) = state.open.get_mut(&job) {
            *things -= 1;
            if *things == 0 {
                state.open.remove(&job);
            }
        }
    }

    /// Adds a snapshot of the state after a job.
    pub(super) fn add(&self, pending: Pending) {
        self.0.lock().waiting.push_back(pending);
    }

    /// The latest snapshot that can be saved; `None` if there is none, or while another one is being saved.
    /// After saving, call [`Ledger::saved`].
    pub(super) fn take(&self) -> Option<Pending> {
        let mut state = self.0.lock();
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

    /// Notes that saving a snapshot ended, with or without success.
    pub(super) fn saved(&self) {
        self.0.lock().is_saving = false;
    }

    /// Whether no job has unfinished tasks.
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().open.is_empty()
    }
}
