//! A file → its ids, in parallel, in order, in memory that does not follow its size.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Encoder;
use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::source::{Cutter, SourceFile};
use crate::workers;

/// How a file is encoded. None of it but `special` and `replace` changes a result.
#[derive(Clone, Copy, Debug)]
pub struct FileOptions {
    /// Whether special tokens become their ids.
    pub special: bool,
    /// Whether invalid UTF-8 is read as U+FFFD; else it is an error.
    pub replace: bool,
    /// Threads at the most.
    pub workers: usize,
    /// Bytes that a thread takes at a time, about.
    pub window_bytes: u64,
}

impl Default for FileOptions {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        FileOptions { special: true, replace: false, workers, window_bytes: 1 << 20 }
    }
}

/// Where the ids of a file go.
pub trait Ids: Send {
    /// What a stretch of ids is made into by the thread that found it.
    type Part: Send;
    /// Makes a stretch into what [`Ids::take`] takes; on many threads at once.
    ///
    /// # Errors
    /// Where an id cannot be kept.
    fn prepare(ids: Vec<u32>) -> Result<Self::Part>;
    /// Takes the stretches in the order of the file, one at a time.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn take(&mut self, part: Self::Part) -> Result<()>;
}

impl Encoder {
    /// Encodes a file, as [`Encoder::encode`] does its contents, on up to `options.workers` threads. It is read in
    /// windows, cut where nothing can change. A pattern that nothing is known of, or none, has no such place:
    /// its file is read and encoded as one piece.
    ///
    /// What is appended meanwhile is not read; the result of other changes is that of some of the bytes that were
    /// there.
    ///
    /// Memory: some windows with their ids for each worker.
    ///
    /// # Errors
    /// [`Error::Io`], also for a file that becomes shorter; [`Error::NotUtf8`] naming the first invalid byte;
    /// what `ids` fails with; [`Error::Interrupted`].
    pub fn encode_file<I: Ids>(
        &self,
        path: &Path,
        options: &FileOptions,
        ids: &mut I,
        control: &Control,
    ) -> Result<()> {
        let file = SourceFile::hold(path, control)?;
        control.begin(Stage::Encode, file.size);
        let cutter = Cutter::new(self.specials(options.special), &self.pretokenizer, options.replace);
        let windows = Windows { file: &file, cutter, bytes: options.window_bytes.max(1) };
        let useful = if self.pretokenizer.is_parallel() { file.size.div_ceil(windows.bytes) } else { 1 };
        let workers = options.workers.min(useful as usize).max(1);
        let line = Line::new(ids, 2 * workers);
        workers::run(workers, control, |_| {
            let _alarm = Alarm(&line);
            let mut text = Vec::new();
            while let Some((number, start, end)) = line.next_window(&windows, control)? {
                let part = self.encode_window(&file, start..end, options, &mut text, control);
                line.hand_in(number, part.and_then(I::prepare), control)?;
                control.advance(end - start);
            }
            Ok(())
        })?;
        line.finish()
    }

    fn encode_window(
        &self,
        file: &SourceFile,
        range: std::ops::Range<u64>,
        options: &FileOptions,
        text: &mut Vec<u8>,
        control: &Control,
    ) -> Result<Vec<u32>> {
        file.read_exactly(range.start, (range.end - range.start) as usize, text)?;
        let mut ids = Vec::with_capacity(text.len() / 3);
        if simdutf8::basic::from_utf8(text).is_ok() {
            self.encode(text, options.special, &mut ids, control)?;
        } else if options.replace {
            let repaired = String::from_utf8_lossy(text);
            self.encode(repaired.as_bytes(), options.special, &mut ids, control)?;
        } else {
            let valid = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
            return Err(file.not_utf8(range.start + valid as u64));
        }
        Ok(ids)
    }
}

/// The windows of a file.
struct Windows<'a> {
    file: &'a SourceFile,
    cutter: Cutter<'a>,
    bytes: u64,
}

/// What the workers share: the next window to encode, and the parts that wait for those before them.
struct Line<'a, I: Ids> {
    state: Mutex<State<'a, I>>,
    moved: Condvar,
    /// Windows that a worker may be ahead of the one that is waited for.
    ahead: usize,
}

struct State<'a, I: Ids> {
    /// `None` while a worker hands parts to it.
    ids: Option<&'a mut I>,
    /// Where the next window starts, and its number.
    start: u64,
    next: usize,
    /// The number of the part that is to be handed on next.
    due: usize,
    ready: BTreeMap<usize, I::Part>,
    /// The first window in the file that failed. None after it is begun.
    failed: Option<(usize, Error)>,
}

/// How often a waiting worker looks whether the call was stopped.
const LOOK: Duration = Duration::from_millis(40);

impl<'a, I: Ids> Line<'a, I> {
    fn new(ids: &'a mut I, ahead: usize) -> Self {
        let state = State { ids: Some(ids), start: 0, next: 0, due: 0, ready: BTreeMap::new(), failed: None };
        Line { state: Mutex::new(state), moved: Condvar::new(), ahead }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a, I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number, start and end of a window that nobody has taken; `None` at the end, or after a failure.
    fn next_window(&self, windows: &Windows<'_>, control: &Control) -> Result<Option<(usize, u64, u64)>> {
        control.check()?;
        let mut state = self.lock();
        // Not far ahead of a window that takes long: its successors wait in memory.
        while state.next > state.due + self.ahead && state.failed.is_none() {
            let waited = self.moved.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            control.check()?;
        }
        let start = state.start;
        if start >= windows.file.size || state.failed.is_some() {
            return Ok(None);
        }
        let number = state.next;
        let end = match windows.cutter.next_cut(windows.file, start.saturating_add(windows.bytes), control) {
            Ok(end) => end,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                state.fail(number, error);
                return Ok(None);
            }
        };
        (state.start, state.next) = (end, number + 1);
        Ok(Some((number, start, end)))
    }

    /// Hands in the part of a window. Whoever brings the part that is due hands it on, with those after it.
    fn hand_in(&self, number: usize, part: Result<I::Part>, control: &Control) -> Result<()> {
        let mut state = self.lock();
        match part {
            Ok(part) => drop(state.ready.insert(number, part)),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => state.fail(number, error),
        }
        while let due = state.due
            && state.ready.contains_key(&due)
            && let Some(ids) = state.ids.take()
        {
            let part = state.ready.remove(&due);
            drop(state);
            let taken = part.map_or(Ok(()), |part| ids.take(part));
            let stopped = control.check();
            state = self.lock();
            state.ids = Some(ids);
            state.due += 1;
            if let Err(error) = taken {
                state.fail(due, error);
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

impl<I: Ids> State<'_, I> {
    fn fail(&mut self, number: usize, error: Error) {
        if self.failed.as_ref().is_none_or(|(first, _)| number < *first) {
            self.failed = Some((number, error));
        }
    }
}

/// Lets the others end if a worker panics: what it had in hand will never come.
struct Alarm<'l, 'a, I: Ids>(&'l Line<'a, I>);

impl<I: Ids> Drop for Alarm<'_, '_, I> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().fail(usize::MAX, Error::Interrupted);
            self.0.moved.notify_all();
        }
    }
}
