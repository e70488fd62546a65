//! Documents that cannot be read: left out, or the end of the run.

use serde::{Deserialize, Serialize};

use super::input::InputFile;
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

    /// The document at this place, of which a byte so far behind the place is not UTF-8.
    pub(super) fn not_utf8(&self, at: u64) -> Self {
        let at = self.offset + at;
        match self.member {
            Some(_) => Skipped { offset: 0, ..self.because(not_utf8(at)) },
            None => Skipped { offset: at, ..self.clone() },
        }
    }

    /// The document at this place, with what is wrong with it.
    pub(super) fn because(&self, reason: String) -> Self {
        Skipped { reason: Some(reason), ..self.clone() }
    }

    /// Names the place of a text of a table by its row.
    pub(crate) fn name_row(&mut self) {
        if let Some(row) = self.line.take() {
            let offset = std::mem::take(&mut self.offset);
            self.member = Some(format!("row {row}"));
            self.reason.get_or_insert_with(|| not_utf8(offset));
        }
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
            (Some(reason), None, None) => format!("byte {offset}: {reason}"),
            (None, _, Some(number)) if !is_record => format!("text number {number}: {}", not_utf8(offset)),
            (None, ..) => not_utf8(offset),
        };
        file.blame(Error::Unread { path: file.path.clone(), reason })
    }
}
