//! Threads that are started and joined within a call.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::control::Control;
use crate::error::{Error, Result};

/// How often a thread that waits looks at the control.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(40);

/// How many threads this process may run at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work(0)` … `work(workers - 1)` on threads of their own and returns their results in order. Where the system
/// starts fewer threads, these are fewer, so the workers take their work from what they share.
///
/// With one worker, or where no thread starts, `work(0)` runs on the calling thread. While workers run, the calling thread
/// only watches the control: a Python signal is seen there alone, and the workers stop when they next check it.
///
/// # Errors
/// The error of the lowest worker that failed for a reason of its own; else [`Error::Interrupted`].
pub fn run<T: Send>(
    workers: usize,
    control: &Control,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    run_from(0, workers, control, work)
}

/// As [`run`], but the calling thread is the first of the workers, for work that often looks at the control: a thread
/// less to start, and the memory that it used is there for what the caller does next.
///
/// # Errors
/// Same as [`run`].
pub fn run_here_too<T: Send>(
    workers: usize,
    control: &Control,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    run_from(1, workers, control, work)
}

/// Runs the workers from `first` on on threads of their own, those before it here.
fn run_from<T: Send>(
    first: usize,
    workers: usize,
    control: &Control,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    if workers <= 1 {
        return Ok(vec![work(0)?]);
    }
    let results: Vec<Result<T>> = thread::scope(|scope| {
        let (done, finished) = channel::<()>();
        let work = &work;
        let handles: Vec<_> = (first..workers)
            .map_while(|worker| {
                let done = done.clone();
                start(scope, move || {
                    let result = work(worker);
                    // Dropping the sender wakes the watching thread once all are gone.
                    drop(done);
                    result
                })
            })
            .collect();
        drop(done);
        let first = if handles.is_empty() { 1 } else { first };
        let own: Vec<_> = (0..first).map(work).collect();
        while finished.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let _ = control.check();
        }
        let others =
            handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        own.into_iter().chain(others).collect()
    });
    if let Some(at) = results.iter().position(|r| matches!(r, Err(e) if !matches!(e, Error::Interrupted))) {
        return results.into_iter().skip(at).take(1).collect();
    }
    results.into_iter().collect()
}

/// Starts a thread of a scope; `None` where the system starts no more.
pub(crate) fn start<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<thread::ScopedJoinHandle<'scope, T>> {
    thread::Builder::new().spawn_scoped(scope, work).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_the_first_worker_where_it_works_too() {
        let caller = thread::current().id();
        for workers in 1..=4 {
            let work = |number| Ok((number, thread::current().id() == caller));
            let found = run_here_too(workers, &Control::none(), work).unwrap();
            assert!(found.into_iter().eq((0..workers).map(|number| (number, number == 0))));
            let work = |number| if number == 0 { Err(Error::MissingByte { byte: 7 }) } else { Ok(()) };
            let failed = run_here_too(workers, &Control::none(), work);
            assert!(matches!(failed, Err(Error::MissingByte { byte: 7 })));
        }
    }
}
