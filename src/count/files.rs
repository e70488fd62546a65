//! Counting of files of all kinds, on several threads.

use std::fs::Metadata;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::chunks::{self, Chunk};
use super::counting::{Counting, UNKNOWN_TEXT_BYTES};
use super::streams::Stream;
use super::windows::WindowedDocument;
use super::worker::Worker;
use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::source::{Compression, Cutter, DocumentFormat, InputFile, SourceFile, Stamp, max_bytes_of};
use crate::workers;

/// A unit of work that a worker takes.
enum WorkUnit {
    /// A chunk of the file of this index.
    Chunk(usize, Chunk),
    /// A file that is read from front to back. All workers that have nothing else to do take its blocks.
    Stream(Box<Mutex<Stream>>),
}

impl Counting {
    /// Counts files, on up to as many threads as the options allow.
    ///
    /// # Errors
    /// [`Error::Io`], also for a file whose size or modification time has changed; [`Error::NotUtf8`],
    /// [`Error::Corrupt`] and [`Error::Record`], the first one in the order of the files; [`Error::Spill`];
    /// [`Error::Interrupted`]; errors of the pattern.
    pub fn files(&mut self, files: &[InputFile], control: &Control) -> Result<()> {
        let (sources, units) = self.plan(files, control)?;
        let streams = units.iter().any(|unit| matches!(unit, WorkUnit::Stream(_)));
        let bytes: u64 = sources.iter().flatten().map(|source| source.size).sum();
        let limit = if streams { usize::MAX } else { units.len() };
        let workers =
            if self.pretokenizer.is_parallel() { self.options.workers.min(limit).max(1) } else { 1 };
        let bytes = if streams { bytes.max(UNKNOWN_TEXT_BYTES) } else { bytes } / workers as u64;
        let work_queue = FileWork {
            counting: self,
            cutter: Cutter::new(&self.specials, &self.pretokenizer, self.options.replace),
            sources,
            units,
            next: AtomicUsize::new(0),
            failure: Failure::default(),
        };
        let work = |number| work_queue.work(number, bytes, control);
        // A worker that waits while another one reads a pipe does not check the control, so with streams the
        // calling thread does nothing else.
        if streams {
            workers::run(workers, control, work)?
        } else {
            workers::run_here_too(workers, control, work)?
        };
        work_queue.failure.into_result()
    }

    /// Opens all files, so that a missing one is an error before anything is counted, and makes the units of
    /// work.
    fn plan(
        &mut self,
        files: &[InputFile],
        control: &Control,
    ) -> Result<(Vec<Option<SourceFile>>, Vec<WorkUnit>)> {
        // An invalid byte becomes three bytes of U+FFFD, so each byte gets three places: those of the next
        // document must come after all of them.
        let stretch = if self.options.replace { 3 } else { 1 };
        let (mut sources, mut units, mut total) = (Vec::new(), Vec::new(), 0);
        for (number, file) in files.iter().enumerate() {
            control.check()?;
            let failed = |source| Error::Io { path: file.path.clone(), source };
            let meta = std::fs::metadata(&file.path).map_err(failed)?;
            if meta.is_dir() {
                return Err(failed(std::io::ErrorKind::IsADirectory.into()));
            }
            let seen = file.seen.or(Stamp::of(&meta));
            if is_plain(file, &meta) {
                let source = SourceFile::open(&file.path, seen, control)?;
                let place = self.take_places(stretch * source.size);
                total += source.size;
                let chunks = chunks::plan(&source, place, stretch, self, control)?;
                units.extend(chunks.into_iter().map(|chunk| WorkUnit::Chunk(number, chunk)));
                sources.push(Some(source));
            } else {
                let max_bytes = max_bytes_of(&meta, file);
                let place = self.take_places(max_bytes.saturating_mul(stretch));
                total += meta.len();
                let file = InputFile { seen, ..file.clone() };
                let stream = Stream::new(file, place, stretch, max_bytes, self.options.block_bytes());
                units.push(WorkUnit::Stream(Box::new(Mutex::new(stream))));
                sources.push(None);
            }
        }
        control.begin(Stage::Count, total);
        Ok((sources, units))
    }
}

/// Whether a file can be read at any offset and is one document.
fn is_plain(file: &InputFile, meta: &Metadata) -> bool {
    let whole = file.compression == Compression::None && file.records == DocumentFormat::Whole;
    whole && meta.is_file() && meta.len() > 0
}

