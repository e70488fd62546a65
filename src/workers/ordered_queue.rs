//! Jobs for worker threads, with the results in the order of the jobs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::threads::{CHECK_INTERVAL, run_with};
use crate::control::Control;
use crate::error::{Error, Result};

/// How many jobs each worker may begin beyond the first unfinished one, which bounds the memory of waiting results.
/// Chosen without measurement.
const JOBS_AHEAD: usize = 4;

/// Runs `work` on each of the `jobs` on up to `workers` threads, and hands the results to `take` in the order
/// of the jobs, as soon as possible and one at a time. `jobs` makes one job for each call, when a worker is
/// free, and returns `None` at the end. Workers go on while results wait for earlier ones; at most five
/// results for each worker exist at once.
///
/// `work` also gets the number of its worker. Each worker prefers the jobs whose number modulo `workers` is
/// its own, and takes others only if they would wait. If the same jobs are run again, most of them are then
/// done by the worker that did them before and still has their data in its cache.
///
/// # Errors
/// The error of the first job for which `jobs`, `work` or `take` failed: all results before it were taken,
/// and no later job is begun after the failure. [`Error::Interrupted`].
pub fn in_order<J: Send, T: Send>(
    workers: usize,
    control: &Control,
    jobs: impl FnMut() -> Result<Option<J>> + Send,
    work: impl Fn(usize, J) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let place = |result| take(result).map(|()| Vec::<()>::new());
    placed(workers, control, jobs, work, place, |()| Ok(()), |_| Ok(()))
}

/// [`in_order`] for results that are written somewhere. `place` gets the results in order, one at a time, and only
/// determines where they go. Everything that it returns is given to `write`, on any worker, in any order, many at a
/// time. Workers write before they begin a new job, so the memory of results that wait to be written is bounded, too.
///
/// `meanwhile` runs on the calling thread while the workers run, for jobs that only this thread can make. Its
/// argument says whether there are workers: if the system started none, the calling thread works, after
/// `meanwhile` has returned.
///
/// # Errors
/// Those of [`in_order`], of `write`, and of `meanwhile`. Results that were placed before a failure are written.
pub fn placed<J: Send, T: Send, W: Send>(
    workers: usize,
    control: &Control,
    jobs: impl FnMut() -> Result<Option<J>> + Send,
    work: impl Fn(usize, J) -> Result<T> + Sync,
    place: impl FnMut(T) -> Result<Vec<W>> + Send,
    write: impl Fn(W) -> Result<()> + Sync,
    meanwhile: impl FnOnce(bool) -> Result<()>,
) -> Result<()> {
    let queue = OrderedQueue::new(jobs, place, workers.max(1));
    let run = |worker| {
        let _guard = PanicGuard(&queue);
        while let Some(turn) = queue.begin(worker, control)? {
            match turn {
                Turn::Job(number, job) => queue.submit(number, work(worker, job), control)?,
                Turn::Write(number, placed) => queue.written(number, write(placed))?,
            }
        }
        Ok(())
    };
    run_with(workers, control, run, meanwhile)?;
    queue.finish()
}

/// What a worker does next.
enum Turn<J, W> {
    /// A job, with its number.
    Job(usize, J),
    /// A placed result to write, with the number of its job.
    Write(usize, W),
}

/// What the workers share: the jobs, and the results that wait for earlier ones.
struct OrderedQueue<Jobs, J, Place, T, W> {
    state: Mutex<QueueState<Jobs, J, Place, T, W>>,
    moved: Condvar,
    workers: usize,
}

struct QueueState<Jobs, J, Place, T, W> {
    /// The source of jobs; `None` at its end or after a failure.
    jobs: Option<Jobs>,
    /// Jobs that were made and not begun, with their numbers.
    unstarted: VecDeque<(usize, J)>,
    /// The receiver of results; `None` while a worker calls it.
    place: Option<Place>,
    /// The number of the next job to be made.
    next: usize,
    /// The number of the next result to be taken.
    due: usize,
    /// Results that wait for earlier ones, by the number of their job.
    ready: BTreeMap<usize, T>,
    /// Placed results that are to be written.
    unwritten: VecDeque<(usize, W)>,
    /// The failed job with the lowest number, and its error. No job is begun after a failure.
    failed: Option<(usize, Error)>,
}

