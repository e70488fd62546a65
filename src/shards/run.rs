//! A run: sources → jobs → ids → shards, on several threads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::cuts::ChunkCutter;
use super::documents::{Documents, TextBatch};
use super::encoder::DocumentEncoder;
use super::ledger::{Ledger, Pending, Snapshot};
use super::options::ShardOptions;
use super::place::{PlaceContext, Placer};
use super::plan::{Job, JobKind, Plan};
use super::shard::{Filling, Shard};
use super::sources::{Cursor, Source};
use super::streams::Streams;
use super::write::PlacedIds;
use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::source::WrittenHashes;
use crate::workers;

/// What the caller does with shards and snapshots. Workers call these methods, several at a time.
pub trait Keeper: Sync {
    /// Finishes a shard to which nothing is left to be written. `hashes` are those of its ids, as far as they are known.
    ///
    /// # Errors
    /// Those of the caller.
    fn finish(&self, split: usize, number: u32, filling: Filling, hashes: Arc<WrittenHashes>) -> Result<()>;

    /// Saves a snapshot. All data that it refers to is already on the disk. Only one call runs at a time.
    ///
    /// # Errors
    /// Those of the caller.
    fn save(&self, snapshot: &Snapshot) -> Result<()>;
}

/// How far a run has come, and how long its serial steps took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Documents that were placed.
    pub documents: u64,
    /// Ids that were placed.
    pub ids: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// The index of the source that was placed last.
    pub source: u64,
    /// Nanoseconds spent placing ids, in total.
    pub place_nanos: u64,
    /// Nanoseconds spent making jobs and waiting for streams, in total.
    pub plan_nanos: u64,
}

/// A job that consists of texts of the caller.
pub struct TextJob<T> {
    /// The index of the source.
    pub source: usize,
    /// The number of the first text in its source.
    pub first: u64,
    /// The texts.
    pub texts: T,
    /// The place in the sources after the texts.
    pub end: Cursor,
}

/// A run that turns sources into shards. It processes its sources in order, in one call or in several.
pub struct ShardRun {
    options: ShardOptions,
    sources: Vec<Source>,
    placer: Mutex<Placer>,
    ledger: Ledger,
    counts: Mutex<Counts>,
    plan_nanos: AtomicU64,
}

impl ShardRun {
    /// Begins a run, or continues from a snapshot.
    ///
    /// # Errors
    /// [`crate::Error::Io`]: the shards of the snapshot do not exist, or are not as they were then.
    /// [`crate::Error::Snapshot`]: the snapshot cannot belong to a run with these splits and sources.
    pub fn open(
        options: ShardOptions,
        sources: Vec<Source>,
        snapshot: Option<Snapshot>,
        control: &Control,
    ) -> Result<Self> {
        let snapshot = snapshot.unwrap_or_else(|| Snapshot {
            shards: vec![Default::default(); options.splits.len()],
            totals: vec![Default::default(); options.splits.len()],
            checksums: vec![Default::default(); options.splits.len()],
            ..Snapshot::default()
        });
        if !snapshot.is_of(options.splits.len(), sources.len()) {
            return Err(Error::Snapshot);
        }
        let placer = Mutex::new(Placer::open(&options, snapshot, control)?);
        let (ledger, counts) = (Ledger::default(), Mutex::default());
        let run = ShardRun { options, sources, placer, ledger, counts, plan_nanos: AtomicU64::new(0) };
        run.count(&run.placer().now, 0);
        Ok(run)
    }

    fn placer(&self) -> MutexGuard<'_, Placer> {
        self.placer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place that the run has come to.
    pub fn at(&self) -> Cursor {
        self.placer().now.at
    }

    /// How far the run is. Never waits for long.
    pub fn counts(&self) -> Counts {
        let mut counts = *self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.plan_nanos = self.plan_nanos.load(Relaxed);
        counts
    }

    fn count(&self, now: &Snapshot, nanos: u64) {
        let sum = |number: fn(&Filling) -> u64| now.totals.iter().map(number).sum();
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts = Counts {
            documents: sum(|total| total.documents),
            ids: sum(|total| total.ids),
            text_bytes: now.text_bytes,
            source: now.at.source as u64,
            place_nanos: counts.place_nanos + nanos,
            plan_nanos: 0,
        };
    }

    /// Processes the remaining sources before `end`. All of them must be files or streams.
    ///
    /// # Errors
    /// [`crate::Error::Io`], [`crate::Error::NotUtf8`], [`crate::Error::Corrupt`], [`crate::Error::Record`]: the
    /// first error in the order of the sources; errors of encoding and of the keeper; [`crate::Error::Interrupted`].
    pub fn files(
        &self,
        encoder: &DocumentEncoder,
        end: usize,
        keeper: &dyn Keeper,
        control: &Control,
    ) -> Result<()> {
        control.begin(Stage::Encode, 0);
        let sources = &self.sources[..end];
        let cutter = ChunkCutter::new(&self.options, Some(encoder.cutter(self.options.replace)));
        let options = &self.options;
        thread::scope(|scope| {
            let streams = Streams::new(scope, sources, &cutter, options, control);
            let mut plan =
                Plan { sources, cutter: &cutter, options, control, streams, at: self.at(), file: None };
            let jobs = move || plan.next::<NoTexts>();
            self.work((encoder, &cutter), keeper, control, (jobs, JobMaker::AnyWorker))
        })
    }

