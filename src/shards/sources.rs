//! The sources of a run, and places in them.

use std::io::Read;
use std::sync::Arc;

use crate::source::{Compression, DocumentFormat, InputFile};

/// Opens what has no path, such as a file on another machine.
pub type Opener = Arc<dyn Fn() -> std::io::Result<Box<dyn Read + Send>> + Send + Sync>;

/// A file, or what is read like one.
#[derive(Clone)]
pub struct Source {
    /// What is known of it. Its path is its name in errors.
    pub file: InputFile,
    /// Opens the source if it is no file of this machine.
    pub open: Option<Opener>,
}

impl Source {
    /// Whether the source can be read at any offset. It then has a stamp.
    pub(super) fn is_plain(&self) -> bool {
        self.open.is_none() && self.file.compression == Compression::None && self.file.seen.is_some()
    }

    /// The field of the text, if each line is a record.
    pub(super) fn field(&self) -> Option<&str> {
        match &self.file.records {
            DocumentFormat::JsonLines(field) => Some(field),
            DocumentFormat::Whole => None,
        }
    }
}

/// A place in the sources, between two jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The index of the source.
    pub source: usize,
    /// Bytes of its contents before the place, decompressed; of texts from the caller, how many there are before it.
    pub offset: u64,
    /// The hash of all that is before the place in this source, if it is a stream without a stamp; else 0.
    pub digest: u64,
    /// Whether a document goes on here.
    pub is_inside: bool,
}

impl Cursor {
    /// The beginning of a source.
    pub(super) fn start_of(source: usize) -> Self {
        Cursor { source, ..Cursor::default() }
    }
}

/// A document that was left out, or that ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The index of its source.
    pub source: usize,
    /// The line, from 1, of a record; of a text from the caller its index; otherwise `None`.
    pub line: Option<u64>,
    /// The offset of the line, or of the first invalid byte.
    pub offset: u64,
    /// What is wrong with a record; `None` for text that is not UTF-8.
    pub reason: Option<String>,
}
