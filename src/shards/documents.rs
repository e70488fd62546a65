//! Encodes the documents of a job.

use std::sync::Arc;

use xxhash_rust::xxh64::xxh64;

use super::conversations::{Conversations, EncodedRecord, RecordReader};
use super::options::{HASHED_BYTES, ShardOptions};
use super::special_ids::SpecialIds;
use crate::arrow::Column;
use crate::control::Control;
use crate::encode::{Encoder, put_ids};
use crate::error::{Error, Result};
use crate::room;
use crate::simd::Isa;
use crate::source::{Chunk, ChunkCutter, ChunkDocuments, ChunkJob, Cursor, DocumentPart, InputFile, Skipped};
use crate::workers::BufferPool;

/// The minimum number of bytes of text that are encoded together, unless fewer are left: few enough that
/// their ids are still in near memory when they become bytes.
const GROUP_BYTES: usize = 64 << 10;

/// A batch of texts that the caller made.
pub trait TextBatch: Send {
    /// The texts, in order; they need not be UTF-8. `None` for a row of a table that has none.
    fn texts(&self) -> Result<Vec<Option<&[u8]>>>;
    /// What is wrong with a row that has no text; empty if the texts are not the rows of a table.
    fn null_reason(&self) -> &str {
        ""
    }
}

impl<T: AsRef<[u8]> + Send + Sync> TextBatch for Arc<[T]> {
    fn texts(&self) -> Result<Vec<Option<&[u8]>>> {
        room::collected(self.iter().map(|text| Some(text.as_ref())))
    }
}

/// A column, and what is wrong with a row that has no text.
impl TextBatch for (Arc<Column>, String) {
    fn texts(&self) -> Result<Vec<Option<&[u8]>>> {
        let texts = self.0.texts()?;
        let rows = texts.texts.iter().enumerate();
        room::collected(rows.map(|(row, text)| texts.is_valid(row).then_some(*text)))
    }

    fn null_reason(&self) -> &str {
        &self.1
    }
}

/// Texts that the caller made, all from one source.
pub struct TextJob {
    /// The place of the first text: its source, and its number there.
    pub begin: Cursor,
    /// The texts.
    pub texts: Box<dyn TextBatch>,
    /// The number of bytes of the source that these texts were made from, for the progress display.
    pub progress: u64,
    /// The place in the sources after the texts.
    pub end: Cursor,
}

/// What a worker takes at a time.
pub(super) enum Job {
    /// Chunks, and the place in the sources after them.
    Chunks(Vec<ChunkJob>, Cursor),
    Texts(TextJob),
}

/// The ids of documents of one split, one document after the other.
#[derive(Debug, Default)]
pub(super) struct SplitIds {
    /// The ids, little-endian, each with a byte of its mask behind it if there are masks.
    pub(super) bytes: Vec<u8>,
    /// The number of ids of each document.
    pub(super) lengths: Vec<u64>,
}

/// The rest of a document that began in an earlier job.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) bytes: Vec<u8>,
    /// Whether the document ends here.
    pub(super) ends: bool,
}

/// How many documents and lines of one source are in a job.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SourceCount {
    pub(super) source: usize,
    /// Documents of the source that begin in the job.
    pub(super) documents: u64,
    /// Ends of lines of the source in the job.
    pub(super) lines: u64,
}

/// The ids of a job.
#[derive(Debug, Default)]
pub(super) struct Encoded {
    pub(super) head: Option<Head>,
    /// One for each split.
    pub(super) parts: Vec<SplitIds>,
    /// The split of each document that begins in the job, in order. Empty if there is only one split.
    pub(super) order: Vec<u8>,
    /// The split of the last document, if that document continues in the next job.
    pub(super) open: Option<usize>,
    pub(super) counts: Vec<SourceCount>,
    /// Documents that were left out. Their line numbers count from the beginning of the chunk.
    pub(super) skipped: Vec<Skipped>,
    /// The document that ends the run.
    pub(super) failure: Option<Skipped>,
    /// Bytes of the text of all documents.
    pub(super) text_bytes: u64,
    /// Ids of special tokens that stood in the text.
    pub(super) special_tokens: u64,
    /// Ids that a model is trained on.
    pub(super) trained: u64,
    /// The place in the sources after the job.
    pub(super) end: Cursor,
}

impl Encoded {
    pub(super) fn new(splits: usize, end: Cursor) -> Self {
        let parts = (0..splits).map(|_| SplitIds::default()).collect();
        Encoded { parts, end, ..Encoded::default() }
    }

