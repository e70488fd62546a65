//! Many texts on several threads, results in order.

use std::ops::Range;

use super::joined::joined;
use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::output::{CountSink, IdType};
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

/// Adds the ids of a run of texts, and where the ids of each end.
pub(in crate::encode) type EncodeRun<'a> =
    &'a (dyn Fn(Worker, Range<usize>, &mut Vec<u32>, &mut Vec<usize>) -> Result<()> + Sync);

impl Encoder {
    /// The number of threads that are worth starting for `bytes` bytes. Makes the tables that they share.
    pub(in crate::encode) fn useful_workers(&self, workers: Option<usize>, bytes: usize) -> Result<usize> {
        let useful = if self.is_parallel() { bytes / MIN_BYTES_PER_WORKER } else { 1 };
        // For one worker the system is not asked for its cores.
        let workers = if useful > 1 { workers.unwrap_or_else(workers::cores).min(useful).max(1) } else { 1 };
        self.make_tables(workers)?;
        Ok(workers)
    }

    /// Encodes every text, as [`Encoder::encode`] does, on up to `workers` threads; the ids of all texts are
    /// in one list. The result does not depend on the number of threads; a small batch starts none. Memory:
    /// that list, and for each thread the ids of a run of texts.
    pub fn encode_batch<'a>(
        &'a self,
        texts: &[&[u8]],
        special: impl Into<SpecialTokens<'a>>,
        workers: usize,
        control: &Control,
    ) -> Result<EncodedBatch> {
        self.encode_column(texts, special, (workers, usize::MAX), control)
    }

    /// [`Encoder::encode_batch`] with ids of any type. More than `max_ids` ids are an error.
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
        let active = self.active(special.into());
        let encode = |worker, run: Range<usize>, ids: &mut Vec<u32>, ends: &mut Vec<usize>| {
            self.add_run(worker, &texts[run], active, ids, ends, control)
        };
        self.encode_runs(texts, (workers, max_ids), control, &encode)
    }

    /// Calls `encode` with each run of texts.
    pub(in crate::encode) fn encode_runs<T: IdType>(
        &self,
        texts: &[&[u8]],
        (workers, max_ids): (usize, usize),
        control: &Control,
        encode: EncodeRun<'_>,
    ) -> Result<EncodedBatch<T>> {
        let (runs, bytes, workers) = self.runs(texts, workers)?;
        let mut starts = room::for_items(texts.len() + 1)?;
        starts.push(0);
        let work = |number, run: Range<usize>, ids: &mut Vec<u32>| {
            let done: usize = texts[run.clone()].iter().map(|text| text.len()).sum();
            let (before, mut ends) = (ids.len(), Vec::new());
            encode(Worker { number, bytes: bytes / workers }, run, ids, &mut ends)?;
            control.advance(done as u64);
            ends.iter_mut().for_each(|end| *end -= before);
            Ok(ends)
        };
        let place = |before, count, ends: Vec<usize>| {
            starts.extend(ends.iter().map(|end| before + end)); // there is room for all
            if before + count > max_ids { Err(Error::TooManyIds(max_ids)) } else { Ok(()) }
        };
        let ids = joined((bytes, workers), control, runs.into_iter(), work, place)?;
        Ok(EncodedBatch { ids, starts })
    }

    /// Texts in runs that one worker takes, with the bytes of all, and the number of threads to use.
    fn runs(&self, texts: &[&[u8]], workers: usize) -> Result<(Vec<Range<usize>>, usize, usize)> {
        let (mut runs, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (index, text) in texts.iter().enumerate() {
            bytes += text.len() + 1;
            if bytes >= RUN_BYTES || index + 1 == texts.len() {
                runs.push(start..index + 1);
                (start, bytes) = (index + 1, 0);
            }
        }
        let bytes = texts.iter().map(|text| text.len()).sum();
        let workers = self.useful_workers(Some(workers), bytes)?.min(runs.len()).max(1);
        Ok((runs, bytes, workers))
    }

    /// How many ids each text has, on up to `workers` threads. Builds no list of ids.
    pub fn count_batch<'a>(
        &'a self,
        texts: &[&[u8]],
        special: impl Into<SpecialTokens<'a>>,
        workers: usize,
        control: &Control,
    ) -> Result<Vec<i64>> {
        let active = self.active(special.into());
        self.of_runs(texts, workers, control, |worker, run| {
            self.pool.with(self.isa, worker, |scratch| {
                let count = |text: &&[u8]| {
                    let mut count = CountSink(0);
                    self.encode_in(scratch, text, active, true, &mut count, control)?;
                    control.advance(text.len() as u64);
                    Ok(count.0 as i64)
                };
                texts[run].iter().map(count).collect()
            })
        })
    }

    /// The ranges of [`Encoder::truncate`], or of [`Encoder::truncate_left`], on up to `workers` threads.
    pub fn truncate_batch(
        &self,
        texts: &[&str],
        (max_tokens, keeps_end): (usize, bool),
        special: bool,
        workers: usize,
        control: &Control,
    ) -> Result<Vec<Range<usize>>> {
        let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let truncate = if keeps_end { Encoder::truncate_left } else { Encoder::truncate };
        self.of_runs(&bytes, workers, control, |_, run| {
            texts[run].iter().map(|text| truncate(self, text, max_tokens, special, control)).collect()
        })
    }

    /// What `work` gives for the texts of each run, in order.
    fn of_runs<T: Send>(
        &self,
        texts: &[&[u8]],
        workers: usize,
        control: &Control,
        work: impl Fn(Worker, Range<usize>) -> Result<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        let (runs, bytes, workers) = self.runs(texts, workers)?;
        let (mut all, mut runs) = (room::for_items(texts.len())?, runs.into_iter());
        let work = |number, run| work(Worker { number, bytes: bytes / workers }, run);
        let take = |of_run: Vec<T>| {
            all.extend(of_run);
            Ok(Vec::new())
        };
        workers::placed(workers, control, || Ok(runs.next()), work, take, |()| Ok(()))?;
        Ok(all)
    }

    /// Appends the ids of texts, and for each text where its ids end; on this thread, in the scratch of a
    /// worker. A text that is long by itself is encoded on up to `workers` threads.
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
            self.add_run(worker.into(), short, active, ids, ends, control)?;
            if let Some(text) = long {
                room::extend(ids, &self.encode_part(text, special, true, Some(workers), control)?)?;
                room::push(ends, ids.len())?;
            }
        }
        Ok(())
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
            }
            Ok(())
        })
    }
}
