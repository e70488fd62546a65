//! Jobs for worker threads, with the results in the order of the jobs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::threads::{CHECK_INTERVAL, run, run_here_too_with};
use crate::control::Control;
use crate::error::{Error, Result};

/// How many jobs each worker may begin beyond the first unfinished one, which bounds the memory of waiting results.
const JOBS_AHEAD: usize = 4;
/// How many jobs the calling thread makes in advance for each worker.
const JOBS_IN_ADVANCE: usize = 2;

/// Runs `work` on each of the `jobs` on up to `workers` threads, and hands the results to `take` in the order
/// of the jobs, as soon as possible and one at a time. `jobs` makes one job for each call, when a worker is
/// free, and returns `None` at the end. Workers continue while results wait for earlier ones; at most five
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
    placed(workers, control, jobs, work, place, |()| Ok(()))
}

/// [`in_order`] for results that are written somewhere. `place` gets the results in order, one at a time, and only
/// determines where they go. Everything that it returns is given to `write`, on any worker, in any order, many at a
/// time. Workers write before they begin a new job, so the memory of results that wait to be written is bounded, too.
///
/// # Errors
/// Those of [`in_order`], and of `write`. Results that were placed before a failure are written.
pub fn placed<J: Send, T: Send, W: Send>(
    workers: usize,
    control: &Control,
    jobs: impl FnMut() -> Result<Option<J>> + Send,
    work: impl Fn(usize, J) -> Result<T> + Sync,
    place: impl FnMut(T) -> Result<Vec<W>> + Send,
    write: impl Fn(W) -> Result<()> + Sync,
) -> Result<()> {
    let queue = OrderedQueue::new(JobSource::Made(jobs), place, workers.max(1));
    run(workers, control, |worker| queue.work(worker, (&work, &write), control))?;
    queue.finish()
}

/// [`placed`] for jobs that only the calling thread can make. This thread is one of the workers: it makes jobs, and
/// works itself while enough jobs wait.
///
/// # Errors
/// Those of [`placed`].
pub fn placed_by_caller<J: Send, T: Send, W: Send>(
    workers: usize,
    control: &Control,
    jobs: impl FnMut() -> Result<Option<J>>,
    work: impl Fn(usize, J) -> Result<T> + Sync,
    place: impl FnMut(T) -> Result<Vec<W>> + Send,
    write: impl Fn(W) -> Result<()> + Sync,
) -> Result<()> {
    let source: JobSource<fn() -> Result<Option<J>>> = JobSource::Caller;
    let queue = OrderedQueue::new(source, place, workers.max(1));
    let tasks: Tasks<'_, J, T, W> = (&work, &write);
    let bring = || queue.give(jobs, tasks, control);
    run_here_too_with(workers, control, bring, |worker| queue.work(worker, tasks, control))?;
    queue.finish()
}

/// What a worker does next.
enum Turn<J, W> {
    /// A job, with its number.
    Job(usize, J),
    /// A placed result to write, with the number of its job.
    Write(usize, W),
}

/// What is done with a job, and with a placed result.
type Tasks<'t, J, T, W> = (&'t (dyn Fn(usize, J) -> Result<T> + Sync), &'t (dyn Fn(W) -> Result<()> + Sync));

/// Where jobs come from.
enum JobSource<Jobs> {
    /// A function makes them, on any thread.
    Made(Jobs),
    /// The calling thread gives them.
    Caller,
    /// There are no more, because they are done or because one has failed.
    Ended,
}

/// What the workers share: the jobs, and the results that wait for earlier ones.
struct OrderedQueue<Jobs, J, Place, T, W> {
    state: Mutex<QueueState<Jobs, J, Place, T, W>>,
    moved: Condvar,
    workers: usize,
}

