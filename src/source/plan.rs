//! Divides the sources into jobs, in order.

use std::thread::Scope;

use super::chunk_cuts::ChunkCutter;
use super::file::PlainFile;
use super::input::{Cursor, InputFile};
use super::skipped::Skipped;
use super::streams::{Chunk, ChunkJob, Streams};
use super::utf8::{late_character, valid_utf8};
use crate::control::Control;
use crate::error::{Error, Result};

/// The maximum number of small files of one job: opening a file takes as long as encoding a kilobyte.
const FILES_PER_JOB: usize = 1 << 10;
/// Bytes that are read at once to check whether a document is UTF-8.
const CHECKED_BYTES: u64 = 1 << 20;

/// Makes the jobs.
pub(crate) struct Plan<'scope, 'env, 'a> {
    streams: Streams<'scope, 'env, 'a>,
    at: Cursor,
}

impl<'a: 'scope, 'scope, 'env> Plan<'scope, 'env, 'a> {
    /// The jobs from a place on.
    pub(crate) fn new(
        scope: &'scope Scope<'scope, 'env>,
        sources: &'a [InputFile],
        cutter: &'a ChunkCutter<'a>,
        at: Cursor,
        control: &'a Control<'a>,
    ) -> Self {
        Plan { streams: Streams::new(scope, sources, cutter, control), at }
    }

    /// The chunks that a worker takes next, and the place in the sources after them; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(Vec<ChunkJob>, Cursor)>> {
        let (mut chunks, mut bytes) = (Vec::new(), 0);
        let Streams { sources, cutter, .. } = self.streams;
        while let Some(source) = sources.get(self.at.source)
            && bytes < cutter.options.chunk_bytes.max(1)
            && chunks.len() < FILES_PER_JOB
        {
            let file = source.plain();
            let fits_chunk = |&size: &u64| self.at.offset == 0 && size <= cutter.options.chunk_bytes;
            if let Some(size) = file.map(PlainFile::size).filter(fits_chunk) {
                let (source, chunk) = (self.at.source, Chunk::Part { start: 0, end: size });
                chunks.push(ChunkJob { source, chunk, begins: true, ends: true });
                bytes += size;
                self.at = Cursor::start_of(source + 1);
                continue;
            }
            if chunks.is_empty() {
                chunks.extend(match file {
                    Some(file) => Some(self.part(source, file)?),
                    None => self.block()?,
                });
            }
            if !chunks.is_empty() {
                break;
            }
        }
        Ok((!chunks.is_empty()).then_some((chunks, self.at)))
    }

    /// The next part of the file that is being cut.
    fn part(&mut self, source: &InputFile, file: PlainFile<'_>) -> Result<ChunkJob> {
        let number = self.at.source;
        let (start, begins) = (self.at.offset, !self.at.is_inside);
        if start > file.size() {
            return Err(Error::Snapshot);
        }
        let Streams { cutter, control, .. } = self.streams;
        let end = cutter.end_in_file((source, file), self.at, control)?;
        let options = cutter.options;
        let mut chunk = Chunk::Part { start, end: start + end.end };
        let (mut next, mut is_whole) = (start + end.next, end.is_whole);
        if options.skip && !options.replace && begins && !is_whole {
            // Skipping an invalid document must be decided before its first part: that part cannot be taken
            // back later.
            if let Some((invalid, after)) = self.invalid_document((source, file), start)? {
                chunk = Chunk::Invalid(Skipped::invalid(number, invalid));
                (next, is_whole) = (after, true);
            }
        }
        self.at.offset = next;
        self.at.is_inside = !is_whole;
        if next >= file.size() && is_whole {
            self.at = Cursor::start_of(number + 1);
        }
        Ok(ChunkJob { source: number, chunk, begins, ends: is_whole })
    }

    /// If the document that begins at `start` is not UTF-8, the offset of the first invalid byte and the
    /// place after the document.
    fn invalid_document(
        &self,
        (source, file): (&InputFile, PlainFile<'_>),
        start: u64,
    ) -> Result<Option<(u64, u64)>> {
        let Streams { cutter, control, .. } = self.streams;
        let (mut at, mut invalid) = (start, None);
        loop {
            let place = Cursor { offset: at, is_inside: at > start, ..self.at };
            let end = cutter.end_in_file((source, file), place, control)?;
            let (chunk_end, next) = (at + end.end, at + end.next);
            while at < chunk_end {
                let bytes = file.read(at, CHECKED_BYTES.min(chunk_end - at) as usize)?;
                let is_last = at + bytes.len() as u64 >= chunk_end;
                let len = late_character(&bytes).filter(|_| !is_last).unwrap_or(bytes.len());
                invalid = invalid.or(valid_utf8(&bytes[..len], false).err().map(|offset| at + offset));
                at += len as u64;
            }
            if end.is_whole {
                return Ok(invalid.map(|offset| (offset, next)));
            }
        }
    }

    /// The next part of the stream whose turn it is.
    fn block(&mut self) -> Result<Option<ChunkJob>> {
        let next = self.streams.next(self.at)?;
        self.at = next.as_ref().map_or(Cursor::start_of(self.at.source + 1), |(_, end)| *end);
        Ok(next.map(|(job, _)| job))
    }
}
