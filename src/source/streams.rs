//! Sources that are read from front to back, each by its own thread: while one block is encoded, the next is
//! read and decompressed.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use xxhash_rust::xxh64::Xxh64;

use super::chunk_cuts::{ChunkCutter, ChunkEnd};
use super::input::{Cursor, InputFile, ReadOptions};
use super::parts::{ChunkDocuments, DocumentPart};
use super::skipped::Skipped;
use super::stream::ByteStream;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::workers;

/// The maximum number of blocks of one stream that wait to be taken.
const BLOCKS_AHEAD: usize = 4;
/// Bytes of one read. Progress is reported and the control checked after each of them.
const READ_BYTES: usize = 1 << 16;
/// Bytes that are read at once when the beginning of a stream is passed over.
const SKIP_BYTES: usize = 1 << 20;

/// A part of a source.
pub(crate) enum Chunk {
    /// A part of a plain file. The worker reads it.
    Part { start: u64, end: u64 },
    /// A part of a stream, beginning at `offset`.
    Block { bytes: Vec<u8>, offset: u64 },
    /// A document that is not UTF-8 and is left out.
    Invalid(Skipped),
}

/// A chunk, its source, and whether its first document begins in it and its last one ends in it.
pub(crate) struct ChunkJob {
    pub(crate) source: usize,
    pub(crate) chunk: Chunk,
    pub(crate) begins: bool,
    pub(crate) ends: bool,
}

impl ChunkJob {
    /// The number of bytes of the chunk.
    pub(crate) fn len(&self) -> u64 {
        match &self.chunk {
            Chunk::Part { start, end } => end - start,
            Chunk::Block { bytes, .. } => bytes.len() as u64,
            Chunk::Invalid(_) => 0,
        }
    }

    /// The bytes of the chunk and their offset in the source. Those of a file are read into `read`.
    pub(crate) fn bytes<'b>(
        &'b self,
        source: &InputFile,
        read: &'b mut Vec<u8>,
        control: &Control,
    ) -> Result<(&'b [u8], u64)> {
        match (&self.chunk, source.plain()) {
            (&Chunk::Part { start, end }, Some(file)) => {
                file.read_exactly(start, (end - start) as usize, read)?;
                control.advance(end - start);
                Ok((read, start))
            }
            (Chunk::Block { bytes, offset }, _) => Ok((bytes, *offset)),
            _ => Ok((&[], 0)),
        }
    }
}

/// Reads one stream, in chunks of about the same size.
pub(super) struct StreamReader {
    stream: ByteStream,
    /// Bytes that were read and not yet handed out.
    pending: Vec<u8>,
    /// Whether the stream has no more bytes.
    is_read: bool,
    at: Cursor,
    /// Hashes the bytes read from a source that has no stamp.
    digest: Option<Xxh64>,
    ended: bool,
}

impl StreamReader {
    /// Opens a source and continues at a place in it.
    pub(super) fn open(source: &InputFile, start: Cursor, control: &Control) -> Result<Self> {
        let mut stream = match &source.open {
            Some(open) => ByteStream::of(source, open().map_err(Error::io(&source.path))?)?,
            None => ByteStream::open(source)?,
        };
        let mut digest = source.seen.is_none().then(|| Xxh64::new(0));
        let pending = pass_over(&mut stream, start, &mut digest, source, control)?;
        Ok(StreamReader { stream, pending, is_read: false, at: start, digest, ended: false })
    }