    /// Processes texts that the calling thread makes. They are the texts of the remaining sources before `end`.
    ///
    /// # Errors
    /// Those of `next`, and of [`ShardRun::files`].
    pub fn texts<T: TextBatch>(
        &self,
        encoder: &DocumentEncoder,
        end: usize,
        mut next: impl FnMut() -> Result<Option<TextJob<T>>> + Send,
        keeper: &dyn Keeper,
        control: &Control,
    ) -> Result<()> {
        control.begin(Stage::Encode, 0);
        let cutter = ChunkCutter::new(&self.options, None);
        let jobs = || {
            Ok(next()?.map(|TextJob { source, first, texts, end }| Job {
                what: JobKind::Texts { source, first, texts },
                end,
            }))
        };
        self.work((encoder, &cutter), keeper, control, (jobs, JobMaker::Caller))?;
        let mut placer = self.placer();
        placer.now.at = Cursor::start_of(end);
        placer.now.lines = 0;
        Ok(())
    }

    /// Runs jobs on the threads.
    fn work<T: TextBatch>(
        &self,
        (encoder, cutter): (&DocumentEncoder, &ChunkCutter<'_>),
        keeper: &dyn Keeper,
        control: &Control,
        (mut jobs, maker): (impl FnMut() -> Result<Option<Job<T>>> + Send, JobMaker),
    ) -> Result<()> {
        let (options, sources) = (&self.options, &*self.sources);
        let documents = Documents::new(encoder, sources, cutter, options);
        let context = PlaceContext { options, sources, ledger: &self.ledger };
        let plan_nanos = &self.plan_nanos;
        let jobs = move || {
            let start = Instant::now();
            let job = jobs();
            plan_nanos.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
            job
        };
        let work = |worker, job: Job<T>| documents.encode(worker, job, control);
        let place = |encoded| {
            let start = Instant::now();
            let mut placer = self.placer();
            let placed = placer.place(encoded, context);
            self.count(&placer.now, start.elapsed().as_nanos() as u64);
            placed
        };
        let write = |placed: PlacedIds| {
            placed.write(&mut |shard| self.finish_shard(shard, keeper))?;
            self.ledger.done(placed.job);
            self.save(keeper)
        };
        let workers = encoder.workers(options.workers);
        encoder.encoder.make_tables(workers)?;
        let done = match maker {
            JobMaker::Caller => workers::placed_by_caller(workers, control, jobs, work, place, write),
            JobMaker::AnyWorker => workers::placed(workers, control, jobs, work, place, write),
        };
        if done.is_err() && self.ledger.is_empty() {
            // Everything that was placed before the failure is written, so the next run can continue from this
            // snapshot.
            self.placer().snapshot_now(&self.ledger);
            let _ = self.save(keeper);
        }
        done
    }

    fn finish_shard(&self, shard: &Arc<Shard>, keeper: &dyn Keeper) -> Result<()> {
        let (filling, job) = shard.closed();
        keeper.finish(shard.split, shard.number, filling, shard.hashes())?;
        self.ledger.done(job);
        Ok(())
    }

    /// Saves the snapshots that are due.
    fn save(&self, keeper: &dyn Keeper) -> Result<()> {
        while let Some(Pending { mut snapshot, shards, .. }) = self.ledger.take() {
            let saved = (shards.iter())
                .try_for_each(|shard| {
                    shard.sync()?;
                    let (_, filling) = snapshot.shards[shard.split];
                    snapshot.checksums[shard.split] = shard.checksums(filling, &Control::none())?;
                    Ok(())
                })
                .and_then(|()| keeper.save(&snapshot));
            self.ledger.saved();
            saved?;
        }
        Ok(())
    }

    /// Closes all shards, and saves a last snapshot.
    ///
    /// # Errors
    /// [`crate::Error::Io`]; those of the keeper.
    pub fn finish(&self, keeper: &dyn Keeper, control: &Control) -> Result<Snapshot> {
        let context = PlaceContext { options: &self.options, sources: &self.sources, ledger: &self.ledger };
        let (placed, whole) = self.placer().finish(context)?;
        for placed in placed {
            control.check()?;
            placed.write(&mut |shard| self.finish_shard(shard, keeper))?;
        }
        for shard in whole {
            control.check()?;
            self.finish_shard(&shard, keeper)?;
        }
        let snapshot = self.placer().now.clone();
        self.count(&snapshot, 0);
        keeper.save(&snapshot)?;
        Ok(snapshot)
    }
}

/// The thread that makes jobs.
enum JobMaker {
    /// The calling thread, beside its own jobs.
    Caller,
    AnyWorker,
}

/// The texts of a run of files, which has none.
struct NoTexts;

impl TextBatch for NoTexts {
    fn texts(&self) -> Result<Vec<&[u8]>> {
        Ok(Vec::new())
    }

    fn progress(&self) -> u64 {
        0
    }
}
