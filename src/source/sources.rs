//! Places in the sources, and how these are read.

use serde::{Deserialize, Serialize};

/// A place in the sources, between two jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cursor {
    /// The index of the source.
    pub source: usize,
    /// Decompressed bytes of the source before the place. For texts of the caller, the number of texts before
    /// it.
    pub offset: u64,
    /// The hash of everything before the place in this source, if it is a stream without a stamp; otherwise
    /// 0.
    pub digest: u64,
    /// Whether the place is inside a document.
    pub is_inside: bool,
}

impl Cursor {
    /// The beginning of a source.
    pub(crate) fn start_of(source: usize) -> Self {
        Cursor { source, ..Cursor::default() }
    }
}

/// How sources are cut into documents and chunks.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether invalid UTF-8 is read as U+FFFD.
    pub replace: bool,
    /// Whether a document that cannot be read is left out. If not, it ends the run.
    pub skip: bool,
    /// What separates the documents of a text file. Without a separator the whole file is one document.
    pub separator: Option<String>,
    /// About how many bytes of text a worker takes at a time.
    pub chunk_bytes: u64,
    /// The minimum number of bytes of a chunk in which a document begins.
    pub first_bytes: u64,
    /// How many streams are read ahead, each by a thread.
    pub streams: usize,
    /// Whether a text of a stream may be cut after any character. If not, one without a place for a cut is
    /// held whole, up to the limit of its source.
    pub at_characters: bool,
}

impl ReadOptions {
    /// The minimum number of bytes of a chunk; `begins` says whether a document begins in it.
    pub(super) fn min_chunk(&self, begins: bool) -> u64 {
        self.chunk_bytes.max(1).max(if begins { self.first_bytes } else { 0 })
    }
}
