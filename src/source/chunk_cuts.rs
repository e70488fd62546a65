//! Where the text of a source is cut into chunks.

use std::ops::Range;

use super::cuts::Cutter;
use super::file::PlainFile;
use super::separator::Separator;
use super::sources::ReadOptions;
use super::utf8::late_character;
use crate::control::Control;
use crate::error::Result;

/// The end of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkEnd {
    pub(super) end: u64,
    /// Where the next chunk begins. If the chunk ends at a separator, the next one begins after that
    /// separator.
    pub(super) next: u64,
    /// Whether the last document of the chunk ends with it.
    pub(super) is_whole: bool,
}

/// Finds places where text is cut into chunks.
pub(crate) struct ChunkCutter<'a> {
    pub(super) separator: Option<Separator>,
    /// Finds places inside documents; `None` if documents cannot be cut.
    inside: Option<Cutter<'a>>,
    pub(super) options: &'a ReadOptions,
}

impl<'a> ChunkCutter<'a> {
    pub(crate) fn new(options: &'a ReadOptions, inside: Option<Cutter<'a>>) -> Self {
        let separator = options.separator.as_ref().map(|separator| Separator::new(separator.as_bytes()));
        ChunkCutter { separator, inside: inside.filter(Cutter::can_cut), options }
    }

    /// The maximum number of bytes that are held of a text without a place for a cut.
    pub(super) fn max_held(&self, max_record_bytes: u64) -> u64 {
        max_record_bytes.saturating_add(self.options.min_chunk(true))
    }

    /// The end of the lines that begin at `start`; inside of a line that is longer than the limit.
    pub(super) fn end_of_lines(
        &self,
        file: PlainFile<'_>,
        (start, max_record_bytes): (u64, u64),
        control: &Control,
    ) -> Result<ChunkEnd> {
        let at = start.saturating_add(self.options.min_chunk(false)).min(file.size()) - 1;
        // Of these bytes more than the limit are the line's, also behind a BOM and before a newline.
        let limit = at.saturating_add(max_record_bytes).saturating_add(5).min(file.size());
        let newline = |text: &[u8], _| memchr::memchr(b'\n', text);
        let end = file.find((at, at, limit), 0, control, newline)?.map_or(limit, |newline| newline + 1);
        Ok(ChunkEnd { end, next: end, is_whole: true })
    }

    /// The end of the chunk of text that begins at `start`; `is_inside` says whether `start` is inside a
    /// document. A chunk whose end cuts a document contains no other document.
    pub(super) fn end_of_text(
        &self,
        file: PlainFile<'_>,
        start: u64,
        is_inside: bool,
        control: &Control,
    ) -> Result<ChunkEnd> {
        let from = start.saturating_add(self.options.min_chunk(!is_inside));
        let last = ChunkEnd { end: file.size(), next: file.size(), is_whole: true };
        if from >= file.size() {
            return Ok(last);
        }
        let Some(separator) = &self.separator else {
            return self.end_inside(file, from, control).map(|end| end.unwrap_or(last));
        };
        // No separator begins from `from` up to this offset.
        let mut known = from;
        let mut limit = from;
        loop {
            // Each search reaches twice as far as the one before, so that a long document is not searched
            // again and again.
            limit = limit.saturating_add(self.options.min_chunk(true).max(limit - from));
            let first = |text: &[u8], range: Range<usize>| separator.first_alone(text, range.start);
            let range = (start, known, limit.min(file.size()));
            if let Some(at) = file.find(range, separator.len() as u64, control, first)? {
                return Ok(ChunkEnd { end: at, next: at + separator.len() as u64, is_whole: true });
            }
            if known == from {
                let before = file.read(start, (from - start) as usize + separator.len())?;
                if let Some(at) = separator.last_alone(&before) {
                    let end = start + at as u64;
                    return Ok(ChunkEnd { end, next: end + separator.len() as u64, is_whole: true });
                }
            }
            if limit >= file.size() {
                // There is no separator up to the end of the file.
                return self.end_inside(file, from, control).map(|end| end.unwrap_or(last));
            }
            let known_end = limit - separator.len() as u64;
            let end = self.end_inside(file, from, control)?;
            if let Some(end) = end.filter(|end| end.end <= known_end) {
                return Ok(end);
            }
            known = limit;
        }
    }

    /// The first cut inside a document at or after `from`; `None` if there is none before the end of the
    /// file.
    fn end_inside(&self, file: PlainFile<'_>, from: u64, control: &Control) -> Result<Option<ChunkEnd>> {
        let Some(cutter) = &self.inside else { return Ok(None) };
        let end = cutter.next_cut(file, from, control)?;
        Ok((end < file.size()).then_some(ChunkEnd { end, next: end, is_whole: false }))
    }

    /// The end of the next chunk in `pending`, the bytes that have been read of a stream that continues.
    /// `None` if the stream has to be read further first.
    pub(super) fn end_of_pending(&self, pending: &[u8], is_inside: bool) -> Option<ChunkEnd> {
        let reserve = self.separator.as_ref().map_or(0, Separator::len);
        if let Some(at) = self.separator.as_ref().and_then(|separator| separator.last_alone(pending)) {
            return Some(ChunkEnd { end: at as u64, next: (at + reserve) as u64, is_whole: true });
        }
        // A separator that begins in the last bytes is not whole yet.
        let known = &pending[..pending.len().saturating_sub(reserve)];
        let at_characters = self.options.at_characters;
        let end = if at_characters { late_character(known) } else { self.inside.as_ref()?.late_cut(known) };
        let end = end? as u64;
        let min_bytes = if is_inside || at_characters { 1 } else { self.options.min_chunk(true) };
        (end >= min_bytes).then_some(ChunkEnd { end, next: end, is_whole: false })
    }
}
