//! A bounded buffer in which documents are shuffled.

use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh64::xxh64;

use super::documents::Encoded;
use crate::error::Result;
use crate::room;

/// A document of a buffer, or a part of one.
#[derive(Clone, Copy, Debug)]
struct BufferedDocument {
    /// The documents are sorted by this number, the hash of their number in the run.
    key: u64,
    split: u8,
    /// Whether the document ends with this entry. The entries of its other parts stand right before this one.
    ends: bool,
    /// The index of the block that holds the ids; `start` and `len` are counted in its bytes.
    block: u32,
    start: usize,
    len: usize,
}

/// Documents that wait until the buffer is full, so that all of them can be shuffled together.
#[derive(Debug, Default)]
pub(super) struct ShuffleBuffer {
    seed: u64,
    /// Bytes of an id in the blocks.
    stride: usize,
    entries: Vec<BufferedDocument>,
    blocks: Vec<Arc<Vec<u8>>>,
    /// Ids of all documents.
    pub(super) ids: u64,
    /// Whether the last document continues in the next job.
    pub(super) is_open: bool,
}

/// Some documents of one split in the new order, and how many ids they have.
pub(super) struct SplitRun {
    pub(super) split: usize,
    pub(super) order: Range<usize>,
    ids: u64,
}

impl ShuffleBuffer {
    pub(super) fn new(seed: u64, stride: u64) -> Self {
        ShuffleBuffer { seed, stride: stride as usize, ..ShuffleBuffer::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds the documents of a job, except the first `passed` ones. `first` is the number in the run of the
    /// job's first document. Returns the buffers that became full, and the number of the job's documents up
    /// to the end of the last one.
    pub(super) fn add(
        &mut self,
        encoded: Encoded,
        (first, passed): (u64, u64),
        full_ids: u64,
    ) -> Result<(Vec<ShuffleBuffer>, u64)> {
        let (mut full, mut left) = (Vec::new(), 0);
        if let Some(head) = encoded.head
            && let Some(last) = self.entries.last().copied()
        {
            let len = head.bytes.len();
            let block = self.keep(&Arc::new(head.bytes))?;
            self.push(BufferedDocument { block, start: 0, len, ends: head.ends, ..last })?;
            self.take_if_full(full_ids, &mut full);
        }
        let documents = encoded.parts.iter().map(|part| part.lengths.len()).sum::<usize>();
        let parts = encoded.parts.into_iter();
        let mut parts: Vec<_> =
            parts.map(|part| (Arc::new(part.bytes), part.lengths.into_iter(), 0, None)).collect();
        for (at, number) in (0..documents).zip(first..) {
            let split = encoded.order.get(at).copied().unwrap_or(0);
            let (bytes, lengths, start, kept) = &mut parts[usize::from(split)];
            let len = lengths.next().unwrap_or(0) as usize * self.stride;
            if (at as u64) < passed {
                *start += len;
                continue;
            }
            let block = match *kept {
                Some(block) => block,
                None => *kept.insert(self.keep(bytes)?),
            };
            let ends = at + 1 < documents || encoded.open.is_none();
            let key = xxh64(&number.to_le_bytes(), self.seed);
            self.push(BufferedDocument { key, split, ends, block, start: *start, len })?;
            *start += len;
            if self.take_if_full(full_ids, &mut full) {
                parts.iter_mut().for_each(|(.., kept)| *kept = None);
                left = at as u64 + 1;
            }
        }
        Ok((full, left))
    }

    fn push(&mut self, entry: BufferedDocument) -> Result<()> {
        self.ids += (entry.len / self.stride) as u64;
        self.is_open = !entry.ends;
        room::push(&mut self.entries, entry)
    }

    fn keep(&mut self, bytes: &Arc<Vec<u8>>) -> Result<u32> {
        room::push(&mut self.blocks, bytes.clone())?;
        Ok(self.blocks.len() as u32 - 1)
    }

    /// If this buffer is full, moves its content to `full` and continues with an empty one.
    fn take_if_full(&mut self, full_ids: u64, full: &mut Vec<ShuffleBuffer>) -> bool {
        let is_full = !self.is_open && self.ids >= full_ids;
        if is_full {
            let next = ShuffleBuffer::new(self.seed, self.stride as u64);
            full.push(std::mem::replace(self, next));
        }
        is_full
    }

    /// Sorts the documents of each split into their new order, and divides them into runs of about `ids` ids.
    pub(super) fn shuffle(&mut self, ids: u64) -> Vec<SplitRun> {
        self.entries.sort_by_key(|entry| (entry.split, entry.key));
        let mut runs: Vec<SplitRun> = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let split = usize::from(entry.split);
            let len = (entry.len / self.stride) as u64;
            let begins = at == 0 || self.entries[at - 1].ends;
            match runs.last_mut() {
                Some(run) if run.split == split && (run.ids < ids || !begins) => {
                    run.order.end = at + 1;
                    run.ids += len;
                }
                _ => runs.push(SplitRun { split, order: at..at + 1, ids: len }),
            }
        }
        runs
    }

    /// For each document of a run, the number of its ids and the number of its entries.
    pub(super) fn lengths(&self, order: Range<usize>) -> impl Iterator<Item = (u64, usize)> {
        let (mut ids, mut entries) = (0, 0);
        self.entries[order].iter().filter_map(move |entry| {
            ids += (entry.len / self.stride) as u64;
            entries += 1;
            entry.ends.then(|| (std::mem::take(&mut ids), std::mem::take(&mut entries)))
        })
    }

    /// The bytes of some documents in the new order, and the number of ids of each.
    pub(super) fn gather(&self, order: Range<usize>) -> Result<(Vec<u8>, Vec<u64>)> {
        let bytes: usize = self.entries[order.clone()].iter().map(|entry| entry.len).sum();
        let mut gathered = room::for_items(bytes)?;
        for entry in &self.entries[order.clone()] {
            let block = &self.blocks[entry.block as usize];
            gathered.extend_from_slice(&block[entry.start..entry.start + entry.len]);
        }
        Ok((gathered, room::collected(self.lengths(order).map(|(ids, _)| ids))?))
    }
}
