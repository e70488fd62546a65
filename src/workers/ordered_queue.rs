//! Jobs for worker threads, with the results in the order of the jobs.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::threads::{CHECK_INTERVAL, run, run_here_too};
use crate::control::Control;
use crate::error::{Error, Result};

/// How many jobs each worker may begin beyond the first unfinished one, which bounds the memory of waiting
/// results.
const JOBS_AHEAD: usize = 4;
/// How many jobs the calling thread makes in advance for each worker.
const JOBS_IN_ADVANCE: usize = 2;

/// Runs `work` on each of the `jobs` on up to `workers` threads. `jobs` makes one job for each call, when a
/// worker is free, and returns `None` at the end. `work` also gets the number of its worker. `place` gets the
/// results in the order of the jobs, as soon as possible and one at a time, and only determines where they
/// go. Everything that it returns is given to `write`, on any worker, in any order, many at a time.
///
/// Workers continue while results wait for earlier ones, and write before they begin a new job; at most five
/// results for each worker exist at once. They take jobs as they come, so the numbers of the jobs of each
/// rise.
///
/// # Errors
/// The error of the first job for which `jobs`, `work`, `place` or `write` failed: all results before it were
/// placed, and no later job is begun after the failure. Results that were placed before a failure are
/// written. [`Error::Interrupted`].
pub fn placed<J: Send, T: Send, W: Send>(
    workers: usize,
    control: &Control,
    mut jobs: impl FnMut() -> Result<Option<J>> + Send,
    work: impl Fn(usize, J) -> Result<T> + Sync,
    mut place: impl FnMut(T) -> Result<Vec<W>> + Send,
    write: impl Fn(W) -> Result<()> + Sync,
) -> Result<()> {
    let jobs = JobSource::Made(&mut jobs);
    let queue = OrderedQueue::new(jobs, &work, &mut place, &write, (workers, control));
    run(workers, control, |worker| queue.work(worker))?;
    queue.finish()
}

/// [`placed`] for jobs that only the calling thread can make. This thread is one of the workers: it makes
/// jobs, and works itself while enough jobs wait.
pub fn placed_by_caller<J: Send, T: Send, W: Send>(
    workers: usize,
    control: &Control,
    mut jobs: impl FnMut() -> Result<Option<J>>,
    work: impl Fn(usize, J) -> Result<T> + Sync,
    mut place: impl FnMut(T) -> Result<Vec<W>> + Send,
    write: impl Fn(W) -> Result<()> + Sync,
) -> Result<()> {
    let queue = OrderedQueue::new(JobSource::Caller, &work, &mut place, &write, (workers, control));
    run_here_too(workers, control, || queue.give(&mut jobs), |worker| queue.work(worker))?;
    queue.finish()
}

/// What a worker does next.
enum Turn<J, W> {
    /// A job, with its number.
    Job(usize, J),
    /// A placed result to write, with the number of its job.
    Write(usize, W),
}

/// Does a job, on the worker of a number.
type Work<'t, J, T> = &'t (dyn Fn(usize, J) -> Result<T> + Sync);
/// Gets the results in order.
type PlaceResult<'t, T, W> = &'t mut (dyn FnMut(T) -> Result<Vec<W>> + Send);
/// Writes a placed result.
type Write<'t, W> = &'t (dyn Fn(W) -> Result<()> + Sync);

/// Where jobs come from.
enum JobSource<'t, J> {
    /// A function makes them, on any thread.
    Made(&'t mut (dyn FnMut() -> Result<Option<J>> + Send)),
    /// The calling thread gives them.
    Caller,
    /// There are no more, because they are done or because one has failed.
    Ended,
}

/// What the workers share: the jobs, and the results that wait for earlier ones.
struct OrderedQueue<'t, J, T, W> {
    state: Mutex<QueueState<'t, J, T, W>>,
    moved: Condvar,
    work: Work<'t, J, T>,
    write: Write<'t, W>,
    workers: usize,
    control: &'t Control<'t>,
}

struct QueueState<'t, J, T, W> {
    jobs: JobSource<'t, J>,
    /// Jobs that were made and not begun, with their numbers.
    unstarted: VecDeque<(usize, J)>,
    /// The receiver of results; `None` while a worker calls it.
    place: Option<PlaceResult<'t, T, W>>,
    /// The number of the next job to be made.
    next: usize,
    /// The number of the next result to be taken.
    due: usize,
    /// Results that wait for earlier ones, with the numbers of their jobs. There are few.
    ready: Vec<(usize, T)>,
    /// Placed results that are to be written.
    unwritten: VecDeque<(usize, W)>,
    /// The failed job with the lowest number, and its error. No job is begun after a failure.
    failed: Option<(usize, Error)>,
}

