//! Worker threads for one call: started in it, joined in it, no pool that a fork could break.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::control::Control;
use crate::error::{Error, Result};

/// How often the calling thread looks at the control while workers run.
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

/// Runs `work(0)` … `work(count - 1)` on up to `workers` threads and hands the results to `take`, one at a time, in
/// that order and as soon as they are due. No worker starts anew before its last result was taken, so at most
/// `workers` results exist at once.
///
/// # Errors
/// That of the lowest worker that failed for a reason of its own; else [`Error::Interrupted`].
pub fn in_order<T: Send>(
    workers: usize,
    count: usize,
    control: &Control,
    work: impl Fn(usize) -> Result<T> + Sync,
    take: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let line = Line { due: Mutex::new((0, take)), moved: Condvar::new(), broken: AtomicBool::new(false) };
    run(workers.min(count), control, |_| {
        let end = BreaksOffUnlessDone(&line);
        loop {
            let index = next.fetch_add(1, Relaxed);
            if index >= count {
                std::mem::forget(end);
                return Ok(());
            }
            let result = work(index)?;
            line.hand_over(index, result, control)?;
        }
    })?;
    Ok(())
}

/// Where workers stand in line with their results.
struct Line<F> {
    /// Whose turn it is, and what takes the results.
    due: Mutex<(usize, F)>,
    moved: Condvar,
    /// Somebody left the line.
    broken: AtomicBool,
}

impl<F> Line<F> {
    fn hand_over<T>(&self, index: usize, result: T, control: &Control) -> Result<()>
    where
        F: FnMut(T) -> Result<()>,
    {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        while due.0 != index {
            if self.broken.load(Relaxed) {
                return Err(Error::Interrupted);
            }
            control.check()?;
            due = self.moved.wait_timeout(due, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        due.1(result)?;
        due.0 += 1;
        self.moved.notify_all();
        Ok(())
    }
}

/// Tells the others when a worker ends with an error or a panic: its turn would never be over.
struct BreaksOffUnlessDone<'a, F>(&'a Line<F>);

impl<F> Drop for BreaksOffUnlessDone<'_, F> {
    fn drop(&mut self) {
        self.0.broken.store(true, Relaxed);
        self.0.moved.notify_all();
    }
}

/// Bytes that [`Aside`] reads at a time.
const PIECE: u64 = 1 << 20;

/// The contents of a pipe or a device. They are read on a thread of its own, because opening and reading
/// may wait for ever; the calling thread watches the control. After an interruption the thread ends
/// with its wait.
pub(crate) struct Aside {
    path: PathBuf,
    pieces: Receiver<std::io::Result<Vec<u8>>>,
}

impl Aside {
    pub(crate) fn open(path: &Path) -> Self {
        let (sender, pieces) = sync_channel(4);
        let owned = path.to_owned();
        thread::spawn(move || {
            let mut file = match File::open(owned) {
                Ok(file) => file,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut piece = Vec::new();
                let read = file.by_ref().take(PIECE).read_to_end(&mut piece);
                // An empty piece is the end. Nobody takes it any more after an interruption.
                if sender.send(read.map(|_| piece)).is_err() {
                    return;
                }
            }
        });
        Aside { path: path.to_owned(), pieces }
    }

    /// The next piece; none at the end.
    pub(crate) fn next(&mut self, control: &Control) -> Result<Option<Vec<u8>>> {
        let failed = |source| Error::Io { path: self.path.clone(), source };
        loop {
            match self.pieces.recv_timeout(LOOK) {
                Ok(piece) => {
                    let piece = piece.map_err(failed)?;
                    return Ok((!piece.is_empty()).then_some(piece));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
                }
            }
            control.check()?;
        }
    }
}

/// All that is in a pipe or a device.
///
/// # Errors
/// [`Error::Io`], [`Error::Interrupted`].
pub fn read_aside(path: &Path, control: &Control) -> Result<Vec<u8>> {
    let mut aside = Aside::open(path);
    let mut whole = Vec::new();
    while let Some(piece) = aside.next(control)? {
        whole.extend_from_slice(&piece);
        control.check()?;
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_in_order_and_few_wait() {
        for workers in 1..=8 {
            let (mut taken, alive, most) = (Vec::new(), AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |index: usize| {
                most.fetch_max(alive.fetch_add(1, Relaxed) + 1, Relaxed);
                thread::sleep(Duration::from_micros((index * 37 % 5) as u64 * 50));
                Ok(index)
            };
            let take = |index| {
                alive.fetch_sub(1, Relaxed);
                taken.push(index);
                Ok(())
            };
            in_order(workers, 100, &Control::none(), work, take).unwrap();
            assert!(taken.into_iter().eq(0..100));
            assert!(most.into_inner() <= workers);
        }
    }

    #[test]
    fn an_error_of_either_side_ends_all() {
        let error = || Error::MissingByte { byte: 7 };
        for workers in 1..=4 {
            for at in [0, 3, 50, 99] {
                let work = |index| if index == at { Err(error()) } else { Ok(index) };
                let found = in_order(workers, 100, &Control::none(), work, |_| Ok(()));
                assert!(matches!(found, Err(Error::MissingByte { byte: 7 })), "{workers} {at}");
                let take = |index| if index == at { Err(error()) } else { Ok(()) };
                let found = in_order(workers, 100, &Control::none(), Ok, take);
                assert!(matches!(found, Err(Error::MissingByte { byte: 7 })), "{workers} {at}");
            }
        }
    }
}
