//! How a long call is watched and stopped from outside.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::room;

/// What a long call is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Counting pretokens; the unit is bytes of text.
    Count,
    /// Learning merges; the unit is merges.
    Merge,
    /// Encoding; the unit is bytes of text.
    Encode,
}

/// How far a long call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Units done in this stage.
    pub done: u64,
    /// Units that this stage has in all; 0 where that is not known.
    pub total: u64,
}

/// How often the observer is asked at the most.
const OBSERVER_INTERVAL: Duration = Duration::from_millis(40);

type Observer<'a> = &'a (dyn Fn(Progress) -> bool + Sync);

/// Carries progress out of a long call, and the wish to stop into it.
///
/// Every loop of the core that can run for long calls [`Control::check`] at least every few
/// milliseconds. Only the thread that made the `Control` ever runs the observer (a Python signal
/// is seen by the calling thread alone); workers learn of a stop through a flag.
pub struct Control<'a> {
    /// `None`: the clock is not asked either, which costs more than a small call.
    watch: Option<Watch<'a>>,
    /// Milliseconds after the start at which the observer is next due.
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
    /// A control that nobody watches: nothing stops the call.
    pub fn none() -> Self {
        Self::with(None)
    }
}

impl<'a> Control<'a> {
    /// A control whose `observer` is called on this thread, at most every 40 ms; the call ends with
    /// [`Error::Interrupted`] once it returns `false`.
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

    /// Adds to the units done; from any thread.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Relaxed);
    }

    /// Makes every later [`Control::check`] fail, on every thread.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Whether a stop was asked for.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Fails once the call should end. On the owner's thread it also runs the observer when that is
    /// due. Costs about 30 ns there: call it per merge or per some thousand bytes, not per byte.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::OutOfMemory`] where small allocations live on a reserve by now.
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

    /// Tells the observer once more how far the call came, when it is done.
    pub fn finish(&self) {
        if let Some(watch) = &self.watch {
            (watch.observer)(self.progress());
        }
    }

    /// How far the call has come.
    pub fn progress(&self) -> Progress {
        let stage = match self.stage.load(Relaxed) {
            0 => Stage::Count,
            1 => Stage::Merge,
            _ => Stage::Encode,
        };
        Progress { stage, done: self.done.load(Relaxed), total: self.total.load(Relaxed) }
    }
}
