//! Worker threads for one call: started in it, joined in it, no pool that a fork could break.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use crate::control::Control;
use crate::error::{Error, Result};

/// How often the calling thread looks at the control while workers run.
const LOOK: Duration = Duration::from_millis(40);

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

/// Bytes that [`read_aside`] reads at a time.
const PIECE: u64 = 1 << 20;

/// The contents of a pipe or a device. They are read on a thread of its own, because opening and reading
/// may wait for ever; the calling thread watches the control. After an interruption the thread ends
/// with its wait.
///
/// # Errors
/// [`Error::Io`], [`Error::Interrupted`].
pub fn read_aside(path: &Path, control: &Control) -> Result<Vec<u8>> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
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
    let mut whole = Vec::new();
    loop {
        match pieces.recv_timeout(LOOK) {
            Ok(piece) => {
                let piece = piece.map_err(failed)?;
                if piece.is_empty() {
                    return Ok(whole);
                }
                whole.extend_from_slice(&piece);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
            }
        }
        control.check()?;
    }
}
