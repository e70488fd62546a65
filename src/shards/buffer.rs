//! A bounded buffer in which documents are shuffled, or packed into rows.

use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh64::xxh64;

use super::documents::Encoded;
use super::ledger::Packed;
use super::options::{Buffering, Packing};
use super::packing::{PackedPart, pack};
use crate::control::Control;
use crate::error::Result;
use crate::room;

/// A document of a buffer, or a part of one.
#[derive(Clone, Copy, Debug)]
struct BufferedDocument {
    /// The documents are sorted by this number: that of the document in the run, or its hash.
    key: u64,
    split: u8,
    /// Whether the document ends with this entry. The entries of its other parts stand right before this one.
    ends: bool,
    /// The index of the block that holds the ids; `start` and `len` are counted in its bytes.
    block: u32,
    start: usize,
    len: usize,
}

/// Documents that wait until the buffer is full, so that all of them can be shuffled or packed together.
#[derive(Debug)]
pub(super) struct DocumentBuffer {
    options: Buffering,
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

impl DocumentBuffer {
    /// An empty buffer for ids of `stride` bytes.
    pub(super) fn new(options: Buffering, stride: u64) -> Self {
        let (entries, blocks) = (Vec::new(), Vec::new());
        DocumentBuffer { options, stride: stride as usize, entries, blocks, ids: 0, is_open: false }
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
    ) -> Result<(Vec<DocumentBuffer>, u64)> {
        let (mut full, mut left) = (Vec::new(), 0);
        if let Some(head) = encoded.head
            && let Some(last) = self.entries.last().copied()
        {
            let len = head.bytes.len();
            let block = self.keep(&Arc::new(head.bytes))?;
            self.push(BufferedDocument { block, start: 0, len, ends: head.ends, ..last })?;
            self.take_if_full(&mut full);
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
            let key = self.options.seed.map_or(number, |seed| xxh64(&number.to_le_bytes(), seed));
            self.push(BufferedDocument { key, split, ends, block, start: *start, len })?;
            *start += len;
            if self.take_if_full(&mut full) {
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
    fn take_if_full(&mut self, full: &mut Vec<DocumentBuffer>) -> bool {
        let is_full = !self.is_open && self.ids >= self.options.ids;
        if is_full {
            let next = DocumentBuffer::new(self.options, self.stride as u64);
            full.push(std::mem::replace(self, next));
        }
        is_full
    }

    /// Brings the documents of each split into their new order, and divides them into runs of about `ids`
    /// ids. Adds what packing adds and leaves out to `packed`.
    pub(super) fn arrange(&mut self, ids: u64, packed: &mut Packed) -> Result<Vec<SplitRun>> {
        self.entries.sort_by_key(|entry| (entry.split, entry.key));
        if let Some(packing) = self.options.pack {
            self.pack(packing, packed)?;
        }
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
        Ok(runs)
    }

    /// Puts the documents of each split into rows of one length. Rows are in the order of their first
    /// documents, and the last document of each has the ids behind it that fill the row.
    fn pack(&mut self, packing: Packing, packed: &mut Packed) -> Result<()> {
        let entries = std::mem::take(&mut self.entries);
        let (padding, mut max_free) = (self.blocks.len() as u32, 0);
        for of_split in entries.chunk_by(|entry, next| entry.split == next.split) {
            let documents: Vec<_> = of_split.split_inclusive(|entry| entry.ends).collect();
            let lengths: Vec<_> = documents.iter().map(|document| self.ids_of(document)).collect();
            let (parts, starts) = pack(&lengths, packing.length, packing.long, &Control::none())?;
            let mut rows: Vec<_> = starts.windows(2).map(|at| &parts[at[0]..at[1]]).collect();
            rows.sort_by_key(|row| row.iter().map(|(document, ids)| (*document, ids.start)).min());
            for row in rows {
                for (document, ids) in row {
                    self.push_part(documents[*document], ids)?;
                }
                let free = packing.length - row.iter().map(|(_, ids)| ids.len()).sum::<usize>();
                if free > 0
                    && let Some(last) = self.entries.last_mut()
                {
                    last.ends = false;
                    let filling = BufferedDocument { ends: true, block: padding, start: 0, ..*last };
                    room::push(&mut self.entries, BufferedDocument { len: free * self.stride, ..filling })?;
                    max_free = max_free.max(free);
                    packed.padding += free as u64;
                }
            }
            self.count_left_out(&documents, &parts, packed);
        }
        let block = padding_block(packing.pad, max_free, self.stride)?;
        self.keep(&Arc::new(block))?;
        Ok(())
    }

    /// How many ids the entries of a document have.
    fn ids_of(&self, document: &[BufferedDocument]) -> usize {
        document.iter().map(|entry| entry.len).sum::<usize>() / self.stride
    }

    /// Adds some ids of a document as a document.
    fn push_part(&mut self, document: &[BufferedDocument], ids: &Range<usize>) -> Result<()> {
        let (start, end) = (ids.start * self.stride, ids.end * self.stride);
        let mut at = 0;
        for entry in document {
            let (from, to) = (start.max(at), end.min(at + entry.len));
            if from < to {
                let (start, len) = (entry.start + from - at, to - from);
                let part = BufferedDocument { start, len, ends: to == end, ..*entry };
                room::push(&mut self.entries, part)?;
            }
            at += entry.len;
        }
        Ok(())
    }

    /// Adds the ids that are in no row to `packed`.
    fn count_left_out(&self, documents: &[&[BufferedDocument]], parts: &[PackedPart], packed: &mut Packed) {
        let mut kept = vec![0; documents.len()];
        for (document, ids) in parts {
            kept[*document] = ids.end.max(kept[*document]);
        }
        for (document, kept) in documents.iter().zip(kept) {
            packed.left_out += (self.ids_of(document) - kept) as u64;
            let mut kept = kept * self.stride;
            for entry in *document {
                let skipped = kept.min(entry.len);
                let bytes =
                    &self.blocks[entry.block as usize][entry.start + skipped..entry.start + entry.len];
                kept -= skipped;
                if has_mask(self.stride) {
                    let flags = bytes.chunks_exact(self.stride).filter_map(|id| id.last());
                    packed.trained_left_out += flags.map(|flag| u64::from(*flag)).sum::<u64>();
                }
            }
        }
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

/// Whether ids of `stride` bytes have a byte of their mask behind them: ids have an even number of bytes.
fn has_mask(stride: usize) -> bool {
    stride % 2 == 1
}

/// The ids that fill rows, on which no model is trained.
fn padding_block(pad: u32, count: usize, stride: usize) -> Result<Vec<u8>> {
    let mut block = room::for_items(count * stride)?;
    for _ in 0..count {
        block.extend_from_slice(&pad.to_le_bytes()[..stride & !1]);
        block.extend(has_mask(stride).then_some(0));
    }
    Ok(block)
}
