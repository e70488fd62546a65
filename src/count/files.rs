//! Counting of files of all kinds, on several threads.

use std::thread;

use super::counting::{Counting, UNKNOWN_TEXT_BYTES};
use super::windows::WindowedDocument;
use super::worker::Worker;
use super::workers::Workers;
use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::source::{
    Chunk, ChunkCutter, ChunkDocuments, ChunkJob, Cursor, Cutter, InputFile, Plan, ReadOptions, Skipped,
    Source, SourceFile, Stamp, late_character,
};
use crate::workers;

/// Places that are reserved for a file that reports no size, as those of Linux's /proc.
const UNKNOWN_PLACES: u64 = 1 << 32;

/// A chunk, and the place of its first byte.
type PlacedChunk = (u64, ChunkJob);

/// What is left to do in the order of the chunks.
enum Counted {
    /// A chunk was counted, up to a record that has no text, if there is one.
    Chunk { source: usize, lines: u64, failure: Option<Skipped> },
    /// A window of a text that cannot be cut.
    Window(PlacedChunk),
}

impl Counting {
    /// Counts files, on up to as many threads as the options allow.
    ///
    /// # Errors
    /// [`Error::Io`], also for a file whose size or modification time has changed; [`Error::NotUtf8`],
    /// [`Error::Corrupt`] and [`Error::Record`], the first one in the order of the files; [`Error::Spill`];
    /// [`Error::Interrupted`]; errors of the pattern.
    pub fn files(&mut self, files: &[InputFile], control: &Control) -> Result<()> {
        let (sources, bytes) = sources(files, control)?;
        control.begin(Stage::Count, bytes);
        let is_known = sources.iter().all(Source::is_plain);
        let limit = if is_known { bytes.div_ceil(self.options.block_bytes()) as usize } else { usize::MAX };
        let workers = self.workers().min(limit).max(1);
        let options = self.read_options(workers);
        let text = if is_known { bytes } else { bytes.max(UNKNOWN_TEXT_BYTES) };
        let (mut place, stretch) = (self.place, self.stretch());
        let counting = &*self;
        let inside = Cutter::new(&counting.specials, &counting.pretokenizer, options.replace);
        let cutter = ChunkCutter::new(&options, Some(inside));
        // One more for the windows, which are counted in their order.
        let work = FileWork {
            counting,
            sources: &sources,
            cutter: &cutter,
            workers: Workers::new(counting, workers + 1, text / workers as u64),
            control,
        };
        let mut order = InOrder { work: &work, number: workers, lines: (0, 0), open: None };
        thread::scope(|scope| {
            let mut plan = Plan::new(scope, &sources, &cutter, Cursor::default(), control);
            let jobs = || {
                let Some((chunks, _)) = plan.next()? else { return Ok(None) };
                let placed = chunks.into_iter().map(|chunk| {
                    let start = place;
                    place += stretch * max_bytes(&chunk, &sources);
                    (start, chunk)
                });
                Ok(Some(placed.collect::<Vec<_>>()))
            };
            let count = |number, chunks: Vec<PlacedChunk>| {
                work.workers.with(number, |worker| work.count(chunks, worker))
            };
            let take = |counted: Vec<Counted>| {
                counted.into_iter().try_for_each(|counted| order.take(counted)).map(|()| Vec::new())
            };
            workers::placed(workers, control, jobs, count, take, |()| Ok(()))
        })?;
        order.close()?;
        work.workers.finish(control)?;
        self.place = place;
        Ok(())
    }

    /// How files are read. What separates documents is a special token here, since it may stand in a text that is read
    /// in windows.
    fn read_options(&self, workers: usize) -> ReadOptions {
        ReadOptions {
            replace: self.options.replace,
            skip: false,
            separator: None,
            chunk_bytes: self.options.block_bytes(),
            first_bytes: 0,
            streams: workers,
            in_windows: true,
        }
    }
}

/// The files with their stamps, and their bytes. A missing file is an error before anything is counted.
fn sources(files: &[InputFile], control: &Control) -> Result<(Vec<Source>, u64)> {
    let (mut sources, mut bytes) = (Vec::new(), 0);
    for file in files {
        control.check()?;
        let failed = Error::io(&file.path);
        let meta = std::fs::metadata(&file.path).map_err(&failed)?;
        if meta.is_dir() {
            return Err(failed(std::io::ErrorKind::IsADirectory.into()));
        }
        let seen = file.seen.or(Stamp::of(&meta));
        bytes += meta.len();
        sources.push(Source { file: InputFile { seen, ..file.clone() }, open: None });
    }
    Ok((sources, bytes))
}

/// An upper bound of the bytes of a chunk.
fn max_bytes(job: &ChunkJob, sources: &[Source]) -> u64 {
    match &job.chunk {
        Chunk::File => {
            let size = sources[job.source].file.seen.map_or(0, |stamp| stamp.size);
            if size == 0 { UNKNOWN_PLACES } else { size }
        }
        Chunk::Part { start, end, .. } => end - start,
        Chunk::Block { bytes, .. } | Chunk::Window { bytes, .. } => bytes.len() as u64,
        Chunk::Invalid(_) => 0,
    }
}

/// What all threads share.
struct FileWork<'c> {
    counting: &'c Counting,
    sources: &'c [Source],
    cutter: &'c ChunkCutter<'c>,
    workers: Workers<'c>,
    control: &'c Control<'c>,
}

