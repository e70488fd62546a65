//! Threads that are started and joined within one call.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::control::Control;
use crate::error::{Error, Result};

/// How often a waiting thread checks the control.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(40);

/// The number of threads that this process may run at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work(0)` … `work(workers - 1)` on threads of their own. If the system starts fewer threads, fewer
/// workers run, so workers must take their work from a shared source.
///
/// With one worker, or if no thread starts, `work(0)` runs on the calling thread. Otherwise the calling
/// thread only checks the control, since Python signals are seen by this thread alone; workers stop when they
/// next check it.
///
/// # Errors
/// The error of the lowest worker that failed for another reason than an interruption; else
/// [`Error::Interrupted`].
pub fn run(workers: usize, control: &Control, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    run_from(0, workers, control, &mut || Ok(()), &work)
}

/// [`run`] with the calling thread as the first worker, for work that checks the control often. One thread
/// less is started, and the allocator can give the memory that this worker frees to the caller. The calling
/// thread runs `first` before it becomes the first worker.
///
/// # Errors
/// Those of [`run`]; the error of `first`, if no worker failed for another reason than an interruption.
pub fn run_here_too(
    workers: usize,
    control: &Control,
    mut first: impl FnMut() -> Result<()>,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    run_from(1, workers, control, &mut first, &work)
}

/// Runs `before`, and then the first `here` workers, on the calling thread; the others on threads of their
/// own.
fn run_from(
    here: usize,
    workers: usize,
    control: &Control,
    before: &mut dyn FnMut() -> Result<()>,
    work: &(dyn Fn(usize) -> Result<()> + Sync),
) -> Result<()> {
    if workers <= 1 {
        before()?;
        return work(0);
    }
    let mut prepared = Ok(());
    let results: Vec<Result<()>> = thread::scope(|scope| {
        let (done, finished) = channel::<()>();
        let handles: Vec<_> = (here..workers)
            .map_while(|worker| {
                let done = done.clone();
                start(scope, move || {
                    let result = work(worker);
                    // Once all workers have dropped their sender, the wait below ends.
                    drop(done);
                    result
                })
            })
            .collect();
        drop(done);
        prepared = before();
        let here = if handles.is_empty() { 1 } else { here };
        let own: Vec<_> = (0..here).map(work).collect();
        while finished.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let _ = control.check();
        }
        let others =
            handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        own.into_iter().chain(others).collect()
    });
    let (interrupted, failed): (Vec<_>, Vec<_>) =
        results.into_iter().filter_map(Result::err).partition(|error| matches!(error, Error::Interrupted));
    if let Some(error) = failed.into_iter().next() {
        return Err(error);
    }
    prepared?;
    interrupted.into_iter().next().map_or(Ok(()), Err)
}

/// Waits for what a thread sends; `None` if it has ended.
pub(crate) fn received<T>(receiver: &Receiver<T>, control: &Control) -> Result<Option<T>> {
    loop {
        match receiver.recv_timeout(CHECK_INTERVAL) {
            Ok(item) => return Ok(Some(item)),
            Err(RecvTimeoutError::Timeout) => control.check()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Starts a thread of a scope; `None` if the system starts no more threads.
pub(crate) fn start<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<thread::ScopedJoinHandle<'scope, T>> {
    thread::Builder::new().spawn_scoped(scope, work).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn the_calling_thread_is_the_first_worker() {
        let (caller, first) = (thread::current().id(), || Ok(()));
        for workers in 1..=4 {
            let run = Mutex::new(Vec::new());
            let work = |number| {
                run.lock().unwrap().push((number, thread::current().id() == caller));
                Ok(())
            };
            run_here_too(workers, &Control::none(), first, work).unwrap();
            let mut run = run.into_inner().unwrap();
            run.sort_unstable();
            assert!(run.into_iter().eq((0..workers).map(|number| (number, number == 0))));
            let work = |number| if number == 0 { Err(Error::MissingByte { byte: 7 }) } else { Ok(()) };
            let failed = run_here_too(workers, &Control::none(), first, work);
            assert!(matches!(failed, Err(Error::MissingByte { byte: 7 })));
        }
    }
}
