//! The documents in a block of lines of JSON, or of frames.

use std::borrow::Cow;

use super::frames::Frame;
use super::input::{DocumentFormat, InputFile};
use super::records::text_of;
use super::utf8::valid_utf8;
use crate::error::show_text;

/// The records in a block of a file.
pub(crate) struct Records<'b> {
    bytes: &'b [u8],
    is_framed: bool,
    is_valid: bool,
    /// The offset of the block in the file.
    offset: u64,
    at: usize,
    /// Lines that were taken.
    pub(crate) lines: u64,
    max_record_bytes: u64,
}

/// A record: an object of JSON, or a text in a container.
#[derive(Default)]
pub(crate) struct Record<'b> {
    /// The line, or the document in a container.
    pub(crate) bytes: &'b [u8],
    is_valid: bool,
    /// Whether the record is a text.
    pub(crate) is_text: bool,
    /// The number of the line in the block, from 1.
    pub(crate) line: u64,
    /// The offset of the line in the file.
    pub(crate) offset: u64,
    /// The offset of the bytes, which come after a BOM.
    pub(crate) start: u64,
    /// The place in a container.
    pub(crate) member: Option<&'b str>,
    /// The limit that a line is longer than.
    exceeded: Option<u64>,
}

/// What is wrong with a record.
pub(crate) enum Flaw {
    /// A byte of the record is not UTF-8; its offset.
    NotUtf8(u64),
    /// It has no text that can be read; says why.
    NoText(String),
    /// It is longer than this limit, and may not be all there.
    TooLong(u64),
}

impl<'b> Records<'b> {
    /// The records of a block, which begins at an offset in its file and with a line or a frame.
    pub(crate) fn new(bytes: &'b [u8], file: &InputFile, offset: u64) -> Self {
        let is_framed = matches!(file.records, DocumentFormat::Framed(..));
        let is_valid = !is_framed && simdutf8::basic::from_utf8(bytes).is_ok();
        let max_record_bytes = file.max_record_bytes;
        Records { bytes, is_framed, is_valid, offset, at: 0, lines: 0, max_record_bytes }
    }
}

impl<'b> Iterator for Records<'b> {
    type Item = Record<'b>;

    fn next(&mut self) -> Option<Record<'b>> {
        if self.is_framed {
            let (frame, len) = Frame::first(&self.bytes[self.at..])?;
            self.at += len;
            let Frame { place, is_json, bytes } = frame;
            let is_valid = simdutf8::basic::from_utf8(bytes).is_ok();
            let (is_text, member) = (!is_json, Some(place));
            return Some(Record { bytes, is_valid, is_text, member, ..Record::default() });
        }
        while self.at < self.bytes.len() {
            let tail = &self.bytes[self.at..];
            let end = memchr::memchr(b'\n', tail).map_or(tail.len(), |at| at + 1);
            let (mut bytes, offset) = (&tail[..end], self.offset + self.at as u64);
            self.at += end;
            self.lines += 1;
            if offset == 0 {
                bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
            }
            let is_long = bytes.len() as u64 > self.max_record_bytes.saturating_add(1);
            if is_long || !bytes.trim_ascii().is_empty() {
                let (line, is_valid) = (self.lines, self.is_valid);
                let start = offset + (end - bytes.len()) as u64;
                let exceeded = is_long.then_some(self.max_record_bytes);
                return Some(Record { bytes, is_valid, line, offset, start, exceeded, ..Record::default() });
            }
        }
        None
    }
}

impl<'b> Record<'b> {
    /// The text, in UTF-8: all of a text, or the string in a field. With `replace`, invalid bytes and lone surrogates
    /// are read as U+FFFD.
    pub(crate) fn text(&self, field: &str, replace: bool) -> Result<Cow<'b, [u8]>, Flaw> {
        if let Some(limit) = self.exceeded {
            return Err(Flaw::TooLong(limit));
        }
        let text = match self.is_valid {
            true => Cow::Borrowed(self.bytes),
            false => valid_utf8(self.bytes, replace).map_err(Flaw::NotUtf8)?,
        };
        if self.is_text {
            return Ok(text);
        }
        let owned = |text: Cow<'_, str>| text.into_owned().into_bytes();
        let text = match &text {
            Cow::Borrowed(line) => text_of(line, field, replace).map(|text| match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                text => Cow::Owned(owned(text)),
            }),
            Cow::Owned(line) => text_of(line, field, replace).map(|text| Cow::Owned(owned(text))),
        };
        text.map_err(Flaw::NoText)
    }

    /// The string in a field, which is the label of a document.
    pub(crate) fn label(&self, field: &str, replace: bool) -> Result<String, Flaw> {
        if self.is_text {
            return Err(Flaw::NoText(format!("this is a text, and has no field {}", show_text(field))));
        }
        let label = self.text(field, replace).map_err(|flaw| match flaw {
            // The end of the message says how to name the field of the text.
            Flaw::NoText(reason) => Flaw::NoText(reason.split(": name ").next().unwrap_or("").to_owned()),
            other => other,
        })?;
        Ok(String::from_utf8_lossy(&label).into_owned())
    }
}
