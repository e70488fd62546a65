//! The description of a file to read, of places in files, and of how they are read.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::broken::too_long;
use super::compression::{AnyRead, Compression};
use super::file::PlainFile;
use super::kinds::Format;
use super::stamp::Stamp;
use crate::error::Error;

/// The fields of a record that hold its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Their names; `a.b` is the field `b` of the object in `a`. None: the whole record, as JSON, is the
    /// text.
    pub names: Vec<String>,
    /// What joins their texts.
    pub separator: String,
}

impl From<&str> for Fields {
    fn from(name: &str) -> Self {
        Fields { names: vec![name.to_owned()], separator: String::new() }
    }
}

/// Which parts of a file are documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// The whole file is one document.
    Whole,
    /// Each line is a JSON object, and the text in these fields is a document.
    JsonLines(Fields),
    /// The file is a container, and its documents are read as frames ([`super::frames`]): texts, and JSON
    /// objects with the text in these fields.
    Framed(Format, Fields),
}

impl DocumentFormat {
    /// The documents of a format; `fields` have the text of a record. The caller reads tables.
    pub fn of(format: Option<Format>, fields: Fields) -> Self {
        match format {
            None | Some(Format::Text | Format::Parquet | Format::Arrow) => DocumentFormat::Whole,
            Some(Format::JsonLines) => DocumentFormat::JsonLines(fields),
            Some(format) => DocumentFormat::Framed(format, fields),
        }
    }
}

/// Opens a source that has no path, such as a file on another machine.
pub type Opener = Arc<dyn Fn() -> std::io::Result<AnyRead> + Send + Sync>;

/// A file to read, or a stream that is read like one.
#[derive(Clone)]
pub struct InputFile {
    /// The path of the file. Errors name it.
    pub path: PathBuf,
    /// Opens the source if it is not a file of this machine.
    pub open: Option<Opener>,
    /// The compression of the file.
    pub compression: Compression,
    /// Which parts of the file are documents.
    pub records: DocumentFormat,
    /// The stamp of the file from when it was first seen; `None` if it is taken when the file is opened.
    pub seen: Option<Stamp>,
    /// Whether the documents were found by looking at the file, or chosen. If not, text is checked when it is
    /// read.
    pub is_certain: bool,
    /// The maximum number of bytes of a record, or of a document that has to be held whole.
    pub max_record_bytes: u64,
}

/// The default of [`InputFile::max_record_bytes`].
pub const MAX_RECORD_BYTES: u64 = 1_000_000_000;

impl InputFile {
    /// A file of plain text, a document.
    pub fn text(path: PathBuf) -> Self {
        let (compression, records) = (Compression::None, DocumentFormat::Whole);
        let max_record_bytes = MAX_RECORD_BYTES;
        InputFile { path, open: None, compression, records, seen: None, is_certain: true, max_record_bytes }
    }

    /// The file, if it can be read at any offset. Files of Linux's /proc have text although their size is
    /// given as 0.
    pub(crate) fn plain(&self) -> Option<PlainFile<'_>> {
        let is_framed = matches!(self.records, DocumentFormat::Framed(..));
        let is_plain = self.open.is_none() && self.compression == Compression::None && !is_framed;
        let stamp = self.seen.filter(|stamp| is_plain && stamp.size > 0)?;
        Some(PlainFile { path: &self.path, stamp })
    }

    /// Whether documents are records; otherwise the file is one.
    pub(crate) fn has_records(&self) -> bool {
        self.records != DocumentFormat::Whole
    }

    /// The error of a text from this byte on that is longer than the limit.
    pub(super) fn too_long(&self, offset: u64) -> Error {
        let reason = format!("the text at byte {offset}: {}", too_long(self.max_record_bytes));
        Error::Unread { path: self.path.clone(), reason }
    }

    /// The error to report for a file. If the file has changed, that is the error, since the change may have
    /// caused the other one.
    pub(crate) fn blame(&self, error: Error) -> Error {
        if !matches!(error, Error::Unread { .. }) {
            return error;
        }
        let now = self.seen.and_then(|seen| Some((seen, std::fs::metadata(&self.path).ok()?)));
        match now.map(|(seen, now)| seen.check(&now)) {
            Some(Err(source)) => Error::Io { path: self.path.clone(), source },
            _ => error,
        }
    }
}

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