impl<Jobs, J, Place, T, W> OrderedQueue<Jobs, J, Place, T, W> {
    fn new(jobs: Jobs, place: Place, workers: usize) -> Self {
        let (unstarted, ready) = (VecDeque::new(), BTreeMap::new());
        let state = QueueState {
            jobs: Some(jobs),
            unstarted,
            place: Some(place),
            next: 0,
            due: 0,
            ready,
            unwritten: VecDeque::new(),
            failed: None,
        };
        OrderedQueue { state: Mutex::new(state), moved: Condvar::new(), workers }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<Jobs, J, Place, T, W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a worker does next; `None` at the end, or after a failure.
    fn begin(&self, worker: usize, control: &Control) -> Result<Option<Turn<J, W>>>
    where
        Jobs: FnMut() -> Result<Option<J>>,
    {
        control.check()?;
        let mut state = self.lock();
        loop {
            if let Some((number, placed)) = state.unwritten.pop_front() {
                return Ok(Some(Turn::Write(number, placed)));
            }
            let own = state.unstarted.iter().position(|(number, _)| number % self.workers == worker);
            if let Some((number, job)) = own.and_then(|at| state.unstarted.remove(at)) {
                return Ok(Some(Turn::Job(number, job)));
            }
            // Stops making jobs while an early job takes long, because the results of later jobs wait in memory.
            if state.next <= state.due + JOBS_AHEAD * self.workers && state.make()? {
                continue;
            }
            if let Some((number, job)) = state.unstarted.pop_front() {
                return Ok(Some(Turn::Job(number, job)));
            }
            if state.jobs.is_none() {
                return Ok(None);
            }
            state = self.moved.wait_timeout(state, CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
            control.check()?;
        }
    }

    /// Submits the result of a job. If it is the next result to be placed, this worker places it, and all
    /// results after it that are ready.
    fn submit(&self, number: usize, result: Result<T>, control: &Control) -> Result<()>
    where
        Place: FnMut(T) -> Result<Vec<W>>,
    {
        let mut state = self.lock();
        match result {
            Ok(result) => drop(state.ready.insert(number, result)),
            Err(error) => {
                state.fail(number, error)?;
                self.moved.notify_all();
            }
        }
        while let due = state.due
            && state.ready.contains_key(&due)
            && let Some(mut place) = state.place.take()
        {
            let result = state.ready.remove(&due);
            drop(state);
            let placed = result.map_or(Ok(Vec::new()), &mut place);
            let stopped = control.check();
            state = self.lock();
            state.place = Some(place);
            state.due += 1;
            match placed {
                Ok(placed) => state.unwritten.extend(placed.into_iter().map(|placed| (due, placed))),
                Err(error) => {
                    state.fail(due, error)?;
                    state.ready.clear();
                }
            }
            self.moved.notify_all();
            stopped?;
        }
        Ok(())
    }

    /// Notes whether a placed result was written.
    fn written(&self, number: usize, result: Result<()>) -> Result<()> {
        let Err(error) = result else { return Ok(()) };
        let mut state = self.lock();
        state.fail(number, error)?;
        state.ready.clear();
        self.moved.notify_all();
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl<Jobs, J, Place, T, W> QueueState<Jobs, J, Place, T, W> {
    /// Makes the next job; returns `false` if there is none.
    fn make(&mut self) -> Result<bool>
    where
        Jobs: FnMut() -> Result<Option<J>>,
    {
        let number = self.next;
        match self.jobs.as_mut().map_or(Ok(None), |jobs| jobs()) {
            Ok(Some(job)) => {
                self.unstarted.push_back((number, job));
                self.next += 1;
                return Ok(true);
            }
            Ok(None) => self.jobs = None,
            Err(error) => self.fail(number, error)?,
        }
        Ok(false)
    }

    /// Keeps the error of the failed job with the lowest number, and drops later jobs. An interruption is
    /// returned, which ends the worker at once.
    fn fail(&mut self, number: usize, error: Error) -> Result<()> {
        if matches!(error, Error::Interrupted) {
            return Err(error);
        }
        self.jobs = None;
        self.unstarted.retain(|(unstarted, _)| *unstarted < number);
        if self.failed.as_ref().is_none_or(|(first, _)| number < *first) {
            self.failed = Some((number, error));
        }
        Ok(())
    }
}

/// Ends the other workers if this one panics, since the result of its job will never come.
struct PanicGuard<'l, Jobs, J, Place, T, W>(&'l OrderedQueue<Jobs, J, Place, T, W>);

impl<Jobs, J, Place, T, W> Drop for PanicGuard<'_, Jobs, J, Place, T, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = self.0.lock();
            state.jobs = None;
            state.unstarted.clear();
            drop(state);
            self.0.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
