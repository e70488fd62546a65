//! The sources of a run, and places in them.

use std::io::Read;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::source::{Compression, DocumentFormat, InputFile, too_long};

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
    /// Whether the source can be read at any offset. Such a source has a stamp.
    pub(super) fn is_plain(&self) -> bool {
        let is_framed = matches!(self.file.records, DocumentFormat::Framed(..));
        let is_packed = self.file.compression != Compression::None || is_framed;
        self.open.is_none() && !is_packed && self.file.seen.is_some()
    }

    /// The error of a text from this byte on that is longer than the limit.
    pub(super) fn too_long(&self, offset: u64) -> Error {
        let reason = too_long(self.file.max_record_bytes);
        Error::Record { path: self.file.path.clone(), place: format!("the text at byte {offset}"), reason }
    }

    /// The field of the text, if the source has records.
    pub(super) fn field(&self) -> Option<&str> {
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
    pub(super) fn start_of(source: usize) -> Self {
        Cursor { source, ..Cursor::default() }
    }
}

/// A document that was left out, or that ends the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    /// The index of its source.
    pub source: usize,
    /// The line of a record, from 1, or the index of a text of the caller; `None` for any other source.
    pub line: Option<u64>,
    /// The offset of the line, or of the first invalid byte.
    pub offset: u64,
    /// The place in a container.
    pub member: Option<String>,
    /// What is wrong with a record; `None` for text that is not UTF-8.
    pub reason: Option<String>,
}

impl Skipped {
    /// A text of a file that is not UTF-8 at a byte.
    pub(super) fn invalid(source: usize, offset: u64) -> Self {
        Skipped { source, line: None, offset, member: None, reason: None }
    }
}
