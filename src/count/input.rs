//! A file to count.

use std::path::PathBuf;

use crate::error::Error;
use crate::source::{Compression, Stamp};

/// Which parts of a file are documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// All of it.
    Whole,
    /// The text under this name in each line, a JSON object.
    JsonLines(String),
}

/// A file to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is compressed.
    pub compression: Compression,
    /// What in it is a document.
    pub records: DocumentFormat,
    /// The bytes of it that are meant; none for all. Of a plain file only, and its ends have to be between documents.
    pub range: Option<(u64, u64)>,
    /// How the file was when it was first looked at; none where that is now.
    pub seen: Option<Stamp>,
}

impl InputFile {
    /// The error to report for a file: where the file has changed meanwhile, that it has.
    pub(super) fn blame(&self, error: Error) -> Error {
        if !matches!(error, Error::NotUtf8 { .. } | Error::Record { .. } | Error::Corrupt { .. }) {
            return error;
        }
        let now = self.seen.and_then(|seen| Some((seen, std::fs::metadata(&self.path).ok()?)));
        match now.map(|(seen, now)| seen.check(&now)) {
            Some(Err(source)) => Error::Io { path: self.path.clone(), source },
            _ => error,
        }
    }
}
