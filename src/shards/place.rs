//! Decides where the ids of each job go: the serial step.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::buffer::DocumentBuffer;
use super::documents::Encoded;
use super::ledger::{Ledger, Pending, Snapshot};
use super::options::ShardOptions;
use super::shard::{Filling, Shard};
use super::write::{Content, PlacedIds, ShardRange};
use crate::control::Control;
use crate::error::Result;
use crate::source::InputFile;

/// How many skipped documents are listed; the rest are only counted.
pub const MAX_LISTED: usize = 10_000;
/// Ids of a buffer that one worker gathers and writes at a time.
const GATHERED_IDS: u64 = 1 << 19;

/// The splits with their open shards, and the state of the run.
pub(super) struct Placer {
    /// The state after the last job.
    pub(super) now: Snapshot,
    /// The open shard of each split; `None` before its first document.
    shards: Vec<Option<Arc<Shard>>>,
    buffer: Option<DocumentBuffer>,
    /// With a buffer, the state before the first job whose documents are in the buffer, except for what the
    /// shards hold.
    before_buffer: Option<Snapshot>,
    /// Documents that will be read again and are already in the shards.
    to_pass: u64,
    /// Whether `now` is the state after a whole job. It is not after a failure in the middle of one.
    is_whole: bool,
    /// Documents that began in the jobs so far.
    documents: u64,
    /// The number of the next job.
    job: u64,
    last_snapshot: Instant,
}

/// What [`Placer`] needs for each job.
#[derive(Clone, Copy)]
pub(super) struct PlaceContext<'a> {
    pub(super) options: &'a ShardOptions,
    pub(super) sources: &'a [InputFile],
    pub(super) ledger: &'a Ledger,
}

impl Placer {
    /// Continues from a state: opens the files of its open shards, compares them with its checksums, and
    /// removes what they hold beyond that state.
    pub(super) fn open(options: &ShardOptions, mut now: Snapshot, control: &Control) -> Result<Self> {
        let mut placer = Placer {
            shards: options.splits.iter().map(|_| None).collect(),
            buffer: options.buffer.map(|buffer| DocumentBuffer::new(buffer, options.stride())),
            before_buffer: options.buffer.map(|_| now.clone()),
            to_pass: std::mem::take(&mut now.passed),
            is_whole: true,
            documents: now.documents.iter().sum(),
            job: 0,
            last_snapshot: Instant::now(),
            now,
        };
        for split in 0..options.splits.len() {
            if placer.now.shards[split].1 != Filling::default() {
                let shard = placer.shard(split, options)?;
                let (_, filling) = placer.now.shards[split];
                shard.check(filling, &placer.now.checksums[split], control)?;
            }
        }
        Ok(placer)
    }

    /// The open shard of a split.
    fn shard(&mut self, split: usize, options: &ShardOptions) -> Result<Arc<Shard>> {
        if let Some(shard) = &self.shards[split] {
            return Ok(shard.clone());
        }
        let (number, filling) = self.now.shards[split];
        let shard = Arc::new(Shard::open(options, split, number, filling)?);
        self.shards[split] = Some(shard.clone());
        Ok(shard)
    }

    /// Places the ids of the next job.
    pub(super) fn place(
        &mut self,
        mut encoded: Encoded,
        context: PlaceContext<'_>,
    ) -> Result<Vec<PlacedIds>> {
        let job = self.job;
        self.job += 1;
        let lines_before = |now: &Snapshot, source| if source == now.at.source { now.lines } else { 0 };
        if let Some(failure) = encoded.failure.take() {
            let file = &context.sources[failure.source];
            let before = lines_before(&self.now, failure.source);
            return Err(failure.after_lines(before, file).error(file));
        }
        // The state is incomplete until the whole job is counted. If a shard cannot be opened, it stays
        // incomplete.
        self.is_whole = false;
        let skipped = std::mem::take(&mut encoded.skipped);
        let mut placing = Placing { placer: self, context, job, closed: 0, segments: Vec::new() };
        let (counts, end) = (std::mem::take(&mut encoded.counts), encoded.end);
        let Encoded { text_bytes, special_tokens, trained, .. } = encoded;
        let placed = match context.options.buffer {
            None => vec![placing.job(encoded)?],
            Some(_) => placing.buffers(encoded)?,
        };
        let closed = placing.closed;
        for skipped in skipped {
            self.now.skipped_count += 1;
            if self.now.skipped.len() < MAX_LISTED {
                let before = lines_before(&self.now, skipped.source);
                let file = &context.sources[skipped.source];
                self.now.skipped.push(skipped.after_lines(before, file));
            }
        }
        let mut lines = None;
        for count in &counts {
            if self.now.documents.len() <= count.source {
                self.now.documents.resize(count.source + 1, 0);
            }
            self.now.documents[count.source] += count.documents;
            self.documents += count.documents;
            lines = Some((count.source, count.lines + lines_before(&self.now, count.source)));
        }
        self.now.text_bytes += text_bytes;
        self.now.special_tokens += special_tokens;
        self.now.trained += trained;
        self.now.at = end;
        self.now.lines = lines.filter(|(source, _)| *source == end.source).map_or(0, |(_, lines)| lines);
        self.is_whole = true;
        context.ledger.expect(job, placed.len() + closed);
        self.snapshot(job, closed > 0, context);
        Ok(placed)
    }

