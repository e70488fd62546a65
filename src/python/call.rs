//! How a Python call runs code of the core: with or without the GIL, checked for Ctrl-C, with panics caught.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

use super::errors::OrRaise;
use super::objects::Any;
use super::{allocator, errors};
use toksmith::control::{Control, Progress};
use toksmith::error::{Error, Result};

/// Bytes of work below which the GIL is kept, since releasing it takes longer.
pub(super) const GIL_RELEASE_BYTES: usize = 1 << 15;

/// The text of a `str`, without a copy. A `str` that is not ASCII keeps its UTF-8 from the first call on.
#[inline]
pub(super) fn text<'a>(text: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    text.to_str().map_err(|error| errors::surrogate(text.py(), error))
}

/// The text of a `str` in a value that keeps the `str` alive.
pub(super) fn backed_text(text: &Bound<'_, PyString>) -> PyResult<PyBackedStr> {
    PyBackedStr::try_from(text.clone()).map_err(|error| errors::surrogate(text.py(), error))
}

/// Runs work that cannot fail and neither takes memory nor knows Python: without the GIL if it is on many
/// bytes.
pub(super) fn detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < GIL_RELEASE_BYTES { work() } else { py.detach(work) }
}

/// Runs work on `bytes` bytes of input: with the GIL if that is little, otherwise like [`long`].
#[inline]
pub(super) fn sized<T: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce(&Control) -> Result<T> + Send,
) -> PyResult<T> {
    match bytes < GIL_RELEASE_BYTES {
        true => made(work, |work| caught(work, &Control::none())),
        false => long(py, None, work),
    }
}

/// Runs work that may take long, without the GIL. About every 40 ms Python's signal handlers run, and
/// `progress(stage, done, total)` if it is given. An exception that they raise ends the work and is raised
/// here.
pub(super) fn long<T: Send>(
    py: Python<'_>,
    progress: Option<Any>,
    work: impl FnOnce(&Control) -> Result<T> + Send,
) -> PyResult<T> {
    made(work, |work| run_detached(py, progress, work))
}

/// Work whose result its closure keeps, so that what runs it is compiled once for all types.
type Work<'a> = &'a mut (dyn FnMut(&Control) -> Result<()> + Send);

/// The result of work that `run` calls once.
#[inline]
fn made<T: Send>(
    work: impl FnOnce(&Control) -> Result<T> + Send,
    run: impl FnOnce(Work<'_>) -> PyResult<()>,
) -> PyResult<T> {
    allocator::prepare();
    let (mut work, mut result) = (Some(work), None);
    run(&mut |control| {
        result = work.take().map(|work| work(control)).transpose()?;
        Ok(())
    })?;
    result.ok_or(Error::BrokenState).or_raise()
}

fn run_detached(py: Python<'_>, progress: Option<Any>, work: Work<'_>) -> PyResult<()> {
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let progress = progress.map(|progress| progress.clone().unbind());
    let observer = |now: Progress| {
        let seen = Python::try_attach(|py| {
            py.check_signals()?;
            let Some(progress) = &progress else { return Ok(()) };
            progress.call1(py, (now.stage, now.done, now.total)).map(drop)
        });
        // An interpreter that exits has no signal handlers any more.
        let Some(Err(error)) = seen else { return true };
        *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        false
    };
    let result = py.detach(|| {
        let control = Control::new(&observer);
        let result = caught(work, &control);
        if result.is_ok() {
            control.finish();
        }
        result
    });
    allocator::leave_some_if_none();
    raised.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(result, Err)
}

/// What is behind a lock. The lock is only tried: a thread that holds it may be waiting for the GIL.
pub(super) fn alone<'a, T>(lock: &'a Mutex<T>, what: &str) -> PyResult<MutexGuard<'a, T>> {
    let busy = |_| PyRuntimeError::new_err(format!("{what} cannot be used by two threads at once"));
    lock.try_lock().map_err(busy)
}

/// Runs work of a detached call that needs the GIL.
pub(super) fn attached<T>(work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    let exits = || Err(PyRuntimeError::new_err("the interpreter exits"));
    Python::try_attach(work).unwrap_or_else(exits).map_err(errors::raised)
}

/// Time between two yields of the GIL. A thread that waits for the GIL requests it after Python's switch
/// interval, 5 ms, and only a thread that has requested it gets it. If the GIL were released more often, it
/// would be taken back before the other thread has woken up; that thread would start to wait again and never
/// request it.
const YIELD_INTERVAL: Duration = Duration::from_millis(10);

/// Yields the GIL from time to time in a loop that needs it for long, so that other Python threads and signal
/// handlers run. Such a loop runs no bytecode, so the interpreter cannot ask for the GIL.
#[derive(Default)]
pub(super) struct GilYielder {
    /// The time of the last yield, or of the first call of `tick`.
    last: Option<Instant>,
}

impl GilYielder {
    /// Releases the GIL for a moment if it is time. The first call only starts the clock.
    pub(super) fn tick(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.last.get_or_insert_with(Instant::now).elapsed() >= YIELD_INTERVAL {
            py.detach(|| ());
            py.check_signals()?;
            self.last = Some(Instant::now());
        }
        Ok(())
    }
}

/// Runs work, and turns a panic, which would be a bug of the core, into an `Exception`.
fn caught(work: Work<'_>, control: &Control) -> PyResult<()> {
    let result = catch_unwind(AssertUnwindSafe(|| work(control))).map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        PyRuntimeError::new_err(format!("a bug in toksmith, please report it: {said}"))
    });
    result?.or_raise()
}