impl FileWork<'_> {
    /// Counts the chunks of a job, but for windows.
    fn count(&self, chunks: Vec<PlacedChunk>, worker: &mut Worker<'_>) -> Result<Vec<Counted>> {
        let mut counted = Vec::new();
        for (place, chunk) in chunks {
            counted.push(match chunk.chunk {
                Chunk::Window { .. } => Counted::Window((place, chunk)),
                Chunk::Part { ref file, start, end } if self.is_long(&chunk, end - start) => {
                    self.long_chunk((chunk.source, file), (start, end), place, worker)?;
                    Counted::Chunk { source: chunk.source, lines: 0, failure: None }
                }
                _ => self.chunk(place, &chunk, worker)?,
            });
            if matches!(counted.last(), Some(Counted::Chunk { failure: Some(_), .. })) {
                break;
            }
        }
        Ok(counted)
    }

    /// Whether a chunk is a text that is too long to be read as a whole, because there was no place for a cut.
    fn is_long(&self, chunk: &ChunkJob, bytes: u64) -> bool {
        let is_text = self.sources[chunk.source].field().is_none();
        is_text && bytes > self.counting.options.window_bytes as u64
    }

    /// Counts the documents of a chunk.
    fn chunk(&self, place: u64, chunk: &ChunkJob, worker: &mut Worker<'_>) -> Result<Counted> {
        let source = &self.sources[chunk.source];
        let mut read = std::mem::take(&mut worker.buffer);
        let (bytes, offset) = chunk.bytes(source, &mut read, self.control)?;
        let mut documents = ChunkDocuments::new(self.cutter);
        let failure =
            documents.add_chunk(bytes, (chunk.source, source), offset, (chunk.begins, chunk.ends)).err();
        let mut len = 0;
        for part in &documents.parts {
            self.counting.document_at(&part.text, place + len, worker, self.control)?;
            len += part.text.len() as u64;
        }
        self.counting.span(place, len);
        let lines = documents.lines;
        drop(documents);
        worker.buffer = read;
        Ok(Counted::Chunk { source: chunk.source, lines, failure })
    }

    /// The error of a text that is not UTF-8 at a byte.
    fn not_utf8(&self, source: usize, offset: u64) -> Error {
        Skipped::invalid(source, offset).error(&self.sources[source].file)
    }

    /// Counts a chunk window by window.
    fn long_chunk(
        &self,
        (source, file): (usize, &SourceFile),
        (start, end): (u64, u64),
        place: u64,
        worker: &mut Worker<'_>,
    ) -> Result<()> {
        let mut text = WindowedDocument::new(self.counting, place);
        let mut at = start;
        while at < end {
            let want = self.counting.options.window_bytes.max(8).min((end - at) as usize);
            let mut bytes = Vec::new();
            file.read_exactly(at, want, &mut bytes)?;
            if at + (want as u64) < end {
                bytes.truncate(late_character(&bytes).unwrap_or(want));
            }
            at += bytes.len() as u64;
            self.control.advance(bytes.len() as u64);
            let pushed = text.push(&bytes, worker, self.control)?;
            pushed.map_err(|invalid| self.not_utf8(source, start + invalid))?;
        }
        text.finish(worker, self.control)
    }
}

/// What is done in the order of the chunks, by one thread at a time.
struct InOrder<'w, 'c> {
    work: &'w FileWork<'c>,
    /// The number of the worker that counts windows.
    number: usize,
    /// The source of the last chunk, and the ends of lines in it so far.
    lines: (usize, u64),
    /// The text of which windows come, and the source and the offset where the first of them begins.
    open: Option<(usize, u64, WindowedDocument<'c>)>,
}

impl InOrder<'_, '_> {
    fn take(&mut self, counted: Counted) -> Result<()> {
        match counted {
            Counted::Chunk { source, lines, failure } => {
                self.close()?;
                let before = if self.lines.0 == source { self.lines.1 } else { 0 };
                self.lines = (source, before + lines);
                let file = &self.work.sources[source].file;
                failure.map_or(Ok(()), |failure| Err(failure.after_lines(before, file).error(file)))
            }
            Counted::Window((place, chunk)) => self.window(place, chunk),
        }
    }

    /// Counts a window of a text.
    fn window(&mut self, place: u64, ChunkJob { source, chunk, .. }: ChunkJob) -> Result<()> {
        let Chunk::Window { bytes, offset } = chunk else { return Ok(()) };
        if self.open.as_ref().is_some_and(|(of, ..)| *of != source) {
            self.close()?;
        }
        let FileWork { counting, workers, control, .. } = self.work;
        let (_, start, text) =
            self.open.get_or_insert_with(|| (source, offset, WindowedDocument::new(counting, place)));
        let pushed = workers.with(self.number, |worker| text.push(&bytes, worker, control))?;
        pushed.map_err(|invalid| self.work.not_utf8(source, *start + invalid))
    }

    /// Ends the text of which windows came.
    fn close(&mut self) -> Result<()> {
        let Some((.., text)) = self.open.take() else { return Ok(()) };
        let FileWork { workers, control, .. } = self.work;
        workers.with(self.number, |worker| text.finish(worker, control))
    }
}
