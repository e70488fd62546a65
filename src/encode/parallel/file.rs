//! A file → its ids, in parallel, in order, in memory that does not grow with the file.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use crate::control::{Control, Stage};
use crate::encode::encoder::{Encoder, Request};
use crate::encode::output::{IdBytes, IdType, Sink};
use crate::error::{Error, Result};
use crate::room;
use crate::source::{SourceFile, valid_utf8, write_through_at};
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
    /// The ids of a file: those of [`Encoder::encode`] for its contents, found on up to `options.workers`
    /// threads. The file is read in windows, cut where no id can change. With no pattern, or with a pattern
    /// of which nothing is known, there is no such place, and the file is read and encoded as one piece.
    ///
    /// Memory: the ids, and some windows with theirs for each worker.
    ///
    /// # Errors
    /// [`crate::Error::Io`], also for a file whose size or modification time changes; [`crate::Error::NotUtf8`]
    /// naming the first invalid byte; [`crate::Error::IdTooWide`]; [`crate::Error::Interrupted`].
    pub fn encode_file<T: IdType>(
        &self,
        path: &Path,
        options: &FileOptions,
        control: &Control,
    ) -> Result<Vec<T>> {
        let mut ids = Vec::new();
        let place = |part: Vec<u32>| T::append(&part, &mut ids).map(|()| Vec::new());
        self.encode_windows(path, options, room::for_items, place, |()| Ok(()), control)?;
        Ok(ids)
    }

    /// Writes the ids of a file to another one, `out`, from byte `start` on, little-endian: of 32 bits each
    /// if `is_wide`, otherwise of 16. `out` must not be open for appending; it has its name for errors.
    /// Returns how many ids there are.
    ///
    /// # Errors
    /// Those of [`Encoder::encode_file`].
    pub fn encode_file_to(
        &self,
        path: &Path,
        options: &FileOptions,
        (out, name): (&File, &Path),
        (start, is_wide): (u64, bool),
        control: &Control,
    ) -> Result<u64> {
        let mut end = start;
        let place = |IdBytes { bytes, .. }: IdBytes| {
            let at = end;
            end += bytes.len() as u64;
            Ok(vec![(at, bytes)])
        };
        let write = |(at, bytes): (u64, Vec<u8>)| write_through_at(out, &bytes, at).map_err(Error::io(name));
        self.encode_windows(path, options, |count| IdBytes::for_ids(count, is_wide), place, write, control)?;
        Ok((end - start) / if is_wide { 4 } else { 2 })
    }

    /// Encodes the windows of a file, each into a `part` with room for some ids. `place` gets the parts in
    /// the order of the file, one at a time; what it returns is given to `write`, on many threads at once.
    fn encode_windows<P: Sink + Send, W: Send>(
        &self,
        path: &Path,
        options: &FileOptions,
        part: impl Fn(usize) -> Result<P> + Sync,
        place: impl FnMut(P) -> Result<Vec<W>> + Send,
        write: impl Fn(W) -> Result<()> + Sync,
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
            let encoded = texts.with(|text| {
                file.read_exactly(window.start, size as usize, text)?;
                let mut ids = part(text.len() / 3)?;
                self.encode_window(worker, (&file, window.start, text), options, &mut ids, control)?;
                Ok(ids)
            })?;
            control.advance(size);
            Ok(encoded)
        };
        workers::placed(workers, control, windows, work, place, write)
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