    /// Adds a snapshot of the state after a job if the last one is old enough. After a job that closes a
    /// shard, a quarter of the usual time is enough.
    fn snapshot(&mut self, job: u64, is_closing: bool, context: PlaceContext<'_>) {
        let (elapsed, every) = (self.last_snapshot.elapsed().as_secs_f64(), context.options.snapshot_seconds);
        if elapsed >= every || is_closing && 4.0 * elapsed >= every {
            self.last_snapshot = Instant::now();
            self.add_snapshot(job, context.ledger);
        }
    }

    /// Adds a snapshot of the present state, if that is the state after a whole job.
    pub(super) fn snapshot_now(&mut self, ledger: &Ledger) {
        if self.is_whole {
            self.add_snapshot(self.job, ledger);
        }
    }

    fn add_snapshot(&mut self, job: u64, ledger: &Ledger) {
        let mut snapshot = self.before_buffer.as_ref().unwrap_or(&self.now).clone();
        snapshot.shards.clone_from(&self.now.shards);
        snapshot.totals.clone_from(&self.now.totals);
        snapshot.packed = self.now.packed;
        snapshot.checksums = vec![Default::default(); snapshot.shards.len()];
        let shards = self.shards.iter().flatten().cloned().collect();
        ledger.add(Pending { job, snapshot, shards });
    }

    /// Places the documents that are left in the buffer, and closes all shards. Returns the ids to be
    /// written, and the shards to which nothing is left to be written.
    pub(super) fn finish(&mut self, context: PlaceContext<'_>) -> Result<(Vec<PlacedIds>, Vec<Arc<Shard>>)> {
        let job = self.job;
        self.job += 1;
        let mut placed = Vec::new();
        if let Some(buffer) = self.buffer.take().filter(|buffer| !buffer.is_empty()) {
            let mut placing = Placing { placer: self, context, job, closed: 0, segments: Vec::new() };
            placing.buffer(buffer, &mut placed)?;
        }
        let mut whole = Vec::new();
        for split in 0..self.shards.len() {
            let Some(shard) = self.shards[split].take() else { continue };
            let (number, filling) = self.now.shards[split];
            self.now.shards[split] = (number + 1, Filling::default());
            if shard.close(filling, job) {
                whole.push(shard);
            }
        }
        Ok((placed, whole))
    }
}

/// The placing of one job.
struct Placing<'p, 'a> {
    placer: &'p mut Placer,
    context: PlaceContext<'a>,
    job: u64,
    /// Shards that the job closes.
    closed: usize,
    segments: Vec<ShardRange>,
}

impl Placing<'_, '_> {
    /// Places the ids of a job in the order of its documents.
    fn job(&mut self, encoded: Encoded) -> Result<PlacedIds> {
        let encoded = Arc::new(encoded);
        let stride = self.context.options.stride();
        if let Some(head) = &encoded.head
            && let Some(split) = self.placer.now.open
        {
            let added = Filling { ids: head.bytes.len() as u64 / stride, documents: u64::from(head.ends) };
            self.segment(split, added, Content::Head(encoded.clone()))?;
            if head.ends {
                self.placer.now.open = None;
                self.close_if_full(split);
            }
        }
        for split in 0..encoded.parts.len() {
            self.part(split, &encoded)?;
        }
        if encoded.open.is_some() {
            self.placer.now.open = encoded.open;
        }
        Ok(self.placed())
    }