    /// The next chunk, and the place after it, which for the last one is the beginning of the next source;
    /// `None` after the last one. A line that is longer than the limit ends with the chunk, before its end.
    pub(super) fn next(
        &mut self,
        source: &InputFile,
        cutter: &ChunkCutter<'_>,
        control: &Control,
    ) -> Result<Option<(ChunkJob, Cursor)>> {
        if self.ended {
            return Ok(None);
        }
        let cut = self.fill(source, cutter, control)?;
        let tail = self.pending.split_off(cut.next as usize);
        let mut bytes = std::mem::replace(&mut self.pending, tail);
        if let Some(digest) = &mut self.digest {
            digest.update(&bytes);
        }
        let (offset, begins) = (self.at.offset, !self.at.is_inside);
        self.at.offset += bytes.len() as u64;
        self.ended = self.is_read && self.pending.is_empty();
        let ends = self.ended || cut.is_whole;
        if !self.ended {
            bytes.truncate(cut.end as usize);
        }
        self.at.is_inside = !ends;
        self.at.digest = self.digest.as_ref().map_or(0, Xxh64::digest);
        let number = self.at.source;
        let end = if self.ended { Cursor::start_of(number + 1) } else { self.at };
        Ok(Some((ChunkJob { source: number, chunk: Chunk::Block { bytes, offset }, begins, ends }, end)))
    }

    /// Reads until a chunk can end in the pending bytes, and returns its end.
    fn fill(&mut self, source: &InputFile, cutter: &ChunkCutter<'_>, control: &Control) -> Result<ChunkEnd> {
        let max_bytes = usize::try_from(cutter.max_held(source)).unwrap_or(usize::MAX);
        let mut want = cutter.options.chunk_bytes.max(1) as usize;
        loop {
            while !self.is_read && self.pending.len() < want {
                let count = READ_BYTES.min(want - self.pending.len());
                self.is_read = self.stream.read(count, &mut self.pending, control)? == 0;
                control.advance(self.stream.take_progress());
            }
            let len = self.pending.len();
            if self.is_read {
                return Ok(ChunkEnd::whole(len as u64, 0));
            }
            if let Some(end) = cutter.end_of(source, &self.pending, (0, true), self.at.is_inside) {
                return Ok(end);
            }
            if len >= max_bytes {
                return cutter.end_at_limit(source, self.at, len as u64);
            }
            want = (2 * len).min(max_bytes);
        }
    }
}

/// Reads the part of a stream that an earlier run has encoded. Returns the bytes that were read beyond it.
fn pass_over(
    stream: &mut ByteStream,
    start: Cursor,
    digest: &mut Option<Xxh64>,
    source: &InputFile,
    control: &Control,
) -> Result<Vec<u8>> {
    let mut left = start.offset;
    let mut bytes = Vec::new();
    while left > 0 && stream.read((SKIP_BYTES as u64).min(left) as usize, &mut bytes, control)? > 0 {
        control.advance(stream.take_progress());
        let passed = left.min(bytes.len() as u64) as usize;
        if let Some(digest) = digest {
            digest.update(&bytes[..passed]);
        }
        left -= passed as u64;
        bytes.drain(..passed);
    }
    let is_other = start.offset > 0 && digest.as_ref().is_some_and(|digest| digest.digest() != start.digest);
    if left > 0 || is_other {
        let reason = "this is not the input of the run that is to go on: it has changed since then";
        let error = std::io::Error::other(reason);
        return Err(Error::Io { path: source.path.clone(), source: error });
    }
    Ok(bytes)
}

/// Reads the documents of one source from front to back, on the calling thread.
pub struct DocumentReader {
    source: InputFile,
    options: ReadOptions,
    reader: StreamReader,
    /// Ends of lines before the next chunk.
    lines: u64,
}

/// A document, or a part of one, as [`DocumentReader`] reads it.
pub struct ReadDocument {
    /// The text.
    pub text: String,
    /// Whether the document ends here.
    pub ends: bool,
    /// The text of a second field.
    pub label: Option<String>,
}

impl DocumentReader {
    /// Opens a source.
    pub fn open(source: InputFile, options: ReadOptions, control: &Control) -> Result<Self> {
        let reader = StreamReader::open(&source, Cursor::default(), control)?;
        Ok(DocumentReader { source, options, reader, lines: 0 })
    }

