//! A file → its ids, in parallel, in order, in memory that does not grow with the file.

use std::ops::Range;
use std::path::Path;

use crate::control::{Control, Stage};
use crate::encode::encoder::{Encoder, Request};
use crate::encode::output::{IdDestination, Sink};
use crate::error::Result;
use crate::room;
use crate::source::{SourceFile, valid_utf8};
use crate::workers::{self, BufferPool};

/// How a file is encoded. Only `special` and `replace` change a result.
#[derive(Clone, Copy, Debug)]
pub struct FileOptions {
    /// Whether special tokens become their ids.
    pub special: bool,
    /// Whether invalid UTF-8 is read as U+FFFD; else it is an error.
    pub replace: bool,
    /// The maximum number of threads.
    pub workers: usize,
    /// About how many bytes a thread takes at a time.
    pub window_bytes: u64,
}

impl Default for FileOptions {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        FileOptions { special: true, replace: false, workers, window_bytes: 1 << 20 }
    }
}

impl Encoder {
    /// Encodes a file on up to `options.workers` threads; the ids are those of [`Encoder::encode`] for its contents.
    /// The file is read in windows, cut where no id can change. With no pattern, or with a pattern of which nothing
    /// is known, there is no such place, and the file is read and encoded as one piece.
    ///
    /// Memory: some windows with their ids for each worker.
    ///
    /// # Errors
    /// [`crate::Error::Io`], also for a file whose size or modification time changes; [`crate::Error::NotUtf8`]
    /// naming the first invalid byte; errors of `ids`; [`crate::Error::Interrupted`].
    pub fn encode_file<I: IdDestination>(
        &self,
        path: &Path,
        options: &FileOptions,
        ids: &mut I,
        control: &Control,
    ) -> Result<()> {
        let file = SourceFile::hold(path, control)?;
        control.begin(Stage::Encode, file.size);
        let cutter = self.cutter(options.special, options.replace);
        let bytes = options.window_bytes.max(1);
        let useful = if self.is_parallel() { file.size.div_ceil(bytes) } else { 1 };
        let workers = options.workers.min(useful as usize).max(1);
        self.make_tables(workers)?;
        let mut start = 0;
        let windows = || {
            if start >= file.size {
                return Ok(None);
            }
            let end = cutter.next_cut(&file, start.saturating_add(bytes), control)?;
            Ok(Some(std::mem::replace(&mut start, end)..end))
        };
        let texts = BufferPool::default();
        let work = |worker, window: Range<u64>| {
            let size = window.end - window.start;
            let part = texts.with(|text| {
                file.read_exactly(window.start, size as usize, text)?;
                let mut ids = I::part(text.len() / 3)?;
                self.encode_window(worker, (&file, window.start, text), options, &mut ids, control)?;
                Ok(ids)
            })?;
            control.advance(size);
            Ok(part)
        };
        let place = |part| ids.place(part).map(|placed| placed.into_iter().collect());
        workers::placed(workers, control, windows, work, place, I::write)
    }

    /// Encodes the text of the file from byte `start` on.
    fn encode_window(
        &self,
        worker: usize,
        (file, start, text): (&SourceFile, u64, &[u8]),
        options: &FileOptions,
        ids: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        let specials = self.active(options.special.into());
        if options.replace {
            room::check_available(3 * text.len())?;
        }
        let text = valid_utf8(text, options.replace).map_err(|invalid| file.not_utf8(start + invalid))?;
        let (text, worker, is_first) = (&*text, worker.into(), start == 0);
        self.answer(Request { text, specials, worker, is_first }, ids, control)
    }
}
