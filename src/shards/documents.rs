//! Encodes the documents of a job.

use std::borrow::Cow;
use std::sync::Arc;

use xxhash_rust::xxh64::xxh64;

use super::cuts::ChunkCutter;
use super::encoded::Encoded;
use super::encoder::DocumentEncoder;
use super::options::{HASHED_BYTES, ShardOptions};
use super::plan::{Chunk, ChunkJob, Job, JobKind};
use super::sources::{Skipped, Source};
use super::special::SpecialIds;
use crate::control::Control;
use crate::encode::put_ids;
use crate::error::{Error, Result};
use crate::room;
use crate::simd::Isa;
use crate::source::{Flaw, Record, Records, SourceFile, not_utf8, too_long};
use crate::workers::BufferPool;

/// The minimum number of bytes of text that are encoded together, unless fewer are left: few enough that their ids
/// are still in near memory when they become bytes.
const GROUP_BYTES: usize = 64 << 10;

/// A batch of texts that the caller made.
pub trait TextBatch: Send {
    /// The texts, in order; they need not be UTF-8.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::BrokenArrow`].
    fn texts(&self) -> Result<Vec<&[u8]>>;
    /// The number of bytes of the source that these texts were made from, for the progress display.
    fn progress(&self) -> u64;
}

/// Encodes jobs.
pub(super) struct Documents<'a> {
    encoder: &'a DocumentEncoder,
    sources: &'a [Source],
    cutter: &'a ChunkCutter<'a>,
    options: &'a ShardOptions,
    isa: Isa,
    special_ids: SpecialIds,
    /// For the bytes of a part of a file.
    reads: BufferPool<u8>,
    /// For the ids of documents that are encoded together.
    ids: BufferPool<u32>,
}

/// A document, or a part of it.
struct DocumentPart<'t> {
    text: Cow<'t, [u8]>,
    begins: bool,
    ends: bool,
}

impl<'t> DocumentPart<'t> {
    fn whole(text: Cow<'t, [u8]>) -> Self {
        DocumentPart { text, begins: true, ends: true }
    }
}

impl<'a> Documents<'a> {
    pub(super) fn new(
        encoder: &'a DocumentEncoder,
        sources: &'a [Source],
        cutter: &'a ChunkCutter<'a>,
        options: &'a ShardOptions,
    ) -> Self {
        // A document that cannot be cut may need far more room, which is freed after it.
        let reads = BufferPool::up_to(options.chunk_bytes.saturating_mul(2) as usize);
        let ids = BufferPool::up_to(4 * GROUP_BYTES);
        let special_ids = SpecialIds::new(&options.special_ids);
        Documents { encoder, sources, cutter, options, isa: Isa::best(), special_ids, reads, ids }
    }

    /// The ids of a job.
    pub(super) fn encode<T: TextBatch>(
        &self,
        worker: usize,
        job: Job<T>,
        control: &Control,
    ) -> Result<Encoded> {
        let mut encoded = Encoded::new(self.options.splits.len(), job.end);
        match job.what {
            JobKind::Chunks(chunks) => {
                for chunk in chunks {
                    encoded.begin(chunk.source);
                    self.reads.with(|read| self.chunk(worker, chunk, read, &mut encoded, control))?;
                    if encoded.failure.is_some() {
                        break;
                    }
                }
            }
            JobKind::Texts { source, first, texts } => {
                encoded.begin(source);
                let mut parts = Vec::new();
                for (number, text) in (first..).zip(texts.texts()?) {
                    let place = (source, Some(number), 0);
                    if self.add(text, place, (true, true), &mut parts, &mut encoded).is_err() {
                        break;
                    }
                }
                self.parts(worker, parts, &mut encoded, control)?;
                control.advance(texts.progress());
            }
        }
        Ok(encoded)
    }

    fn chunk(
        &self,
        worker: usize,
        job: ChunkJob,
        read: &mut Vec<u8>,
        encoded: &mut Encoded,
        control: &Control,
    ) -> Result<()> {
        let ChunkJob { source: number, chunk, begins, ends } = job;
        let source = &self.sources[number];
        let block;
        let (bytes, offset) = match chunk {
            Chunk::File => {
                let file = self.open(source, control)?;
                file.read_exactly(0, file.size as usize, read)?;
                control.advance(file.size);
                (&*read, 0)
            }
            Chunk::Part { file, start, end } => {
                file.read_exactly(start, (end - start) as usize, read)?;
                control.advance(end - start);
                (&*read, start)
            }
            Chunk::Block { bytes, offset } => {
                block = bytes;
                (&block, offset)
            }
            Chunk::Invalid(skipped) => {
                encoded.skipped.push(skipped);
                return Ok(());
            }
        };
        let mut parts = Vec::new();
        let outcome = match source.field() {
            Some(field) => self.records(bytes, (number, field, offset), &mut parts, encoded),
            None => self.texts(bytes, (number, offset), (begins, ends), &mut parts, encoded),
        };
        if let Err(failure) = outcome {
            encoded.failure = Some(failure);
            return Ok(());
        }
        self.parts(worker, parts, encoded, control)
    }

