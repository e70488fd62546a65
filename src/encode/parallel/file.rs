//! A file → its ids, in parallel, in order, in memory that does not grow with the file.

use std::fs::File;
use std::path::Path;
use std::thread;

use crate::control::{Control, Stage};
use crate::encode::encoder::{Encoder, Request};
use crate::encode::output::{IdBytes, IdType, Sink};
use crate::error::{Error, Result};
use crate::room;
use crate::source::{
    ChunkCutter, ChunkJob, Cursor, InputFile, Plan, ReadOptions, Skipped, Stamp, valid_utf8, write_through_at,
};
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
    /// threads. The file is read in chunks, cut where no id can change. With no pattern, or with a pattern of
    /// which nothing is known, there is no such place, and the file is read and encoded as one piece.
    ///
    /// Memory: the ids, and some chunks with theirs for each worker.
    ///
    /// # Errors
    /// [`crate::Error::Io`], also for a file whose size or modification time changes;
    /// [`crate::Error::Unread`] naming the first invalid byte; [`crate::Error::IdTooWide`];
    /// [`crate::Error::Interrupted`].
    pub fn encode_file<T: IdType>(
        &self,
        path: &Path,
        options: &FileOptions,
        control: &Control,
    ) -> Result<Vec<T>> {
        let mut ids = Vec::new();
        let place = |part: Vec<u32>| T::append(&part, &mut ids).map(|()| Vec::new());
        self.encode_file_chunks(path, options, room::for_items, place, |()| Ok(()), control)?;
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
        self.encode_file_chunks(
            path,
            options,
            |count| IdBytes::for_ids(count, is_wide),
            place,
            write,
            control,
        )?;
        Ok((end - start) / if is_wide { 4 } else { 2 })
    }

    /// Encodes the chunks of a file, each into a `part` with room for some ids. `place` gets the parts in the
    /// order of the file, one at a time; what it returns is given to `write`, on many threads at once.
    fn encode_file_chunks<P: Sink + Send, W: Send>(
        &self,
        path: &Path,
        options: &FileOptions,
        part: impl Fn(usize) -> Result<P> + Sync,
        place: impl FnMut(P) -> Result<Vec<W>> + Send,
        write: impl Fn(W) -> Result<()> + Sync,
        control: &Control,
    ) -> Result<()> {
        let meta = std::fs::metadata(path).map_err(Error::io(path))?;
        control.begin(Stage::Encode, meta.len());
        let (chunk_bytes, seen) = (options.window_bytes.max(1), Stamp::of(&meta));
        let sources = [InputFile { seen, max_record_bytes: u64::MAX, ..InputFile::text(path.to_owned()) }];
        let known = sources[0].plain().map_or(usize::MAX, |file| file.size().div_ceil(chunk_bytes) as usize);
        let workers = options.workers.min(if self.is_parallel() { known } else { 1 }).max(1);
        self.make_tables(workers)?;
        let read = ReadOptions { replace: options.replace, chunk_bytes, ..ReadOptions::default() };
        let cutter = ChunkCutter::new(&read, Some(self.cutter(options.special, options.replace)));
        let texts = BufferPool::default();
        let work = |worker, chunks: Vec<ChunkJob>| {
            let mut ids = part(chunks.iter().map(|chunk| chunk.len() as usize / 3).sum())?;
            for chunk in chunks {
                texts.with(|text| {
                    let chunk = chunk.bytes(&sources[0], text, control)?;
                    self.encode_file_chunk(worker, (&sources[0], chunk), options, &mut ids, control)
                })?;
            }
            Ok(ids)
        };
        thread::scope(|scope| {
            let mut plan = Plan::new(scope, &sources, &cutter, Cursor::default(), control);
            let jobs = || Ok(plan.next()?.map(|(chunks, _)| chunks));
            workers::placed(workers, control, jobs, work, place, write)
        })
    }

    /// Encodes the text of the file from byte `start` on.
    fn encode_file_chunk(
        &self,
        worker: usize,
        (source, (text, start)): (&InputFile, (&[u8], u64)),
        options: &FileOptions,
        ids: &mut impl Sink,
        control: &Control,
    ) -> Result<()> {
        let specials = self.active(options.special.into());
        if options.replace {
            room::check_available(3 * text.len())?;
        }
        let invalid = |at| Skipped::invalid(0, start + at).error(source);
        let text = valid_utf8(text, options.replace).map_err(invalid)?;
        let (text, worker, is_first) = (&*text, worker.into(), start == 0);
        self.answer(Request { text, specials, worker, is_first }, ids, control)
    }
}
