//! Results of worker threads, taken in the order of their jobs.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{LOOK, run};
use crate::control::Control;
use crate::error::{Error, Result};

/// Jobs that each worker may be ahead of the one that is waited for.
const AHEAD: usize = 2;

/// Runs `work` on each of the `jobs`, which are made one at a time as workers become free (`None` is the end), on up to
/// `workers` threads, and hands the results to `take`, one at a time, in the order of the jobs and as soon as they are
/// due. Results wait for those before them while their workers go on: at most three for each worker exist at once.
///
/// # Errors
/// That of the first job that failed, of whichever of the three: all before it were taken, none behind it is begun
/// once it has failed. [`Error::Interrupted`].
pub fn in_order<J, T: Send>(
    workers: usize,
    control: &Control,
    jobs: impl FnMut() -> Result<Option<J>> + Send,
    work: impl Fn(J) -> Result<T> + Sync,
    take: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let line = Line::new(jobs, take, AHEAD * workers);
    run(workers, control, |_| {
        let _alarm = Alarm(&line);
        while let Some((number, job)) = line.begin(control)? {
            line.hand_in(number, work(job), control)?;
        }
        Ok(())
    })?;
    line.finish()
}

/// What the workers share: the jobs, and the results that wait for those before them.
struct Line<Jobs, Take, T> {
    state: Mutex<State<Jobs, Take, T>>,
    moved: Condvar,
    /// Jobs that may be begun ahead of the one that is waited for.
    ahead: usize,
}

struct State<Jobs, Take, T> {
    jobs: Jobs,
    /// `None` while a worker hands results to it.
    take: Option<Take>,
    /// The number of the next job.
    next: usize,
    /// The number of the result that is to be taken next.
    due: usize,
    ready: BTreeMap<usize, T>,
    /// The first job that failed. None is begun after that.
    failed: Option<(usize, Error)>,
}