    /// Some documents; `None` at the end. `label` is the field of their labels.
    pub fn next(&mut self, label: Option<&str>, control: &Control) -> Result<Option<Vec<ReadDocument>>> {
        let cutter = ChunkCutter::new(&self.options, None);
        let Some((chunk, _)) = self.reader.next(&self.source, &cutter, control)? else { return Ok(None) };
        let mut read = Vec::new();
        let (bytes, offset) = chunk.bytes(&self.source, &mut read, control)?;
        let mut documents = ChunkDocuments::new(&cutter);
        documents.label = label;
        let ends = (chunk.begins, chunk.ends);
        let added = documents.add_chunk(bytes, (0, &self.source), offset, ends);
        let file = &self.source;
        added.map_err(|wrong| wrong.after_lines(self.lines, file).error(file))?;
        self.lines += documents.lines;
        let mut labels = documents.labels.into_iter();
        let text = |part: DocumentPart<'_>| {
            let text = String::from_utf8(part.text.into_owned());
            let text = text.map_err(|error| Error::Invalid(error.to_string()))?;
            Ok(ReadDocument { text, ends: part.ends, label: labels.next() })
        };
        documents.parts.into_iter().map(text).collect::<Result<_>>().map(Some)
    }
}

/// Where the chunks of a stream come from.
enum Chunks {
    Thread(Receiver<Result<Option<(ChunkJob, Cursor)>>>),
    /// The calling thread reads, because the system starts no more threads.
    Here(Box<StreamReader>),
}

/// The streams that are being read: the current one, and some after it.
pub(super) struct Streams<'scope, 'env, 'a> {
    scope: &'scope Scope<'scope, 'env>,
    pub(super) sources: &'a [InputFile],
    pub(super) cutter: &'a ChunkCutter<'a>,
    pub(super) control: &'a Control<'a>,
    /// In the order of the sources, each with its index.
    open: VecDeque<(usize, Chunks)>,
    /// The index of the first source that was not yet considered.
    next: usize,
}

