//! Many texts on several threads, results in order.

use std::ops::Range;

use super::joined::joined;
use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::output::{CountSink, IdBuffer, IdType};
use crate::encode::scratch::Worker;
use crate::encode::special_set::{ActiveSpecials, SpecialTokens};
use crate::error::{Error, Result};
use crate::room;
use crate::workers;

/// Texts are handed out in runs of about this many bytes.
const RUN_BYTES: usize = 1 << 18;
/// Below this many bytes a worker is not worth its start.
const MIN_BYTES_PER_WORKER: usize = 1 << 18;
/// A text with this many bytes or more is encoded by several workers.
const LONG_TEXT_BYTES: usize = 1 << 23;

/// The ids of many texts, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedBatch<T = u32> {
    /// The ids of all texts.
    pub ids: Vec<T>,
    /// `ids[starts[i]..starts[i + 1]]` are those of text `i`; one more than there are texts.
    pub starts: Vec<usize>,
}

impl Encoder {
    /// The number of threads that are worth starting for `bytes` bytes. Makes the tables that they share.
    pub(in crate::encode) fn useful_workers(&self, workers: Option<usize>, bytes: usize) -> Result<usize> {
        let useful = if self.is_parallel() { bytes / MIN_BYTES_PER_WORKER } else { 1 };
        // For one worker the system is not asked for its cores.
        let workers = if useful > 1 { workers.unwrap_or_else(workers::cores).min(useful).max(1) } else { 1 };
        self.make_tables(workers)?;
        Ok(workers)
    }

