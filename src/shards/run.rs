//! A run: sources → jobs → ids → shards, on several threads.

use std::sync::Arc;
use std::thread;

use super::conversations::RecordReader;
use super::documents::{Documents, Job, TextJob};
use super::folder::ShardFolder;
use super::ledger::{Ledger, Pending, Snapshot};
use super::options::ShardOptions;
use super::place::{PlaceContext, Placer};
use super::shard::{Filling, Shard};
use super::write::PlacedIds;
use crate::control::{Control, Stage};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::source::{ChunkCutter, Cursor, InputFile, Plan};
use crate::workers::{self, Lock};

/// A run that turns sources into shards. It processes its sources in order, in one call or in several.
pub struct ShardRun {
    options: ShardOptions,
    sources: Vec<InputFile>,
    /// Reads records; `None` if documents are texts.
    reader: Option<RecordReader>,
    /// What makes shards whole, and saves snapshots; `None` for pieces.
    folder: Option<Arc<ShardFolder>>,
    placer: Lock<Placer>,
    ledger: Ledger,
    counts: Lock<(u64, u64, u64)>,
}

impl ShardRun {
    /// Begins a run, or continues from the snapshot of its folder.
    pub fn open(
        options: ShardOptions,
        sources: Vec<InputFile>,
        folder: Option<Arc<ShardFolder>>,
        reader: Option<RecordReader>,
        control: &Control,
    ) -> Result<Self> {
        let snapshot = folder.as_ref().and_then(|folder| folder.snapshot()).unwrap_or_else(|| Snapshot {
            shards: vec![Default::default(); options.splits.len()],
            totals: vec![Default::default(); options.splits.len()],
            checksums: vec![Default::default(); options.splits.len()],
            ..Snapshot::default()
        });
        if !snapshot.is_of(options.splits.len(), sources.len()) {
            return Err(Error::Snapshot);
        }
        let placer = Lock::new(Placer::open(&options, snapshot, control)?);
        let (ledger, counts) = (Ledger::default(), Lock::default());
        let run = ShardRun { options, sources, reader, folder, placer, ledger, counts };
        run.count(&run.placer.lock().now);
        Ok(run)
    }

    /// The place that the run has come to.
    pub fn at(&self) -> Cursor {
        self.placer.lock().now.at
    }

    /// The documents and the ids that were placed, and the index of the source that was placed last. Never
    /// waits for long.
    pub fn counts(&self) -> (u64, u64, u64) {
        *self.counts.lock()
    }

    fn count(&self, now: &Snapshot) {
        let sum = |number: fn(&Filling) -> u64| now.totals.iter().map(number).sum();
        let (documents, ids) = (sum(|total| total.documents), sum(|total| total.ids));
        *self.counts.lock() = (documents, ids, now.at.source as u64);
    }

    /// Processes the remaining sources before `end`. All of them must be files or streams.
    ///
    /// # Errors
    /// The first error in the order of the sources; errors of encoding and of the folder;
    /// [`Error::Interrupted`].
    pub fn files(&self, encoder: &Encoder, end: usize, control: &Control) -> Result<()> {
        control.begin(Stage::Encode, 0);
        let sources = &self.sources[..end];
        let read = self.options.read();
        let cutter = ChunkCutter::new(&read, Some(encoder.cutter(self.options.special, read.replace)));
        thread::scope(|scope| {
            let mut plan = Plan::new(scope, sources, &cutter, self.at(), control);
            let jobs = move || Ok(plan.next()?.map(|(chunks, end)| Job::Chunks(chunks, end)));
            self.work((encoder, &cutter), control, (jobs, false))
        })
    }

    /// Processes texts that the calling thread makes. They are the texts of the remaining sources before
    /// `end`. The separator cuts them if `is_cut`, and they are no records.
    pub fn texts(
        &self,
        encoder: &Encoder,
        (end, is_cut): (usize, bool),
        mut next: impl FnMut() -> Result<Option<TextJob>> + Send,
        control: &Control,
    ) -> Result<()> {
        control.begin(Stage::Encode, 0);
        let mut read = self.options.read();
        read.separator = read.separator.filter(|_| is_cut && self.reader.is_none());
        let cutter = ChunkCutter::new(&read, None);
        let jobs = || Ok(next()?.map(Job::Texts));
        self.work((encoder, &cutter), control, (jobs, true))?;
        let mut placer = self.placer.lock();
        placer.now.at = Cursor::start_of(end);
        placer.now.lines = 0;
        Ok(())
    }

    /// Runs jobs on the threads. They are made by the calling thread, beside its own jobs, or by any.
    fn work(
        &self,
        (encoder, cutter): (&Encoder, &ChunkCutter<'_>),
        control: &Control,
        (jobs, by_caller): (impl FnMut() -> Result<Option<Job>> + Send, bool),
    ) -> Result<()> {
        let (options, sources) = (&self.options, &*self.sources);
        let documents = Documents::new(encoder, sources, cutter, options, self.reader.as_ref());
        let context = PlaceContext { options, sources, ledger: &self.ledger };
        let work = |worker, job| documents.encode(worker, job, control);
        let place = |encoded| {
            let mut placer = self.placer.lock();
            let placed = placer.place(encoded, context);
            self.count(&placer.now);
            placed
        };
        let write = |placed: PlacedIds| {
            placed.write(&mut |shard| self.finish_shard(shard))?;
            self.ledger.done(placed.job);
            self.save()
        };
        let workers = if encoder.is_parallel() { options.workers } else { 1 };
        encoder.make_tables(workers)?;
        let done = match by_caller {
            true => workers::placed_by_caller(workers, control, jobs, work, place, write),
            false => workers::placed(workers, control, jobs, work, place, write),
        };
        if done.is_err() && self.ledger.is_empty() {
            // Everything that was placed before the failure is written, so the next run can continue from
            // this snapshot.
            self.placer.lock().snapshot_now(&self.ledger);
            let _ = self.save();
        }
        done
    }

    fn finish_shard(&self, shard: &Arc<Shard>) -> Result<()> {
        let (filling, job) = shard.closed();
        if let Some(folder) = &self.folder {
            folder.finish((shard.split, shard.number), filling, &shard.ids.hashes, &Control::none())?;
        }
        self.ledger.done(job);
        Ok(())
    }

    /// Saves the snapshots that are due.
    fn save(&self) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        while let Some(Pending { mut snapshot, shards, .. }) = self.ledger.take() {
            let saved = (shards.iter())
                .try_for_each(|shard| {
                    shard.sync()?;
                    let (_, filling) = snapshot.shards[shard.split];
                    snapshot.checksums[shard.split] = shard.checksums(filling, &Control::none())?;
                    Ok(())
                })
                .and_then(|()| folder.save(&snapshot));
            self.ledger.saved();
            saved?;
        }
        Ok(())
    }

    /// Closes all shards, and saves a last snapshot.
    pub fn finish(&self, control: &Control) -> Result<Snapshot> {
        let context = PlaceContext { options: &self.options, sources: &self.sources, ledger: &self.ledger };
        let (placed, whole) = self.placer.lock().finish(context)?;
        for placed in placed {
            control.check()?;
            placed.write(&mut |shard| self.finish_shard(shard))?;
        }
        for shard in whole {
            control.check()?;
            self.finish_shard(&shard)?;
        }
        let snapshot = self.placer.lock().now.clone();
        self.count(&snapshot);
        if let Some(folder) = &self.folder {
            folder.save(&snapshot)?;
        }
        Ok(snapshot)
    }
}