impl<Jobs, Take, T> Line<Jobs, Take, T> {
    fn new(jobs: Jobs, take: Take, ahead: usize) -> Self {
        let (take, ready) = (Some(take), BTreeMap::new());
        Line {
            state: Mutex::new(State { jobs, take, next: 0, due: 0, ready, failed: None }),
            moved: Condvar::new(),
            ahead,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<Jobs, Take, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job that nobody has begun, and its number; `None` at the end, or after a failure.
    fn begin<J>(&self, control: &Control) -> Result<Option<(usize, J)>>
    where
        Jobs: FnMut() -> Result<Option<J>>,
    {
        control.check()?;
        let mut state = self.lock();
        // Not far ahead of a job that takes long: the results of its successors wait in memory.
        while state.next > state.due + self.ahead && state.failed.is_none() {
            state = self.moved.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            control.check()?;
        }
        if state.failed.is_some() {
            return Ok(None);
        }
        let number = state.next;
        match (state.jobs)() {
            Ok(job) => {
                state.next += 1;
                Ok(job.map(|job| (number, job)))
            }
            Err(error) => state.fail(number, error).map(|()| None),
        }
    }

    /// Hands in the result of a job. Whoever brings the one that is due hands it on, with those after it.
    fn hand_in(&self, number: usize, result: Result<T>, control: &Control) -> Result<()>
    where
        Take: FnMut(T) -> Result<()>,
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
            && let Some(mut take) = state.take.take()
        {
            let result = state.ready.remove(&due);
            drop(state);
            let taken = result.map_or(Ok(()), &mut take);
            let stopped = control.check();
            state = self.lock();
            state.take = Some(take);
            state.due += 1;
            if let Err(error) = taken {
                state.fail(due, error)?;
                state.ready.clear();
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

impl<Jobs, Take, T> State<Jobs, Take, T> {
    /// Keeps the error of the first job that failed; an interruption ends the worker at once.
    fn fail(&mut self, number: usize, error: Error) -> Result<()> {
        if matches!(error, Error::Interrupted) {
            return Err(error);
        }
        if self.failed.as_ref().is_none_or(|(first, _)| number < *first) {
            self.failed = Some((number, error));
        }
        Ok(())
    }
}

/// Lets the others end if a worker panics: what it had in hand will never come.
struct Alarm<'l, Jobs, Take, T>(&'l Line<Jobs, Take, T>);

impl<Jobs, Take, T> Drop for Alarm<'_, Jobs, Take, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed.get_or_insert((usize::MAX, Error::Interrupted));
            self.0.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    fn error(byte: u8) -> Error {
        Error::MissingByte { byte }
    }

    /// The jobs 0 to 99.
    fn jobs() -> impl FnMut() -> Result<Option<u8>> + Send {
        let mut numbers = 0..100;
        move || Ok(numbers.next())
    }

    #[test]
    fn results_are_taken_in_order_and_few_wait() {
        for workers in 1..=8 {
            let (mut taken, alive, most) = (Vec::new(), AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |number: u8| {
                most.fetch_max(alive.fetch_add(1, Relaxed) + 1, Relaxed);
                sleep(Duration::from_micros(u64::from(number) * 37 % 5 * 50));
                Ok(number)
            };
            let take = |number| {
                alive.fetch_sub(1, Relaxed);
                taken.push(number);
                Ok(())
            };
            in_order(workers, &Control::none(), jobs(), work, take).unwrap();
            assert!(taken.into_iter().eq(0..100));
            assert!(most.into_inner() <= 3 * workers);
        }
    }

    #[test]
    fn a_job_that_takes_long_is_waited_for() {
        let (begun, due) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |number: u8| {
            let ahead = begun.fetch_add(1, Relaxed) - due.load(Relaxed);
            assert!(ahead <= AHEAD * 2, "{ahead}");
            sleep(Duration::from_millis(if number == 10 { 50 } else { 0 }));
            Ok(())
        };
        let take = |()| {
            due.fetch_add(1, Relaxed);
            Ok(())
        };
        in_order(2, &Control::none(), jobs(), work, take).unwrap();
        assert_eq!(due.into_inner(), 100);
    }

    #[test]
    fn the_first_error_of_any_side_ends_all() {
        let fails = |found: Result<()>, byte: u8, taken: u8, case: &str| {
            assert!(matches!(found, Err(Error::MissingByte { byte: b }) if b == byte), "{case} {found:?}");
            assert_eq!(taken, byte, "{case}: all before it are taken");
        };
        let control = Control::none();
        for workers in 1..=4 {
            for at in [0, 3, 50, 99] {
                let case = format!("{workers} {at}");
                let mut taken = 0;
                let mut count = |_| {
                    taken += 1;
                    Ok(())
                };
                // Later ones fail too, and sooner.
                let work = |number: u8| {
                    sleep(Duration::from_micros(if number == at { 300 } else { 0 }));
                    if number >= at { Err(error(number)) } else { Ok(number) }
                };
                fails(in_order(workers, &control, jobs(), work, &mut count), at, taken, &case);

                let (mut taken, mut all) = (0, jobs());
                let count = |_| {
                    taken += 1;
                    Ok(())
                };
                let failing = || all().and_then(|job| if job == Some(at) { Err(error(at)) } else { Ok(job) });
                fails(in_order(workers, &control, failing, Ok, count), at, taken, &case);

                let mut taken = 0;
                let take = |number| {
                    if number == at {
                        return Err(error(at));
                    }
                    taken += 1;
                    Ok(())
                };
                fails(in_order(workers, &control, jobs(), Ok, take), at, taken, &case);
            }
        }
    }

    #[test]
    fn a_panic_of_either_side_ends_all() {
        for workers in 2..=4 {
            for at in [0, 50, 99] {
                let fails = |number: u8| {
                    assert_ne!(number, at, "on purpose");
                    Ok(number)
                };
                let worker = || in_order(workers, &Control::none(), jobs(), fails, |_| Ok(()));
                assert!(std::panic::catch_unwind(worker).is_err());
                let taker =
                    || in_order(workers, &Control::none(), jobs(), Ok, |number| fails(number).map(drop));
                assert!(std::panic::catch_unwind(taker).is_err());
            }
        }
    }
}
