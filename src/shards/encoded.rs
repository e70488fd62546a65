//! The ids of a job, as the bytes that shards hold, divided among the splits.

use crate::source::{Cursor, Skipped};

/// The ids of documents of one split, one document after the other.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The ids, little-endian.
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
    pub(super) parts: Vec<Part>,
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
    /// The place in the sources after the job.
    pub(super) end: Cursor,
}

impl Encoded {
    pub(super) fn new(splits: usize, end: Cursor) -> Self {
        let parts = (0..splits).map(|_| Part::default()).collect();
        Encoded { parts, end, ..Encoded::default() }
    }

    /// Begins the counts of a source.
    pub(super) fn begin(&mut self, source: usize) {
        self.counts.push(SourceCount { source, ..SourceCount::default() });
    }
}
