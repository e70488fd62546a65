//! Files and streams in the order in which they are read, places in them, and how they are read.

use std::io::Read;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::broken::too_long;
use super::compression::Compression;
use super::file::PlainFile;
use super::input::{DocumentFormat, InputFile};
use crate::error::Error;

/// Opens a source that has no path, such as a file on another machine.
pub type Opener = Arc<dyn Fn() -> std::io::Result<Box<dyn Read + Send>> + Send + Sync>;

/// A file, or a stream that is read like one.
#[derive(Clone)]
pub struct Source {
    /// What is known of the source. Errors name it by this path.
    pub file: InputFile,
    /// Opens the source if it is not a file of this machine.
    pub open: Option<Opener>,
}

impl Source {
    /// The file, if it can be read at any offset. Files of Linux's /proc have text although their size is given as 0.
    pub(crate) fn plain(&self) -> Option<PlainFile<'_>> {
        let InputFile { path, compression, records, seen, .. } = &self.file;
        let is_packed = *compression != Compression::None || matches!(records, DocumentFormat::Framed(..));
        let stamp = seen.filter(|stamp| stamp.size > 0 && self.open.is_none() && !is_packed)?;
        Some(PlainFile { path, stamp })
    }

    /// The error of a text from this byte on that is longer than the limit.
    pub(super) fn too_long(&self, offset: u64) -> Error {
        let reason = format!("the text at byte {offset}: {}", too_long(self.file.max_record_bytes));
        Error::Unread { path: self.file.path.clone(), reason }
    }

    /// The field of the text, if the source has records.
    pub(crate) fn field(&self) -> Option<&str> {
        self.file.records.field()
    }
}

/// A place in the sources, between two jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cursor {
    /// The index of the source.
    pub source: usize,
    /// Decompressed bytes of the source before the place. For texts of the caller, the number of texts before it.
    pub offset: u64,
    /// The hash of everything before the place in this source, if it is a stream without a stamp; otherwise 0.
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
    /// Whether a text of a stream may be cut after any character. If not, one without a place for a cut is held whole, up
    /// to the limit of its source.
    pub at_characters: bool,
}

impl ReadOptions {
    /// The minimum number of bytes of a chunk; `begins` says whether a document begins in it.
    pub(super) fn min_chunk(&self, begins: bool) -> u64 {
        self.chunk_bytes.max(1).max(if begins { self.first_bytes } else { 0 })
    }
}