struct QueueState<Jobs, J, Place, T, W> {
    jobs: JobSource<Jobs>,
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
    fn new(jobs: JobSource<Jobs>, place: Place, workers: usize) -> Self {
        let (unstarted, ready) = (VecDeque::new(), BTreeMap::new());
        let state = QueueState {
            jobs,
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

    /// Works until there are no more jobs, or one has failed. `tasks` are for a job, and for a result to write.
    fn work(&self, worker: usize, tasks: Tasks<'_, J, T, W>, control: &Control) -> Result<()>
    where
        Jobs: FnMut() -> Result<Option<J>>,
        Place: FnMut(T) -> Result<Vec<W>>,
    {
        let _guard = PanicGuard(self);
        while let Some(turn) = self.begin(worker, control)? {
            self.take_turn(worker, turn, tasks, control)?;
        }
        Ok(())
    }

    fn take_turn(
        &self,
        worker: usize,
        turn: Turn<J, W>,
        (work, write): Tasks<'_, J, T, W>,
        control: &Control,
    ) -> Result<()>
    where
        Place: FnMut(T) -> Result<Vec<W>>,
    {
        match turn {
            Turn::Job(number, job) => self.submit(number, work(worker, job), control),
            Turn::Write(number, placed) => self.written(number, write(placed)),
        }
    }

    /// What a worker does next; `None` at the end, or after a failure.
    fn begin(&self, worker: usize, control: &Control) -> Result<Option<Turn<J, W>>>
    where
        Jobs: FnMut() -> Result<Option<J>>,
    {
        control.check()?;
        let mut state = self.lock();
        loop {
            if let Some(turn) = self.turn(&mut state, worker)? {
                return Ok(Some(turn));
            }
            if matches!(state.jobs, JobSource::Ended) {
                return Ok(None);
            }
            state = self.wait(state);
            control.check()?;
        }
    }

    /// What a worker can do now.
    fn turn(&self, state: &mut QueueState<Jobs, J, Place, T, W>, worker: usize) -> Result<Option<Turn<J, W>>>
    where
        Jobs: FnMut() -> Result<Option<J>>,
    {
        loop {
            if let Some((number, placed)) = state.unwritten.pop_front() {
                return Ok(Some(Turn::Write(number, placed)));
            }
            let own = state.unstarted.iter().position(|(number, _)| number % self.workers == worker);
            if let Some((number, job)) = own.and_then(|at| state.unstarted.remove(at)) {
                return Ok(Some(Turn::Job(number, job)));
            }
            if !self.has_room(state) || !state.make()? {
                return Ok(state.unstarted.pop_front().map(|(number, job)| Turn::Job(number, job)));
            }
        }
    }

    /// Whether another job may be made. While an early job takes long, the results of later ones wait in memory.
    fn has_room(&self, state: &QueueState<Jobs, J, Place, T, W>) -> bool {
        state.next <= state.due + JOBS_AHEAD * self.workers
    }

    /// Waits until something has changed, or for so long that the control should be checked.
    fn wait<'l>(
        &self,
        state: MutexGuard<'l, QueueState<Jobs, J, Place, T, W>>,
    ) -> MutexGuard<'l, QueueState<Jobs, J, Place, T, W>> {
        self.moved.wait_timeout(state, CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Makes jobs until there are no more, or one has failed, and works as the worker 0 while enough jobs wait.
    fn give(
        &self,
        mut jobs: impl FnMut() -> Result<Option<J>>,
        tasks: Tasks<'_, J, T, W>,
        control: &Control,
    ) -> Result<()>
    where
        Jobs: FnMut() -> Result<Option<J>>,
        Place: FnMut(T) -> Result<Vec<W>>,
    {
        let _guard = PanicGuard(self);
        let mut give = || loop {
            control.check()?;
            let mut state = self.lock();
            if matches!(state.jobs, JobSource::Ended) {
                return Ok(());
            }
            if state.unstarted.len() < JOBS_IN_ADVANCE * self.workers && self.has_room(&state) {
                drop(state);
                let job = jobs();
                state = self.lock();
                state.add(job)?;
                self.moved.notify_all();
            } else if let Some(turn) = self.turn(&mut state, 0)? {
                drop(state);
                self.take_turn(0, turn, tasks, control)?;
            } else {
                drop(self.wait(state));
            }
        };
        let result = give();
        if result.is_err() {
            // Otherwise the other workers would wait for more jobs.
            self.lock().jobs = JobSource::Ended;
            self.moved.notify_all();
        }
        result
    }

    /// Submits the result of a job. If it is the next result to be placed, this worker places it, and all
    /// results after it that are ready.
    fn submit(&self, number: usize, result: Result<T>, control: &Control) -> Result<()>
    where
        Place: FnMut(T) -> Result<Vec<W>>,
    {
        let mut state = self.lock();
        match result {
            Ok(result) if state.is_before_failure(number) => drop(state.ready.insert(number, result)),
            Ok(_) => {}
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
                Err(error) => state.fail(due, error)?,
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
        self.moved.notify_all();
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl<Jobs, J, Place, T, W> QueueState<Jobs, J, Place, T, W> {
    /// Makes the next job; returns `false` if there is none, or if it is not made here.
    fn make(&mut self) -> Result<bool>
    where
        Jobs: FnMut() -> Result<Option<J>>,
    {
        let JobSource::Made(jobs) = &mut self.jobs else { return Ok(false) };
        let job = jobs();
        self.add(job)
    }

    /// Adds the next job; returns `false` if there is none.
    fn add(&mut self, job: Result<Option<J>>) -> Result<bool> {
        let number = self.next;
        match job {
            Ok(Some(job)) if !matches!(self.jobs, JobSource::Ended) => {
                self.unstarted.push_back((number, job));
                self.next += 1;
                return Ok(true);
            }
            // Another job may have failed while this one was made.
            Ok(_) => self.jobs = JobSource::Ended,
            Err(error) => self.fail(number, error)?,
        }
        Ok(false)
    }

    /// Keeps the error of the failed job with the lowest number, and drops later jobs and results. An interruption is
    /// returned, which ends the worker at once.
    fn fail(&mut self, number: usize, error: Error) -> Result<()> {
        if matches!(error, Error::Interrupted) {
            return Err(error);
        }
        self.jobs = JobSource::Ended;
        self.unstarted.retain(|(unstarted, _)| *unstarted < number);
        self.ready.retain(|ready, _| *ready < number);
        if self.is_before_failure(number) {
            self.failed = Some((number, error));
        }
        Ok(())
    }

    /// Whether no job up to this one has failed: the result of a later job is not taken, whenever it comes.
    fn is_before_failure(&self, number: usize) -> bool {
        self.failed.as_ref().is_none_or(|(first, _)| number < *first)
    }
}

/// Ends the other workers if this one panics, since the result of its job will never come.
struct PanicGuard<'l, Jobs, J, Place, T, W>(&'l OrderedQueue<Jobs, J, Place, T, W>);

impl<Jobs, J, Place, T, W> Drop for PanicGuard<'_, Jobs, J, Place, T, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state = self.0.lock();
            state.jobs = JobSource::Ended;
            state.unstarted.clear();
            drop(state);
            self.0.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