    /// Encodes every text, as [`Encoder::encode`] does, on up to `workers` threads. The result does
    /// not depend on their number; a small batch starts none.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`].
    pub fn encode_batch<'a>(
        &'a self,
        texts: &[&[u8]],
        special: impl Into<SpecialTokens<'a>>,
        workers: usize,
        control: &Control,
    ) -> Result<Vec<EncodedBatch>> {
        let active = self.active(special.into());
        let runs = runs(texts)?;
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let workers = self.useful_workers(Some(workers), bytes)?.min(runs.len()).max(1);
        let (mut batches, mut runs) = (room::for_items(runs.len())?, runs.into_iter());
        let work = |number, run: Range<usize>| {
            self.encode_run(Worker { number, bytes: bytes / workers }, &texts[run], active, control)
        };
        let take = |batch| {
            batches.push(batch);
            Ok(())
        };
        workers::in_order(workers, control, || Ok(runs.next()), work, take)?;
        Ok(batches)
    }

    /// [`Encoder::encode_batch`], with the ids of all texts one after the other in one list. Memory: that list, and
    /// for each thread the ids of a run of texts.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`].
    pub fn encode_batch_joined<'a>(
        &'a self,
        texts: &[&[u8]],
        special: impl Into<SpecialTokens<'a>>,
        workers: usize,
        control: &Control,
    ) -> Result<EncodedBatch> {
        self.encode_column(texts, special, (workers, usize::MAX), control)
    }

    /// [`Encoder::encode_batch_joined`] with ids of any type. More than `max_ids` ids are an error.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`]; [`Error::TooManyIds`]; [`Error::IdTooWide`].
    pub fn encode_column<'a, T: IdType>(
        &'a self,
        texts: &[&[u8]],
        special: impl Into<SpecialTokens<'a>>,
        (workers, max_ids): (usize, usize),
        control: &Control,
    ) -> Result<EncodedBatch<T>> {
        let (runs, active) = (runs(texts)?, self.active(special.into()));
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let workers = self.useful_workers(Some(workers), bytes)?.min(runs.len()).max(1);
        let mut starts = room::for_items(texts.len() + 1)?;
        starts.push(0);
        let size = |run: &Range<usize>| texts[run.clone()].iter().map(|text| text.len()).sum();
        if workers == 1 && T::IS_WIDE {
            let mut all = IdBuffer::<T>::new(bytes);
            for run in runs {
                if let Some(ids) = T::as_u32(&mut all.ids) {
                    let worker = Worker { number: 0, bytes };
                    self.add_run(worker, &texts[run.clone()], active, ids, &mut starts, control)?;
                }
                check_count(all.ids.len(), max_ids)?;
                all.done(size(&run))?;
            }
            return Ok(EncodedBatch { ids: all.finish(), starts });
        }
        let mut runs = runs.into_iter();
        let work = |number, run: Range<usize>, ids: &mut Vec<u32>| {
            let worker = Worker { number, bytes: bytes / workers };
            let mut ends = Vec::new();
            self.add_run(worker, &texts[run.clone()], active, ids, &mut ends, control)?;
            Ok((size(&run), ends))
        };
        let place = |before, count, ends: Vec<usize>| {
            starts.extend(ends.iter().map(|end| before + end)); // there is room for all
            check_count(before + count, max_ids)
        };
        let ids = joined((bytes, bytes, workers), control, || Ok(runs.next()), work, place)?;
        Ok(EncodedBatch { ids, starts })
    }

    /// How many ids each text has, on up to `workers` threads. Builds no list of ids.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`].
    pub fn count_batch<'a>(
        &'a self,
        texts: &[&[u8]],
        special: impl Into<SpecialTokens<'a>>,
        workers: usize,
        control: &Control,
    ) -> Result<Vec<i64>> {
        let (runs, active) = (runs(texts)?, self.active(special.into()));
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let workers = self.useful_workers(Some(workers), bytes)?.min(runs.len()).max(1);
        let (mut counts, mut runs) = (room::for_items(texts.len())?, runs.into_iter());
        let work = |number, run: Range<usize>| {
            self.pool.with(self.isa, Worker { number, bytes: bytes / workers }, |scratch| {
                let mut counts = room::for_items(run.len())?;
                for text in &texts[run] {
                    let mut count = CountSink(0);
                    self.encode_in(scratch, text, active, true, &mut count, control)?;
                    counts.push(count.0 as i64);
                    control.advance(text.len() as u64);
                }
                Ok(counts)
            })
        };
        let take = |of_run: Vec<i64>| room::extend(&mut counts, &of_run);
        workers::in_order(workers, control, || Ok(runs.next()), work, take)?;
        Ok(counts)
    }

    /// Appends the ids of texts, and for each text where its ids end; on this thread, in the scratch of a worker. A
    /// text that is long by itself is encoded on up to `workers` threads.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`].
    pub(crate) fn encode_documents(
        &self,
        (worker, workers): (usize, usize),
        texts: &[&[u8]],
        special: bool,
        ids: &mut Vec<u32>,
        ends: &mut Vec<usize>,
        control: &Control,
    ) -> Result<()> {
        let active = self.active(special.into());
        for short in texts.split_inclusive(|text| text.len() >= LONG_TEXT_BYTES) {
            let (short, long) = match short.split_last() {
                Some((&last, before)) if last.len() >= LONG_TEXT_BYTES => (before, Some(last)),
                _ => (short, None),
            };
            self.pool.with(self.isa, worker, |scratch| {
                for text in short {
                    self.encode_in(scratch, text, active, true, ids, control)?;
                    room::push(ends, ids.len())?;
                }
                Ok(())
            })?;
            if let Some(text) = long {
                room::extend(ids, &self.encode_long(text, special, Some(workers), control)?)?;
                room::push(ends, ids.len())?;
            }
        }
        Ok(())
    }

    fn encode_run(
        &self,
        worker: Worker,
        texts: &[&[u8]],
        active: ActiveSpecials<'_>,
        control: &Control,
    ) -> Result<EncodedBatch> {
        let mut batch = EncodedBatch { ids: Vec::new(), starts: vec![0] };
        self.add_run(worker, texts, active, &mut batch.ids, &mut batch.starts, control)?;
        Ok(batch)
    }

    /// Adds the ids of some texts, and where each text's ids end, in a scratch of this worker.
    fn add_run(
        &self,
        worker: Worker,
        texts: &[&[u8]],
        active: ActiveSpecials<'_>,
        ids: &mut Vec<u32>,
        ends: &mut Vec<usize>,
        control: &Control,
    ) -> Result<()> {
        self.pool.with(self.isa, worker, |scratch| {
            for text in texts {
                self.encode_in(scratch, text, active, true, ids, control)?;
                room::push(ends, ids.len())?;
                control.advance(text.len() as u64);
            }
            Ok(())
        })
    }
}

fn check_count(ids: usize, max_ids: usize) -> Result<()> {
    if ids > max_ids { Err(Error::TooManyIds(max_ids)) } else { Ok(()) }
}

/// Texts in runs that one worker takes.
pub(in crate::encode) fn runs(texts: &[&[u8]]) -> Result<Vec<Range<usize>>> {
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        bytes += text.len() + 1;
        if bytes >= RUN_BYTES || index + 1 == texts.len() {
            room::push(&mut runs, start..index + 1)?;
            (start, bytes) = (index + 1, 0);
        }
    }
    Ok(runs)
}
