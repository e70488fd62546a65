//! Documents that cannot be read: left out, or the end of the run.

use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

use super::input::InputFile;
use super::records::{Flaw, Record};
use crate::error::{Error, not_utf8};

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
    pub(crate) fn invalid(source: usize, offset: u64) -> Self {
        Skipped { source, line: None, offset, member: None, reason: None }
    }

    /// A record that has no text.
    pub(crate) fn record(source: usize, record: &Record<'_>, flaw: Flaw) -> Self {
        let member = record.member.map(str::to_owned);
        let line = member.is_none().then_some(record.line);
        let (offset, reason) = match flaw {
            Flaw::NotUtf8(at) if member.is_some() => (0, Some(not_utf8(at))),
            Flaw::NotUtf8(at) => (record.start + at, None),
            Flaw::NoText(reason) => (record.offset, Some(reason)),
        };
        Skipped { source, line, offset, member, reason }
    }

    /// Replaces the line of a record, which counts from the beginning of its chunk, by the one in its file,
    /// which has so many lines before the chunk.
    pub(crate) fn after_lines(self, before: u64, file: &InputFile) -> Self {
        let line = self.line.map(|line| if file.has_records() { line + before } else { line });
        Skipped { line, ..self }
    }

    /// The error of the document, in this file.
    pub(crate) fn error(self, file: &InputFile) -> Error {
        let Skipped { line, offset, member, reason, .. } = self;
        let is_record = file.has_records();
        let reason = match (reason, member, line) {
            (Some(reason), Some(place), _) => format!("{place}: {reason}"),
            (Some(reason), None, Some(number)) if !is_record => format!("text number {number}: {reason}"),
            (Some(reason), None, Some(line)) => format!("line {line} (byte {offset}): {reason}"),
            (Some(reason), None, None) => {
                return Error::io(&file.path)(std::io::Error::new(ErrorKind::InvalidData, reason));
            }
            (None, _, Some(number)) if !is_record => format!("text number {number}: {}", not_utf8(offset)),
            (None, ..) => not_utf8(offset),
        };
        file.blame(Error::Unread { path: file.path.clone(), reason })
    }
}