    /// Opens a small file. Reading it checks its stamp.
    fn open(&self, source: &Source, control: &Control) -> Result<Arc<SourceFile>> {
        let file = &source.file;
        match file.seen {
            Some(stamp) if stamp.size > 0 => Ok(Arc::new(SourceFile::of_stamp(&file.path, stamp))),
            seen => SourceFile::open(&file.path, seen, control).map(Arc::new),
        }
    }

    /// Appends the documents of lines of JSON, or of frames, to `parts`.
    fn records<'t>(
        &self,
        bytes: &'t [u8],
        (source, field, offset): (usize, &str, u64),
        parts: &mut Vec<DocumentPart<'t>>,
        encoded: &mut Encoded,
    ) -> std::result::Result<(), Skipped> {
        let mut records = Records::new(bytes, &self.sources[source].file, offset);
        for record in records.by_ref() {
            if record.is_text {
                let before = encoded.skipped.len();
                let done = self.texts(record.bytes, (source, 0), (true, true), parts, encoded);
                encoded.skipped[before..].iter_mut().for_each(|skipped| place_in(skipped, &record));
                done.map_err(|mut wrong| {
                    place_in(&mut wrong, &record);
                    wrong
                })?;
                continue;
            }
            match record.text(field, self.options.replace) {
                Ok(text) => parts.push(DocumentPart::whole(text)),
                // It may go on in the next block.
                Err(flaw @ Flaw::TooLong(_)) => return Err(skipped(source, &record, flaw)),
                Err(flaw) => self.refuse(skipped(source, &record, flaw), encoded)?,
            }
        }
        if let Some(count) = encoded.counts.last_mut() {
            count.lines += records.lines;
        }
        Ok(())
    }

    /// Appends the documents of a chunk of text to `parts`.
    fn texts<'t>(
        &self,
        bytes: &'t [u8],
        (source, offset): (usize, u64),
        (begins, ends): (bool, bool),
        parts: &mut Vec<DocumentPart<'t>>,
        encoded: &mut Encoded,
    ) -> std::result::Result<(), Skipped> {
        let Some(separator) = &self.cutter.separator else {
            return self.add(bytes, (source, None, offset), (begins, ends), parts, encoded);
        };
        let mut texts = separator.split(bytes).peekable();
        let mut is_first = true;
        while let Some(text) = texts.next() {
            let (begins, ends) = (begins || !is_first, ends || texts.peek().is_some());
            is_first = false;
            // There is no document between two separators in a row, before one that begins the text, or after one
            // that ends it.
            if begins && ends && text.is_empty() {
                continue;
            }
            let at = offset + (text.as_ptr() as usize - bytes.as_ptr() as usize) as u64;
            self.add(text, (source, None, at), (begins, ends), parts, encoded)?;
        }
        Ok(())
    }

    /// Adds a document, or a part of one, if it is valid UTF-8 or may be repaired.
    fn add<'t>(
        &self,
        text: &'t [u8],
        (source, line, offset): (usize, Option<u64>, u64),
        (begins, ends): (bool, bool),
        parts: &mut Vec<DocumentPart<'t>>,
        encoded: &mut Encoded,
    ) -> std::result::Result<(), Skipped> {
        let text = if simdutf8::basic::from_utf8(text).is_ok() {
            Cow::Borrowed(text)
        } else if self.options.replace {
            Cow::Owned(String::from_utf8_lossy(text).into_owned().into_bytes())
        } else {
            let valid = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
            let mut wrong = Skipped { line, ..Skipped::invalid(source, offset + valid as u64) };
            if self.options.skip && !(begins && ends) {
                wrong.reason = Some(LONG_INVALID.to_owned());
                return Err(wrong);
            }
            return self.refuse(wrong, encoded);
        };
        parts.push(DocumentPart { text, begins, ends });
        Ok(())
    }

    /// Leaves a document out, or ends the run if documents may not be skipped.
    fn refuse(&self, wrong: Skipped, encoded: &mut Encoded) -> std::result::Result<(), Skipped> {
        if !self.options.skip {
            encoded.failure = Some(wrong.clone());
            return Err(wrong);
        }
        encoded.skipped.push(wrong);
        Ok(())
    }

    /// Encodes documents, and adds their ids.
    fn parts(
        &self,
        worker: usize,
        parts: Vec<DocumentPart<'_>>,
        encoded: &mut Encoded,
        control: &Control,
    ) -> Result<()> {
        if encoded.failure.is_some() {
            return Ok(());
        }
        let bytes: usize = parts.iter().map(|part| part.text.len()).sum();
        if let [all] = &mut encoded.parts[..] {
            let ShardOptions { prepend, append, .. } = self.options;
            let added = parts.len() * (prepend.len() + append.len());
            room::reserve(&mut all.bytes, self.options.width() as usize * (bytes / 2 + added))?;
        }
        let (mut ids, mut ends) = (self.ids.take(), Vec::new());
        let mut group_bytes = 0;
        let groups = parts.chunk_by(|part, _| {
            group_bytes += part.text.len();
            let is_full = group_bytes >= GROUP_BYTES;
            if is_full {
                group_bytes = 0;
            }
            !is_full
        });
        for group in groups {
            let texts: Vec<&[u8]> = room::collected(group.iter().map(|part| &*part.text))?;
            ids.clear();
            ends.clear();
            self.encoder.encode(worker, &texts, &mut ids, &mut ends, control)?;
            encoded.special_tokens += self.special_ids.count(&ids);
            let mut start = 0;
            for (part, &end) in group.iter().zip(&ends) {
                self.put(part, &ids[start..end], encoded)?;
                start = end;
            }
        }
        self.ids.give_back(ids);
        encoded.text_bytes += bytes as u64;
        Ok(())
    }

    /// Adds the ids of a document to those of its split.
    fn put(&self, part: &DocumentPart<'_>, ids: &[u32], encoded: &mut Encoded) -> Result<()> {
        let ShardOptions { wide, prepend, append, .. } = self.options;
        let append: &[u32] = if part.ends { append } else { &[] };
        if !part.begins {
            let head = encoded.head.get_or_insert_default();
            put_ids(self.isa, ids, *wide, &mut head.bytes)?;
            put_ids(self.isa, append, *wide, &mut head.bytes)?;
            head.ends = part.ends;
            return Ok(());
        }
        let split = self.split_of(&part.text);
        let of_split = &mut encoded.parts[split];
        for ids in [prepend, ids, append] {
            put_ids(self.isa, ids, *wide, &mut of_split.bytes)?;
        }
        room::push(&mut of_split.lengths, (prepend.len() + ids.len() + append.len()) as u64)?;
        if self.options.splits.len() > 1 {
            room::push(&mut encoded.order, split as u8)?;
        }
        encoded.open = (!part.ends).then_some(split);
        if let Some(count) = encoded.counts.last_mut() {
            count.documents += 1;
        }
        Ok(())
    }

    /// The split of the document that begins with `text`.
    fn split_of(&self, text: &[u8]) -> usize {
        let splits = &self.options.splits;
        if splits.len() == 1 {
            return 0;
        }
        let hash = xxh64(&text[..text.len().min(HASHED_BYTES)], self.options.seed);
        splits.iter().position(|split| hash < split.below).unwrap_or(splits.len() - 1)
    }
}

