//! Where a source is cut into chunks.

use super::cuts::Cutter;
use super::file::PlainFile;
use super::frames::last_end;
use super::input::{Cursor, DocumentFormat, InputFile, ReadOptions};
use super::separator::Separator;
use super::utf8::late_character;
use crate::control::Control;
use crate::error::Result;

/// The number of bytes at the end of a chunk of a file in which a place for a cut is looked for first. Most
/// texts have one there.
const LOOK_BYTES: u64 = if cfg!(test) { 8 } else { 1 << 12 };
/// The maximum number of bytes by which a chunk without such a place is made longer at once.
const MAX_LOOK_BYTES: u64 = 1 << 22;

/// The end of a chunk, from its beginning on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkEnd {
    pub(super) end: u64,
    /// Where the next chunk begins. If the chunk ends at a separator, the next one begins after that
    /// separator.
    pub(super) next: u64,
    /// Whether the last document of the chunk ends with it.
    pub(super) is_whole: bool,
}

impl ChunkEnd {
    /// The end of a chunk of whole documents, and the bytes of the separator after it.
    pub(super) fn whole(end: u64, separator: usize) -> Self {
        ChunkEnd { end, next: end + separator as u64, is_whole: true }
    }
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

    /// The maximum number of bytes of a chunk without a place for a cut.
    pub(super) fn max_held(&self, source: &InputFile) -> u64 {
        match source.records {
            DocumentFormat::Whole => source.max_record_bytes.saturating_add(self.options.min_chunk(true)),
            // Of these bytes more than the limit are the line's, also behind a BOM and before a newline.
            DocumentFormat::JsonLines(_) => source.max_record_bytes.saturating_add(5),
            DocumentFormat::Framed(..) => u64::MAX,
        }
    }

    /// The end of the chunk of a file that begins at a place. A line that is longer than the limit ends with
    /// the chunk; a text that is, is an error.
    pub(super) fn end_in_file(
        &self,
        (source, file): (&InputFile, PlainFile<'_>),
        at: Cursor,
        control: &Control,
    ) -> Result<ChunkEnd> {
        let left = file.size() - at.offset;
        let (max_bytes, margin) = (self.max_held(source), self.margin());
        let is_one = !source.has_records() && margin == 0 && !self.options.at_characters;
        let min_bytes = self.options.min_chunk(!at.is_inside && !source.has_records());
        let mut len = min_bytes.saturating_add(LOOK_BYTES.min(min_bytes.div_ceil(4)));
        if !source.has_records() {
            len = if is_one { max_bytes } else { len.min(max_bytes) };
        }
        // The chunk cannot end before this byte.
        let mut seen = 0;
        while len < left && !is_one {
            let mut look = LOOK_BYTES.min(len - seen);
            loop {
                control.check()?;
                let before = (len - look).saturating_sub(2 * margin);
                let bytes = file.read(at.offset + before, (len - before) as usize)?;
                let is_all = look == len - seen;
                if let Some(end) = self.end_of(source, &bytes, (before, is_all), at.is_inside) {
                    return Ok(end);
                }
                if is_all {
                    break;
                }
                look = (8 * look).min(len - seen);
            }
            if len >= max_bytes {
                return self.end_at_limit(source, at, len);
            }
            seen = len;
            len = len.saturating_add(len.min(MAX_LOOK_BYTES)).min(max_bytes);
        }
        if len < left { self.end_at_limit(source, at, len) } else { Ok(ChunkEnd::whole(left, 0)) }
    }

    /// Bytes of context that a place for a cut has to have on each side.
    fn margin(&self) -> u64 {
        let separator = self.separator.as_ref().map_or(0, Separator::len);
        self.inside.as_ref().map_or(0, |cutter| cutter.margin).max(separator) as u64
    }

    /// The end of the next chunk of a source that continues, given its last bytes, which begin `before` bytes
    /// after its beginning, and whether no document ends before these. `None` if the chunk must be longer, or
    /// the bytes begin earlier.
    pub(super) fn end_of(
        &self,
        source: &InputFile,
        bytes: &[u8],
        (before, is_all): (u64, bool),
        is_inside: bool,
    ) -> Option<ChunkEnd> {
        let whole = |end: usize| ChunkEnd::whole(before + end as u64, 0);
        match source.records {
            DocumentFormat::Whole => self.end_of_text(bytes, (before, is_all), is_inside),
            DocumentFormat::JsonLines(_) => memchr::memrchr(b'\n', bytes).map(|at| whole(at + 1)),
            DocumentFormat::Framed(..) => last_end(bytes).map(whole),
        }
    }

    /// The same of a text. A chunk whose end cuts a document contains no other document.
    fn end_of_text(&self, bytes: &[u8], (before, is_all): (u64, bool), is_inside: bool) -> Option<ChunkEnd> {
        let reserve = self.separator.as_ref().map_or(0, Separator::len);
        // What comes before the bytes may reach into them.
        let is_known = |at: usize, margin: usize| before == 0 || at >= margin;
        if let Some(separator) = &self.separator {
            let last = separator.last_alone(bytes).filter(|&at| is_known(at, reserve));
            if last.is_some() || !is_all {
                let last = last.map(|at| separator.last_after(bytes, at) as u64);
                return last.map(|at| ChunkEnd::whole(before + at, reserve));
            }
        }
        // A separator that begins in the last bytes is not whole yet.
        let known = &bytes[..bytes.len().saturating_sub(reserve)];
        let at_characters = self.options.at_characters;
        let end = match &self.inside {
            _ if at_characters => late_character(known)?,
            Some(cutter) => cutter.late_cut(known).filter(|&at| is_known(at, cutter.margin))?,
            None => return None,
        };
        let end = before + end as u64;
        let min_bytes = if is_inside || at_characters { 1 } else { self.options.min_chunk(true) };
        (end >= min_bytes).then_some(ChunkEnd { end, next: end, is_whole: false })
    }

    /// The end of a chunk that has no place for a cut within the limit.
    pub(super) fn end_at_limit(&self, source: &InputFile, at: Cursor, len: u64) -> Result<ChunkEnd> {
        if source.has_records() { Ok(ChunkEnd::whole(len, 0)) } else { Err(source.too_long(at.offset)) }
    }
}