impl<'t, J, T, W> OrderedQueue<'t, J, T, W> {
    fn new(
        jobs: JobSource<'t, J>,
        work: Work<'t, J, T>,
        place: PlaceResult<'t, T, W>,
        write: Write<'t, W>,
        (workers, control): (usize, &'t Control<'t>),
    ) -> Self {
        let state = Mutex::new(QueueState {
            jobs,
            unstarted: VecDeque::new(),
            place: Some(place),
            next: 0,
            due: 0,
            ready: Vec::new(),
            unwritten: VecDeque::new(),
            failed: None,
        });
        OrderedQueue { state, moved: Condvar::new(), work, write, workers: workers.max(1), control }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<'t, J, T, W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until there are no more jobs, or one has failed.
    fn work(&self, worker: usize) -> Result<()> {
        let _guard = PanicGuard(self);
        while let Some(turn) = self.begin()? {
            self.take_turn(worker, turn)?;
        }
        Ok(())
    }

    fn take_turn(&self, worker: usize, turn: Turn<J, W>) -> Result<()> {
        match turn {
            Turn::Job(number, job) => self.submit(number, (self.work)(worker, job)),
            Turn::Write(number, placed) => (self.write)(placed).or_else(|error| self.fail(number, error)),
        }
    }

    /// Notes that a job has failed.
    fn fail(&self, number: usize, error: Error) -> Result<()> {
        self.lock().fail(number, error)?;
        self.moved.notify_all();
        Ok(())
    }

    /// What a worker does next; `None` at the end, or after a failure.
    fn begin(&self) -> Result<Option<Turn<J, W>>> {
        self.control.check()?;
        let mut state = self.lock();
        loop {
            if let Some(turn) = self.turn(&mut state)? {
                return Ok(Some(turn));
            }
            if matches!(state.jobs, JobSource::Ended) {
                return Ok(None);
            }
            state = self.wait(state);
            self.control.check()?;
        }
    }

    /// What a worker can do now.
    fn turn(&self, state: &mut QueueState<'t, J, T, W>) -> Result<Option<Turn<J, W>>> {
        if let Some((number, placed)) = state.unwritten.pop_front() {
            return Ok(Some(Turn::Write(number, placed)));
        }
        if state.unstarted.is_empty() && self.has_room(state) {
            state.make()?;
        }
        Ok(state.unstarted.pop_front().map(|(number, job)| Turn::Job(number, job)))
    }

    /// Whether another job may be made. While an early job takes long, the results of later ones wait in
    /// memory.
    fn has_room(&self, state: &QueueState<'t, J, T, W>) -> bool {
        state.next <= state.due + JOBS_AHEAD * self.workers
    }

    /// Waits until something has changed, or for so long that the control should be checked.
    fn wait<'l>(
        &self,
        state: MutexGuard<'l, QueueState<'t, J, T, W>>,
    ) -> MutexGuard<'l, QueueState<'t, J, T, W>> {
        self.moved.wait_timeout(state, CHECK_INTERVAL).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Makes jobs until there are no more, or one has failed, and works as the worker 0 while enough jobs
    /// wait.
    fn give(&self, jobs: &mut dyn FnMut() -> Result<Option<J>>) -> Result<()> {
        let _guard = PanicGuard(self);
        let mut give = || loop {
            self.control.check()?;
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
            } else if let Some(turn) = self.turn(&mut state)? {
                drop(state);
                self.take_turn(0, turn)?;
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
    fn submit(&self, number: usize, result: Result<T>) -> Result<()> {
        let mut state = self.lock();
        match result {
            Ok(result) if state.is_before_failure(number) => state.ready.push((number, result)),
            Ok(_) => {}
            Err(error) => {
                state.fail(number, error)?;
                self.moved.notify_all();
            }
        }
        while let due = state.due
            && let Some(at) = state.ready.iter().position(|(number, _)| *number == due)
            && let Some(place) = state.place.take()
        {
            let (_, result) = state.ready.swap_remove(at);
            drop(state);
            let placed = place(result);
            let stopped = self.control.check();
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

    fn finish(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl<J, T, W> QueueState<'_, J, T, W> {
    /// Makes the next job, if there is one and it is made here.
    fn make(&mut self) -> Result<()> {
        let JobSource::Made(jobs) = &mut self.jobs else { return Ok(()) };
        let job = jobs();
        self.add(job)
    }

    /// Adds the next job, if there is one.
    fn add(&mut self, job: Result<Option<J>>) -> Result<()> {
        let number = self.next;
        match job {
            Ok(Some(job)) if !matches!(self.jobs, JobSource::Ended) => {
                self.unstarted.push_back((number, job));
                self.next += 1;
            }
            // Another job may have failed while this one was made.
            Ok(_) => self.jobs = JobSource::Ended,
            Err(error) => self.fail(number, error)?,
        }
        Ok(())
    }

    /// Keeps the error of the failed job with the lowest number, and drops later jobs and results. An
    /// interruption is returned, which ends the worker at once.
    fn fail(&mut self, number: usize, error: Error) -> Result<()> {
        if matches!(error, Error::Interrupted) {
            return Err(error);
        }
        self.jobs = JobSource::Ended;
        self.unstarted.retain(|(unstarted, _)| *unstarted < number);
        self.ready.retain(|(ready, _)| *ready < number);
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
struct PanicGuard<'l, 't, J, T, W>(&'l OrderedQueue<'t, J, T, W>);

impl<J, T, W> Drop for PanicGuard<'_, '_, J, T, W> {
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
