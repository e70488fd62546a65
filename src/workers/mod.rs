//! Worker threads for one call: started in it, joined in it, no pool that a fork could break.

mod aside;
mod line;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

pub(crate) use aside::Aside;
pub use aside::read_aside;
pub use line::in_order;

use crate::control::Control;
use crate::error::{Error, Result};

/// How often a thread that waits looks at the control.
const LOOK: Duration = Duration::from_millis(40);

/// How many threads this process may run at once.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work(0)` … `work(workers - 1)` on threads of their own and returns their results in order.
/// With one worker it runs on the calling thread. While workers run, the calling thread only watches
/// the control: a Python signal is seen there alone, and the workers stop when they next check it.
///
/// # Errors
/// The error of the lowest worker that failed for a reason of its own; else [`Error::Interrupted`].
pub fn run<T: Send>(
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
        let handles: Vec<_> = (0..workers)
            .map(|worker| {
                let done = done.clone();
                scope.spawn(move || {
                    let result = work(worker);
                    // Dropping the sender wakes the watching thread once all are gone.
                    drop(done);
                    result
                })
            })
            .collect();
        drop(done);
        while finished.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let _ = control.check();
        }
        handles
            .into_iter()
            .map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    if let Some(at) = results.iter().position(|r| matches!(r, Err(e) if !matches!(e, Error::Interrupted))) {
        return results.into_iter().skip(at).take(1).collect();
    }
    results.into_iter().collect()
}