    /// Places the documents of a split. The last one may continue in the next job.
    fn part(&mut self, split: usize, encoded: &Arc<Encoded>) -> Result<()> {
        let stride = self.context.options.stride();
        let lengths = &encoded.parts[split].lengths;
        let whole = lengths.len() - usize::from(encoded.open == Some(split));
        let (mut start, mut from) = (0, 0);
        while start < lengths.len() {
            let room = self.context.options.shard_size.saturating_sub(self.placer.now.shards[split].1.ids);
            // Up to the document that fills the shard.
            let (mut end, mut ids) = (start, 0);
            while end < lengths.len() && (ids < room || end == start) {
                ids += lengths[end];
                end += 1;
            }
            let bytes = (from * stride) as usize..((from + ids) * stride) as usize;
            let documents: Range<usize> = start..end.min(whole);
            let added = Filling { ids, documents: documents.len() as u64 };
            let is_cut = end > whole;
            let what = Content::SplitIds { encoded: encoded.clone(), split, bytes, documents };
            self.segment(split, added, what)?;
            if !is_cut {
                self.close_if_full(split);
            }
            (start, from) = (end, from + ids);
        }
        Ok(())
    }

    /// The ids that were placed since the last call.
    fn placed(&mut self) -> PlacedIds {
        PlacedIds { job: self.job, segments: std::mem::take(&mut self.segments) }
    }

    /// Adds ids to the open shard of a split.
    fn segment(&mut self, split: usize, added: Filling, what: Content) -> Result<()> {
        let shard = self.placer.shard(split, self.context.options)?;
        shard.expect();
        let now = &mut self.placer.now;
        self.segments.push(ShardRange { shard, at: now.shards[split].1, what });
        for filling in [&mut now.shards[split].1, &mut now.totals[split]] {
            filling.ids += added.ids;
            filling.documents += added.documents;
        }
        Ok(())
    }

    fn close_if_full(&mut self, split: usize) {
        let (number, filling) = self.placer.now.shards[split];
        if filling.ids < self.context.options.shard_size {
            return;
        }
        if let Some(shard) = self.placer.shards[split].take() {
            shard.close(filling, self.job);
            self.closed += 1;
        }
        self.placer.now.shards[split] = (number + 1, Filling::default());
    }

    /// Adds the documents of a job to the buffer, and places those of the buffers that became full.
    fn buffers(&mut self, encoded: Encoded) -> Result<Vec<PlacedIds>> {
        let mut placed = Vec::new();
        let documents = encoded.parts.iter().map(|part| part.lengths.len() as u64).sum::<u64>();
        let passed = self.placer.to_pass.min(documents);
        self.placer.to_pass -= passed;
        let Some(buffer) = &mut self.placer.buffer else { return Ok(placed) };
        let (full, left) = buffer.add(encoded, (self.placer.documents, passed))?;
        if !full.is_empty() {
            self.placer.before_buffer = Some(Snapshot { passed: left, ..self.placer.now.clone() });
        }
        for full in full {
            self.buffer(full, &mut placed)?;
        }
        Ok(placed)
    }

    /// Places the documents of a buffer in their new order.
    fn buffer(&mut self, mut buffer: DocumentBuffer, placed: &mut Vec<PlacedIds>) -> Result<()> {
        let runs = buffer.arrange(GATHERED_IDS, &mut self.placer.now.packed)?;
        let buffer = Arc::new(buffer);
        for run in runs {
            let (mut start, mut at) = (run.order.start, run.order.start);
            let mut added = Filling::default();
            for (ids, entries) in buffer.lengths(run.order.clone()) {
                at += entries;
                added.ids += ids;
                added.documents += 1;
                let before = self.placer.now.shards[run.split].1.ids;
                if before + added.ids >= self.context.options.shard_size || at == run.order.end {
                    let what = Content::Buffered(buffer.clone(), start..at);
                    self.segment(run.split, added, what)?;
                    self.close_if_full(run.split);
                    (start, added) = (at, Filling::default());
                }
            }
            placed.push(self.placed());
        }
        Ok(())
    }
}