impl<'scope, 'env, 'a: 'scope> Streams<'scope, 'env, 'a> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        sources: &'a [InputFile],
        cutter: &'a ChunkCutter<'a>,
        control: &'a Control<'a>,
    ) -> Self {
        Streams { scope, sources, cutter, control, open: VecDeque::new(), next: 0 }
    }

    /// The next chunk of the stream at a place.
    pub(super) fn next(&mut self, at: Cursor) -> Result<Option<(ChunkJob, Cursor)>> {
        while self.open.front().is_some_and(|(source, _)| *source < at.source) {
            self.open.pop_front();
        }
        self.next = self.next.max(at.source);
        while self.open.len() < self.cutter.options.streams.max(1) && self.next < self.sources.len() {
            if self.sources[self.next].plain().is_none() {
                let start = if self.next == at.source { at } else { Cursor::start_of(self.next) };
                let chunks = self.start(start)?;
                self.open.push_back((self.next, chunks));
            }
            self.next += 1;
        }
        match self.open.front_mut() {
            Some((_, Chunks::Thread(receiver))) => {
                workers::received(receiver, self.control)?.unwrap_or(Ok(None))
            }
            Some((source, Chunks::Here(reader))) => {
                reader.next(&self.sources[*source], self.cutter, self.control)
            }
            None => Ok(None),
        }
    }

    fn start(&self, start: Cursor) -> Result<Chunks> {
        let (source, cutter, control) = (&self.sources[start.source], self.cutter, self.control);
        let (sender, receiver) = sync_channel(BLOCKS_AHEAD);
        let read = move || {
            let mut reader = match StreamReader::open(source, start, control) {
                Ok(reader) => reader,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let chunk = reader.next(source, cutter, control);
                let is_last = !matches!(chunk, Ok(Some(_)));
                // After a failure of the run, nobody receives.
                if sender.send(chunk).is_err() || is_last {
                    return;
                }
            }
        };
        if workers::start(self.scope, read).is_some() {
            return Ok(Chunks::Thread(receiver));
        }
        let reader = StreamReader::open(source, start, control)?;
        Ok(Chunks::Here(Box::new(reader)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor as Bytes, Write};
    use std::sync::Arc;

    use super::super::stamp::Stamp;
    use super::*;
    use crate::random::Random;

    fn options(separator: &str, chunk_bytes: u64) -> ReadOptions {
        let separator = Some(separator.to_owned());
        ReadOptions { separator, chunk_bytes, at_characters: true, ..ReadOptions::default() }
    }

    /// Joins the parts of each document.
    fn joined(parts: impl Iterator<Item = (String, bool)>) -> Vec<String> {
        let (mut documents, mut open) = (Vec::new(), String::new());
        for (text, ends) in parts {
            open += &text;
            if ends {
                documents.push(std::mem::take(&mut open));
            }
        }
        assert!(open.is_empty());
        documents
    }

    /// Reads a text as a stream with chunks of a size.
    fn of_stream(text: &str, options: ReadOptions) -> Vec<String> {
        let bytes = text.as_bytes().to_vec();
        let open = move || Ok(Box::new(Bytes::new(bytes.clone())) as crate::source::AnyRead);
        let source = InputFile { open: Some(Arc::new(open)), ..InputFile::text("text".into()) };
        let control = Control::none();
        let mut reader = DocumentReader::open(source, options, &control).unwrap();
        let parts = std::iter::from_fn(|| reader.next(None, &control).unwrap());
        joined(parts.flatten().map(|part| (part.text, part.ends)))
    }

    /// Reads it as a file.
    fn of_file(text: &str, options: &ReadOptions) -> Vec<String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let seen = Stamp::of(&file.as_file().metadata().unwrap());
        let sources = [InputFile { seen, ..InputFile::text(file.path().to_owned()) }];
        let (cutter, control) = (ChunkCutter::new(options, None), Control::none());
        let (mut at, mut parts, mut read) = (Cursor::default(), Vec::new(), Vec::new());
        while at.offset < text.len() as u64 {
            let file = sources[0].plain().unwrap();
            let end = cutter.end_in_file((&sources[0], file), at, &control).unwrap();
            assert!(end.next > 0);
            file.read_exactly(at.offset, end.end as usize, &mut read).unwrap();
            let mut documents = ChunkDocuments::new(&cutter);
            let ends = (!at.is_inside, end.is_whole);
            assert!(documents.add_chunk(&read, (0, &sources[0]), at.offset, ends).is_ok());
            assert!(end.is_whole || documents.parts.len() == 1, "a document is cut behind another one");
            let text = |part: DocumentPart<'_>| (String::from_utf8_lossy(&part.text).into(), part.ends);
            parts.extend(documents.parts.into_iter().map(text));
            at = Cursor { offset: at.offset + end.next, is_inside: !end.is_whole, ..at };
        }
        joined(parts.into_iter())
    }

    #[test]
    fn documents_are_those_between_separators_for_any_chunks() {
        let mut random = Random::new(7);
        for separator in ["\n", "low", "lolow", "aa", "<é>"] {
            for len in 0..60 {
                let half = separator.char_indices().nth(1).map_or(separator.len(), |(at, _)| at);
                let some = [separator, &separator[..half], &separator[half..], "the low ", "a", "é", "中😀"];
                let text: String = (0..len).map(|_| some[random.below(some.len())]).collect();
                let expected: Vec<&str> = text.split(separator).filter(|part| !part.is_empty()).collect();
                for chunk_bytes in [1, 2, 3, 7, 50, 1000] {
                    let options = options(separator, chunk_bytes);
                    assert_eq!(of_file(&text, &options), expected, "{text:?} {chunk_bytes}");
                    assert_eq!(of_stream(&text, options), expected, "{text:?} {chunk_bytes}");
                }
            }
        }
    }
}
