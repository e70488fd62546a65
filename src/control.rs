//! How a long call reports its progress and is stopped from outside.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::room;

/// What a long call does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Counting pretokens; the unit is bytes of text.
    Count,
    /// Learning merges; the unit is merges.
    Merge,
    /// Encoding; the unit is bytes of text.
    Encode,
    /// Making a checksum; the unit is bytes of a file.
    Check,
}

/// How far a long call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: the name of a [`Stage`].
    pub stage: &'static str,
    /// Units done in this stage.
    pub done: u64,
    /// Units of the whole stage; 0 if unknown.
    pub total: u64,
}

/// The minimum time between two calls of the observer.
const OBSERVER_INTERVAL: Duration = Duration::from_millis(40);

/// Bytes of text that are encoded, merged, or counted in windows, between two checks of the control. Some
/// milliseconds of work, beside which a check, which takes 30 ns, costs nothing.
pub(crate) const BYTES_PER_CHECK: usize = 1 << 16;

/// Pretokens that are moved, saved or loaded between two checks of the control. Some milliseconds of work,
/// too.
pub(crate) const PRETOKENS_PER_CHECK: usize = 1 << 12;

type Observer<'a> = &'a (dyn Fn(Progress) -> bool + Sync);

/// Carries progress out of a long call, and the request to stop into it.
///
/// Every loop of the core that can run for long calls [`Control::check`] at least every few
/// milliseconds. Only the thread that made the `Control` ever runs the observer (a Python signal
/// is seen by the calling thread alone); workers learn of a stop through a flag.
pub struct Control<'a> {
    /// `None`: no observer. Then the clock is not read either, which would take longer than a small call.
    watch: Option<Watch<'a>>,
    /// Milliseconds from the start to the next call of the observer.
    due: AtomicU64,
    stopped: AtomicBool,
    stage: AtomicU8,
    done: AtomicU64,
    total: AtomicU64,
}

struct Watch<'a> {
    observer: Observer<'a>,
    owner: ThreadId,
    start: Instant,
}

impl Control<'static> {
    /// A control without an observer; only [`Control::stop`] ends the call.
    pub fn none() -> Self {
        Self::with(None)
    }
}

impl<'a> Control<'a> {
    /// A control whose `observer` is called on this thread, at most every 40 ms. The call ends with
    /// [`Error::Interrupted`] once the observer returns `false`.
    pub fn new(observer: Observer<'a>) -> Self {
        Self::with(Some(Watch { observer, owner: thread::current().id(), start: Instant::now() }))
    }

    fn with(watch: Option<Watch<'a>>) -> Self {
        Control {
            watch,
            due: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            stage: AtomicU8::new(Stage::Count as u8),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        }
    }

    /// Enters a stage of `total` units (0 if unknown).
    pub fn begin(&self, stage: Stage, total: u64) {
        self.stage.store(stage as u8, Relaxed);
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// Adds to the units done. May be called on any thread.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Relaxed);
    }

    /// Makes every later [`Control::check`] fail, on every thread.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Whether [`Control::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Fails once the call should end. On the thread that made the control it also calls the observer when
    /// that is due. Costs about 30 ns there: call it for each merge or for each few thousand bytes, not for
    /// each byte.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::OutOfMemory`] once small allocations are served from the reserve.
    pub fn check(&self) -> Result<()> {
        if let Some(watch) = &self.watch
            && thread::current().id() == watch.owner
        {
            self.observe(watch);
        }
        if room::is_short() {
            return Err(room::out_of_memory(0));
        }
        if self.is_stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn observe(&self, watch: &Watch<'_>) {
        let now = watch.start.elapsed().as_millis() as u64;
        if now < self.due.load(Relaxed) {
            return;
        }
        self.due.store(now + OBSERVER_INTERVAL.as_millis() as u64, Relaxed);
        if !(watch.observer)(self.progress()) {
            self.stop();
        }
    }

    /// Reports the final progress to the observer.
    pub fn finish(&self) {
        if let Some(watch) = &self.watch {
            (watch.observer)(self.progress());
        }
    }

    /// How far the call has come.
    pub fn progress(&self) -> Progress {
        let stage = ["count", "merge", "encode", "check"][usize::from(self.stage.load(Relaxed))];
        Progress { stage, done: self.done.load(Relaxed), total: self.total.load(Relaxed) }
    }
}