/// Why an invalid document ends the run although invalid documents are to be skipped.
const LONG_INVALID: &str = "the document is not UTF-8 and too long to be left out, since it is read in parts: \
                            decompress the file, or give errors=\"replace\"";

/// Gives a text of a container, which is not UTF-8, its place.
fn place_in(skipped: &mut Skipped, record: &Record<'_>) {
    skipped.member = record.member.map(str::to_owned);
    skipped.reason = Some(not_utf8(std::mem::take(&mut skipped.offset)));
}

/// A record that has no text.
fn skipped(source: usize, record: &Record<'_>, flaw: Flaw) -> Skipped {
    let member = record.member.map(str::to_owned);
    let line = member.is_none().then_some(record.line);
    let (offset, reason) = match flaw {
        Flaw::NotUtf8(at) if member.is_some() => (0, Some(not_utf8(at))),
        Flaw::NotUtf8(at) => (record.start + at, None),
        Flaw::NoText(reason) => (record.offset, Some(reason)),
        Flaw::TooLong(limit) => (record.offset, Some(too_long(limit))),
    };
    Skipped { source, line, offset, member, reason }
}

/// The error of a document that ends the run.
pub(super) fn error_of(failure: Skipped, sources: &[Source]) -> Error {
    let file = &sources[failure.source].file;
    let path = file.path.clone();
    let error = match failure.reason {
        Some(reason) if failure.member.is_some() => {
            Error::Record { path, place: failure.member.unwrap_or_default(), reason }
        }
        Some(reason) if failure.line.is_none() => {
            Error::Io { path, source: std::io::Error::new(std::io::ErrorKind::InvalidData, reason) }
        }
        Some(reason) => {
            let place = format!("line {} (byte {})", failure.line.unwrap_or(0), failure.offset);
            Error::Record { path, place, reason }
        }
        None => {
            let mut name = path.into_os_string();
            if let Some(number) = failure.line.filter(|_| sources[failure.source].field().is_none()) {
                name.push(format!(": text number {number}"));
            }
            Error::NotUtf8 { name: name.into(), offset: failure.offset }
        }
    };
    file.blame(error)
}