    /// Begins the counts of a source.
    pub(super) fn begin(&mut self, source: usize) {
        self.counts.push(SourceCount { source, ..SourceCount::default() });
    }
}

/// Encodes jobs.
pub(super) struct Documents<'a> {
    encoder: &'a Encoder,
    /// How records become documents; `None` if documents are texts.
    conversations: Option<Conversations<'a>>,
    sources: &'a [InputFile],
    cutter: &'a ChunkCutter<'a>,
    options: &'a ShardOptions,
    isa: Isa,
    special_ids: SpecialIds,
    /// For the bytes of a part of a file.
    reads: BufferPool<u8>,
    /// For the ids of documents that are encoded together.
    ids: BufferPool<u32>,
}

impl<'a> Documents<'a> {
    pub(super) fn new(
        encoder: &'a Encoder,
        sources: &'a [InputFile],
        cutter: &'a ChunkCutter<'a>,
        options: &'a ShardOptions,
        reader: Option<&'a RecordReader>,
    ) -> Self {
        // A document that cannot be cut may need far more room, which is freed after it.
        let reads = BufferPool::up_to(options.chunk_bytes.saturating_mul(2) as usize);
        let ids = BufferPool::up_to(4 * GROUP_BYTES);
        let special_ids = SpecialIds::new(&options.special_ids);
        let (isa, special) = (Isa::best(), options.special);
        let conversations = options.training.as_ref().zip(reader).map(|(training, read)| Conversations {
            encoder,
            read,
            training,
            special,
            special_ids: special_ids.clone(),
        });
        Documents { encoder, conversations, sources, cutter, options, isa, special_ids, reads, ids }
    }

    /// The ids of a job.
    pub(super) fn encode(&self, worker: usize, job: Job, control: &Control) -> Result<Encoded> {
        let splits = self.options.splits.len();
        match job {
            Job::Chunks(chunks, end) => {
                let mut encoded = Encoded::new(splits, end);
                for chunk in chunks {
                    encoded.begin(chunk.source);
                    self.reads.with(|read| self.chunk(worker, chunk, read, &mut encoded, control))?;
                    if encoded.failure.is_some() {
                        break;
                    }
                }
                Ok(encoded)
            }
            Job::Texts(TextJob { begin: Cursor { source, offset, .. }, texts, progress, end }) => {
                let mut encoded = Encoded::new(splits, end);
                encoded.begin(source);
                let mut documents = self.new_documents();
                let mut numbered = (offset..).zip(texts.texts()?);
                let added = numbered.try_for_each(|(number, text)| match text {
                    Some(text) => documents.add_own(text, source, number),
                    None => documents.add_null(source, number, texts.null_reason()),
                });
                self.documents(worker, documents, added.err(), &mut encoded, control)?;
                if !texts.null_reason().is_empty() {
                    encoded.skipped.iter_mut().chain(&mut encoded.failure).for_each(Skipped::name_row);
                }
                control.advance(progress);
                Ok(encoded)
            }
        }
    }

