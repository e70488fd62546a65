//! The documents of a chunk.

use std::borrow::Cow;

use super::broken::too_long;
use super::chunk_cuts::ChunkCutter;
use super::frames::Frame;
use super::input::{DocumentFormat, Fields, InputFile};
use super::records::Record;
use super::skipped::Skipped;
use super::utf8::valid_utf8;

/// A document, or a part of it.
pub(crate) struct DocumentPart<'t> {
    /// The text, in UTF-8.
    pub(crate) text: Cow<'t, [u8]>,
    pub(crate) begins: bool,
    pub(crate) ends: bool,
}

/// The documents of a chunk, or of texts of the caller.
pub(crate) struct ChunkDocuments<'c, 't> {
    cutter: &'c ChunkCutter<'c>,
    pub(crate) parts: Vec<DocumentPart<'t>>,
    /// Documents that were left out. Their line numbers count from the beginning of the chunk.
    pub(crate) skipped: Vec<Skipped>,
    /// Ends of lines.
    pub(crate) lines: u64,
    /// The field of the label of each document, if labels are wanted.
    pub(crate) label: Option<&'c str>,
    pub(crate) labels: Vec<String>,
    /// The place of each document, if places are wanted: what is to be said if it is left out.
    pub(crate) places: Option<Vec<Skipped>>,
}

/// The error is the document that ends the run.
type Added = Result<(), Skipped>;

/// Why an invalid document ends the run although invalid documents are to be skipped.
const LONG_INVALID: &str = "the document is not UTF-8 and too long to be left out, since it is read in parts: \
                            decompress the file, or give errors=\"replace\"";

impl<'c, 't> ChunkDocuments<'c, 't> {
    pub(crate) fn new(cutter: &'c ChunkCutter<'c>) -> Self {
        let (parts, skipped, labels) = (Vec::new(), Vec::new(), Vec::new());
        ChunkDocuments { cutter, parts, skipped, lines: 0, label: None, labels, places: None }
    }

    fn push(&mut self, part: DocumentPart<'t>, place: impl FnOnce() -> Skipped) {
        self.parts.push(part);
        if let Some(places) = &mut self.places {
            places.push(place());
        }
    }

    /// Adds the documents of a chunk of the source of this number, from an offset on. `begins` and `ends` say
    /// whether its first document begins in it, and its last one ends in it.
    pub(crate) fn add_chunk(
        &mut self,
        bytes: &'t [u8],
        (number, source): (usize, &InputFile),
        offset: u64,
        (begins, ends): (bool, bool),
    ) -> Added {
        match &source.records {
            DocumentFormat::Whole => self.add_text(bytes, &Skipped::invalid(number, offset), (begins, ends)),
            DocumentFormat::JsonLines(fields) => self.add_lines(bytes, (number, source), fields, offset),
            DocumentFormat::Framed(_, fields) => {
                let mut frames = bytes;
                while let Some((Frame { place, is_json, bytes }, len)) = Frame::first(frames) {
                    let place = Skipped { member: Some(place.to_owned()), ..Skipped::invalid(number, 0) };
                    let record = Record { bytes, is_valid: false, is_text: !is_json, place, bom: 0 };
                    self.add_record(&record, fields)?;
                    frames = &frames[len..];
                }
                Ok(())
            }
        }
    }

    /// Adds the lines of JSON from an offset on.
    fn add_lines(
        &mut self,
        bytes: &'t [u8],
        (number, source): (usize, &InputFile),
        fields: &Fields,
        offset: u64,
    ) -> Added {
        let (is_valid, limit) = (simdutf8::basic::from_utf8(bytes).is_ok(), source.max_record_bytes);
        let (mut tail, mut offset) = (bytes, offset);
        while !tail.is_empty() {
            let len = memchr::memchr(b'\n', tail).map_or(tail.len(), |at| at + 1);
            let bom = if offset == 0 && tail.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
            let bytes = &tail[bom as usize..len];
            self.lines += 1;
            let is_long = bytes.len() as u64 > limit.saturating_add(1);
            if is_long || !bytes.trim_ascii().is_empty() {
                let place = Skipped { line: Some(self.lines), ..Skipped::invalid(number, offset) };
                if is_long {
                    // It may go on in the next block.
                    return Err(place.because(too_long(limit)));
                }
                self.add_record(&Record { bytes, is_valid, is_text: false, place, bom }, fields)?;
            }
            (tail, offset) = (&tail[len..], offset + len as u64);
        }
        Ok(())
    }

    /// Adds a line of JSON, or a document of a container.
    fn add_record(&mut self, record: &Record<'t>, fields: &Fields) -> Added {
        if let Some(label) = self.label {
            self.labels.push(record.label(label, self.cutter.options.replace)?);
        }
        if record.is_text {
            return self.add_text(record.bytes, &record.place, (true, true));
        }
        match record.text(fields, self.cutter.options.replace) {
            Ok(text) => {
                let place = || record.place.because(String::new());
                self.push(DocumentPart { text, begins: true, ends: true }, place);
                Ok(())
            }
            Err(wrong) => self.refuse(wrong),
        }
    }

    /// Adds the documents of a text that begins at a place.
    fn add_text(&mut self, bytes: &'t [u8], place: &Skipped, (begins, ends): (bool, bool)) -> Added {
        let Some(separator) = &self.cutter.separator else {
            return self.add(bytes, (place, 0), (begins, ends));
        };
        let mut texts = separator.split(bytes).peekable();
        let mut is_first = true;
        while let Some(text) = texts.next() {
            let (begins, ends) = (begins || !is_first, ends || texts.peek().is_some());
            is_first = false;
            // There is no document between two separators in a row, before one that begins the text, or after
            // one that ends it.
            if begins && ends && text.is_empty() {
                continue;
            }
            let at = (text.as_ptr() as usize - bytes.as_ptr() as usize) as u64;
            self.add(text, (place, at), (begins, ends))?;
        }
        Ok(())
    }

    /// Adds the documents of the caller's text of this number.
    pub(crate) fn add_own(&mut self, text: &'t [u8], source: usize, number: u64) -> Added {
        self.add_text(text, &Skipped { line: Some(number), ..Skipped::invalid(source, 0) }, (true, true))
    }

    /// Adds a row of a table that has no text.
    pub(crate) fn add_null(&mut self, source: usize, row: u64, reason: &str) -> Added {
        let reason = Some(reason.to_owned());
        self.refuse(Skipped { line: Some(row), reason, ..Skipped::invalid(source, 0) })
    }

    /// Adds a document, or a part of one, if it is valid UTF-8 or may be repaired. It begins so many bytes
    /// after a place.
    fn add(&mut self, text: &'t [u8], (place, at): (&Skipped, u64), (begins, ends): (bool, bool)) -> Added {
        match valid_utf8(text, self.cutter.options.replace) {
            Ok(text) => {
                let place = || Skipped { offset: place.offset + at, ..place.clone() };
                self.push(DocumentPart { text, begins, ends }, place);
                Ok(())
            }
            Err(invalid) => {
                let wrong = place.not_utf8(at + invalid);
                if self.cutter.options.skip && !(begins && ends) {
                    return Err(Skipped { reason: Some(LONG_INVALID.to_owned()), ..wrong });
                }
                self.refuse(wrong)
            }
        }
    }

    /// Leaves a document out, or ends the run if documents may not be skipped.
    fn refuse(&mut self, wrong: Skipped) -> Added {
        if !self.cutter.options.skip {
            return Err(wrong);
        }
        self.skipped.push(wrong);
        Ok(())
    }
}