/// The first failure in the order of the files: the indices of its unit and of the block in it.
#[derive(Default)]
struct Failure {
    first: Mutex<Option<((usize, usize), Error)>>,
}

impl Failure {
    /// Whether this unit, or one before it, has failed, so that the unit need not be counted.
    fn is_before(&self, unit: usize) -> bool {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().is_some_and(|((at, _), _)| *at <= unit)
    }

    fn note(&self, at: (usize, usize), error: Error) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| at < *other) {
            *first = Some((at, error));
        }
    }

    fn into_result(self) -> Result<()> {
        let first = self.first.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// The work of all threads.
struct FileWork<'c> {
    counting: &'c Counting,
    cutter: Cutter<'c>,
    sources: Vec<Option<SourceFile>>,
    units: Vec<WorkUnit>,
    next: AtomicUsize,
    failure: Failure,
}

impl FileWork<'_> {
    fn work(&self, number: usize, bytes: u64, control: &Control) -> Result<()> {
        let mut worker = self.counting.worker(number, bytes)?;
        // Units are handed out in order, and a worker finishes the unit that it has. So the reported error is
        // the first one in the files, for any number of workers.
        loop {
            let at = self.next.fetch_add(1, Relaxed);
            let Some(unit) = self.units.get(at).filter(|_| !self.failure.is_before(at)) else { break };
            self.unit(at, unit, &mut worker, control)?;
        }
        for (at, unit) in self.units.iter().enumerate() {
            if matches!(unit, WorkUnit::Stream(_)) && !self.failure.is_before(at) {
                self.unit(at, unit, &mut worker, control)?;
            }
        }
        worker.finish(control)
    }

    fn unit(&self, at: usize, unit: &WorkUnit, worker: &mut Worker<'_>, control: &Control) -> Result<()> {
        match unit {
            WorkUnit::Chunk(file, chunk) => {
                let Some(source) = &self.sources[*file] else { return Ok(()) };
                self.note((at, 0), self.chunk(source, chunk, worker, control))
            }
            WorkUnit::Stream(stream) => self.drain(at, stream, worker, control),
        }
    }

    /// Records a failure with its place in the files. An interruption has no place, and ends the work at once.
    fn note(&self, at: (usize, usize), done: Result<()>) -> Result<()> {
        match done {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) => {
                self.failure.note(at, error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Counts blocks of a stream until its end, together with other workers.
    fn drain(
        &self,
        at: usize,
        stream: &Mutex<Stream>,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        while !self.failure.is_before(at) {
            let mut own = stream.lock().unwrap_or_else(PoisonError::into_inner);
            let number = own.number();
            let ready = match own.next(self.counting, &self.cutter, worker, control) {
                Ok(Some(ready)) => ready,
                Ok(None) => return Ok(()),
                Err(error) => return self.note((at, number), Err(error)),
            };
            drop(own);
            self.note((at, number), ready.count(self.counting, worker, control))?;
        }
        Ok(())
    }

    /// Counts a chunk of a file.
    fn chunk(
        &self,
        source: &SourceFile,
        chunk: &Chunk,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        let len = chunk.end - chunk.start;
        if len > self.counting.options.window_bytes as u64 {
            return self.long_chunk(source, chunk, worker, control);
        }
        let mut bytes = worker.take_buffer();
        source.read_exactly(chunk.start, len as usize, &mut bytes)?;
        let counted = self.counting.text(&bytes, chunk.place, worker, control);
        worker.give_buffer(bytes);
        control.advance(len);
        counted?.map_err(|invalid| source.not_utf8(chunk.start + invalid))
    }

    /// Counts a chunk that is too long to be read as a whole, because there was no place for a cut.
    fn long_chunk(
        &self,
        source: &SourceFile,
        chunk: &Chunk,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        let options = &self.counting.options;
        let mut text = WindowedDocument::new(self.counting, chunk.place);
        let mut at = chunk.start;
        while at < chunk.end {
            let want = options.window_bytes.max(1).min((chunk.end - at) as usize);
            let mut bytes = Vec::new();
            source.read_exactly(at, want, &mut bytes)?;
            at += want as u64;
            let pushed = text.push(bytes, worker, control)?;
            pushed.map_err(|invalid| source.not_utf8(chunk.start + invalid))?;
            control.advance(want as u64);
        }
        text.finish(worker, control)?.map_err(|invalid| source.not_utf8(chunk.start + invalid))
    }
}