    fn new_documents<'t>(&self) -> ChunkDocuments<'a, 't> {
        let mut documents = ChunkDocuments::new(self.cutter);
        documents.places = self.conversations.as_ref().map(|_| Vec::new());
        documents
    }

    fn chunk(
        &self,
        worker: usize,
        job: ChunkJob,
        read: &mut Vec<u8>,
        encoded: &mut Encoded,
        control: &Control,
    ) -> Result<()> {
        if let Chunk::Invalid(skipped) = job.chunk {
            encoded.skipped.push(skipped);
            return Ok(());
        }
        let source = &self.sources[job.source];
        let (bytes, offset) = job.bytes(source, read, control)?;
        let mut documents = self.new_documents();
        let added = documents.add_chunk(bytes, (job.source, source), offset, (job.begins, job.ends));
        self.documents(worker, documents, added.err(), encoded, control)
    }

    /// Encodes documents, unless there is one that ends the run, and adds their ids.
    fn documents(
        &self,
        worker: usize,
        documents: ChunkDocuments<'_, '_>,
        failure: Option<Skipped>,
        encoded: &mut Encoded,
        control: &Control,
    ) -> Result<()> {
        let ChunkDocuments { parts, skipped, lines, places, .. } = documents;
        let first = encoded.skipped.len();
        encoded.skipped.extend(skipped);
        if let Some(count) = encoded.counts.last_mut() {
            count.lines += lines;
        }
        if let [all] = &mut encoded.parts[..] {
            let ShardOptions { prepend, append, .. } = self.options;
            let bytes: usize = parts.iter().map(|part| part.text.len()).sum();
            let added = parts.len() * (prepend.len() + append.len());
            room::reserve(&mut all.bytes, self.options.stride() as usize * (bytes / 2 + added))?;
        }
        if let Some(conversations) = &self.conversations {
            encoded.failure = self.records(conversations, &parts, places, encoded, control)?.or(failure);
            encoded.skipped[first..].sort_by_key(|skipped| (skipped.line, skipped.offset));
            return Ok(());
        }
        if failure.is_some() {
            encoded.failure = failure;
            return Ok(());
        }
        self.parts(worker, &parts, encoded, control)
    }

    fn parts(
        &self,
        worker: usize,
        parts: &[DocumentPart<'_>],
        encoded: &mut Encoded,
        control: &Control,
    ) -> Result<()> {
        let bytes: usize = parts.iter().map(|part| part.text.len()).sum();
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
            let workers = (worker, self.options.workers);
            self.encoder.encode_documents(
                workers,
                &texts,
                self.options.special,
                &mut ids,
                &mut ends,
                control,
            )?;
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

    /// Encodes records with conversations; returns the first one that ends the run.
    fn records(
        &self,
        conversations: &Conversations<'_>,
        parts: &[DocumentPart<'_>],
        places: Option<Vec<Skipped>>,
        encoded: &mut Encoded,
        control: &Control,
    ) -> Result<Option<Skipped>> {
        for (part, place) in parts.iter().zip(places.unwrap_or_default()) {
            match conversations.encode(&part.text, control) {
                Ok(record) => self.put_record(part, &record, encoded)?,
                Err(Error::Invalid(reason)) => {
                    let skipped = Skipped { reason: Some(reason), ..place };
                    if !self.options.skip {
                        return Ok(Some(skipped));
                    }
                    encoded.skipped.push(skipped);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Adds the ids and the mask of a record to those of its split. What is appended is trained on if the end
    /// of the record is.
    fn put_record(
        &self,
        part: &DocumentPart<'_>,
        record: &EncodedRecord,
        encoded: &mut Encoded,
    ) -> Result<()> {
        let ShardOptions { wide, prepend, append, .. } = self.options;
        let EncodedRecord { ids, mask, text_bytes, special_tokens, trains_end } = record;
        let masked = ids.iter().copied().zip(mask.iter().copied());
        let trains_all = self.options.training.as_ref().is_some_and(|training| training.all);
        let before = prepend.iter().map(|&id| (id, trains_all));
        let masked = before.chain(masked).chain(append.iter().map(|&id| (id, *trains_end)));
        let split = self.split_of(&part.text);
        let bytes = &mut encoded.parts[split].bytes;
        let count = prepend.len() + ids.len() + append.len();
        let (start, size) = (bytes.len(), count * self.options.stride() as usize);
        room::reserve(bytes, size)?;
        bytes.resize(start + size, 0);
        let rows = &mut bytes[start..];
        encoded.trained += if *wide { put_masked::<5>(rows, masked) } else { put_masked::<3>(rows, masked) };
        encoded.text_bytes += text_bytes;
        encoded.special_tokens += special_tokens;
        self.count(part, split, count, encoded)
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
        self.count(part, split, prepend.len() + ids.len() + append.len(), encoded)
    }

    /// Notes a document of a split with so many ids.
    fn count(&self, part: &DocumentPart<'_>, split: usize, ids: usize, encoded: &mut Encoded) -> Result<()> {
        room::push(&mut encoded.parts[split].lengths, ids as u64)?;
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

/// Writes ids, each with its mask behind it, as rows of `STRIDE` bytes; returns how many are trained on.
fn put_masked<const STRIDE: usize>(rows: &mut [u8], ids: impl Iterator<Item = (u32, bool)>) -> u64 {
    let (mut rows, mut trained) = (rows.as_chunks_mut::<STRIDE>().0.iter_mut(), 0);
    // `for_each` makes a loop of each part of a chain.
    ids.for_each(|(id, mask)| {
        if let Some(row) = rows.next() {
            row[..STRIDE - 1].copy_from_slice(&id.to_le_bytes()[..STRIDE - 1]);
            row[STRIDE - 1] = u8::from(mask);
            trained += u64::from(mask);
        }
    });
    trained
}
