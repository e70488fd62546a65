//! The description of a file to read.

use std::path::PathBuf;

use super::compression::Compression;
use super::kinds::Format;
use super::stamp::Stamp;
use crate::error::Error;

/// Which parts of a file are documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// The whole file is one document.
    Whole,
    /// Each line is a JSON object, and the string in its field of this name is a document.
    JsonLines(String),
    /// The file is a container, and its documents are read as frames ([`super::frames`]): texts, and JSON objects with
    /// the text in this field.
    Framed(Format, String),
}

impl DocumentFormat {
    /// The documents of a format; `field` has the text of a record. The caller reads tables.
    pub fn of(format: Option<Format>, field: String) -> Self {
        match format {
            None | Some(Format::Text | Format::Parquet | Format::Arrow) => DocumentFormat::Whole,
            Some(Format::JsonLines) => DocumentFormat::JsonLines(field),
            Some(format) => DocumentFormat::Framed(format, field),
        }
    }

    /// The field of the text in records; `None` for a file that is a document.
    pub(crate) fn field(&self) -> Option<&str> {
        match self {
            DocumentFormat::Whole => None,
            DocumentFormat::JsonLines(field) | DocumentFormat::Framed(_, field) => Some(field),
        }
    }
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The compression of the file.
    pub compression: Compression,
    /// Which parts of the file are documents.
    pub records: DocumentFormat,
    /// The stamp of the file from when it was first seen; `None` if it is taken when the file is opened.
    pub seen: Option<Stamp>,
    /// Whether the documents were found by looking at the file, or chosen. If not, text is checked when it is read.
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
        InputFile { path, compression, records, seen: None, is_certain: true, max_record_bytes }
    }

    /// The error to report for a file. If the file has changed, that is the error, since the change may have caused
    /// the other one.
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
