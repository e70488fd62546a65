//! Counting of files of all kinds, on several threads.

use std::thread;

use super::counting::{Counting, UNKNOWN_TEXT_BYTES};
use super::places::ReservedPlaces;
use super::worker::{Worker, Workers};
use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::source::{
    ChunkCutter, ChunkDocuments, ChunkJob, Cursor, Cutter, InputFile, Plan, ReadOptions, Skipped, Stamp,
};
use crate::workers;

/// A chunk that was counted, up to a record that has no text, if there is one.
struct Counted {
    source: usize,
    lines: u64,
    failure: Option<Skipped>,
}

impl Counting {
    /// Counts files, on up to as many threads as the options allow.
    ///
    /// # Errors
    /// [`Error::Io`], also for a file whose size or modification time has changed; [`Error::Unread`], the
    /// first one in the order of the files; [`Error::Spill`]; [`Error::Interrupted`]; errors of the pattern.
    pub fn files(&mut self, files: &[InputFile], control: &Control) -> Result<()> {
        let (sources, bytes) = sources(files, control)?;
        control.begin(Stage::Count, bytes);
        let is_known = sources.iter().all(|source| source.plain().is_some());
        let limit = if is_known { bytes.div_ceil(self.options.block_bytes()) as usize } else { usize::MAX };
        let workers = self.workers().min(limit).max(1);
        let options = ReadOptions {
            replace: self.options.replace,
            separator: self.options.separator.clone(),
            chunk_bytes: self.options.block_bytes(),
            streams: workers,
            ..ReadOptions::default()
        };
        let text = if is_known { bytes } else { bytes.max(UNKNOWN_TEXT_BYTES) };
        // Places of each byte: an invalid byte may become three of U+FFFD, and the next document comes after
        // all of them.
        let (mut place, stretch) = (self.place, if options.replace { 3 } else { 1 });
        let counting = &*self;
        let inside = Cutter::new(&counting.specials, &counting.pretokenizer, options.replace);
        let cutter = ChunkCutter::new(&options, Some(inside));
        let tables = Workers::new(counting, workers, text / workers as u64);
        thread::scope(|scope| {
            let mut plan = Plan::new(scope, &sources, &cutter, Cursor::default(), control);
            let jobs = || {
                let Some((chunks, _)) = plan.next()? else { return Ok(None) };
                let placed = chunks.into_iter().map(|chunk| {
                    let start = place;
                    place += stretch * chunk.len();
                    (start, chunk)
                });
                Ok(Some(placed.collect::<Vec<_>>()))
            };
            let count = |number, chunks: Vec<(u64, ChunkJob)>| {
                tables.with(number, |worker| counting.chunks(chunks, (&sources, &cutter), worker, control))
            };
            // The source of the last chunk, and the ends of lines in it so far.
            let mut lines = (0, 0);
            let take = |counted: Vec<Counted>| {
                for Counted { source, lines: more, failure } in counted {
                    let before = if lines.0 == source { lines.1 } else { 0 };
                    lines = (source, before + more);
                    if let Some(failure) = failure {
                        let file = &sources[source];
                        return Err(failure.after_lines(before, file).error(file));
                    }
                }
                Ok(Vec::new())
            };
            workers::placed(workers, control, jobs, count, take, |()| Ok(()))
        })?;
        tables.finish(control)?;
        self.place = place;
        Ok(())
    }

    /// Counts the documents of chunks, each with its place, up to a record that has no text.
    fn chunks(
        &self,
        chunks: Vec<(u64, ChunkJob)>,
        (sources, cutter): (&[InputFile], &ChunkCutter<'_>),
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<Vec<Counted>> {
        let mut counted = Vec::new();
        for (place, chunk) in &chunks {
            let source = &sources[chunk.source];
            let mut read = std::mem::take(&mut worker.buffer);
            let (bytes, offset) = chunk.bytes(source, &mut read, control)?;
            let mut documents = ChunkDocuments::new(cutter);
            let ends = (chunk.begins, chunk.ends);
            let failure = documents.add_chunk(bytes, (chunk.source, source), offset, ends).err();
            let mut len = 0;
            for part in &documents.parts {
                worker.document(&part.text, place + len, control)?;
                len += part.text.len() as u64;
            }
            self.spans.lock().push(ReservedPlaces { start: *place, len });
            let is_last = failure.is_some();
            counted.push(Counted { source: chunk.source, lines: documents.lines, failure });
            drop(documents);
            worker.buffer = read;
            if is_last {
                break;
            }
        }
        Ok(counted)
    }
}

/// The files with their stamps, and their bytes. A missing file is an error before anything is counted.
fn sources(files: &[InputFile], control: &Control) -> Result<(Vec<InputFile>, u64)> {
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
        sources.push(InputFile { seen, ..file.clone() });
    }
    Ok((sources, bytes))
}
