//! A stream of bytes → blocks that can be counted separately.

use super::cuts::Cutter;
use super::frames::last_end;
use super::input::{DocumentFormat, InputFile};
use super::stream::ByteStream;
use crate::control::Control;
use crate::error::Result;

/// Bytes of one read. Progress is reported and the control checked after each of them.
const READ_BYTES: usize = 1 << 16;

/// A stream, cut into blocks of about the same size.
pub(crate) struct Blocks {
    stream: ByteStream,
    /// Bytes that were read and not yet handed out.
    pending: Vec<u8>,
    ended: bool,
    size: usize,
    /// Bytes before `pending` in the stream.
    offset: u64,
    /// The number of the first line of `pending`, from 1.
    line: u64,
    /// Blocks that were handed out.
    number: usize,
}

/// A block of a stream.
pub(crate) struct StreamBlock {
    pub(crate) bytes: Vec<u8>,
    /// Bytes before the block in the stream.
    pub(crate) offset: u64,
    /// The number of the block's first line, from 1.
    pub(crate) line: u64,
    /// Whether the block ends where text must not be cut, so that the next block continues it.
    pub(crate) is_open: bool,
}

/// Held bytes from which text without a place for a cut is handed out as open blocks.
const MAX_UNCUT_BYTES: usize = 1 << 23;

impl Blocks {
    pub(crate) fn new(stream: ByteStream, size: usize) -> Self {
        Blocks { stream, pending: Vec::new(), ended: false, size, offset: 0, line: 1, number: 0 }
    }

    /// Blocks of a stream from which the bytes `pending` were already read.
    pub(crate) fn with_pending(stream: ByteStream, size: usize, pending: Vec<u8>) -> Self {
        Blocks { pending, ..Blocks::new(stream, size) }
    }

    /// The next block of a file of records, which ends with a line or a frame; `None` at the end of the stream. A line
    /// that is longer than the limit ends with the block, before its end.
    pub(crate) fn next_records(
        &mut self,
        file: &InputFile,
        control: &Control,
    ) -> Result<Option<StreamBlock>> {
        if matches!(file.records, DocumentFormat::Framed(..)) {
            return self.next(control, usize::MAX, last_end);
        }
        // Of these bytes more than the limit are the line's, also behind a BOM and before a newline.
        let max_bytes = usize::try_from(file.max_record_bytes.saturating_add(5)).unwrap_or(usize::MAX);
        let block =
            self.next(control, max_bytes, |pending| memchr::memrchr(b'\n', pending).map(|at| at + 1))?;
        if let Some(block) = &block {
            self.line += memchr::memchr_iter(b'\n', &block.bytes).count() as u64;
        }
        Ok(block)
    }

    /// The next block, which ends where `cutter` allows a cut or is open; `None` at the end of the stream.
    pub(crate) fn next_text(
        &mut self,
        cutter: &Cutter<'_>,
        control: &Control,
    ) -> Result<Option<StreamBlock>> {
        self.next(control, MAX_UNCUT_BYTES, |pending| cutter.late_cut(pending))
    }

    /// The next block, which may end anywhere; `None` at the end of the stream.
    pub(crate) fn next_bytes(&mut self, control: &Control) -> Result<Option<StreamBlock>> {
        self.next(control, 0, |_| None)
    }

    /// The next block, which ends where `cut` says; `None` at the end of the stream. All bytes before that place are
    /// held in memory, up to `max_bytes`: then the block is open.
    pub(crate) fn next_cut(
        &mut self,
        control: &Control,
        max_bytes: u64,
        cut: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Option<StreamBlock>> {
        self.next(control, usize::try_from(max_bytes).unwrap_or(usize::MAX), cut)
    }

    /// Whether all bytes of the stream were handed out.
    pub(crate) fn is_at_end(&self) -> bool {
        self.ended && self.pending.is_empty()
    }

    /// The number of blocks that were handed out.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The next block, which ends where `cut` says. If `cut` finds no place in `max_bytes` held bytes, the block
    /// is open.
    fn next(
        &mut self,
        control: &Control,
        max_bytes: usize,
        cut: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Option<StreamBlock>> {
        let mut want = self.size;
        loop {
            self.fill(want, control)?;
            if self.pending.is_empty() {
                return Ok(None);
            }
            let end = if self.ended { Some(self.pending.len()) } else { cut(&self.pending) };
            if end.is_none() && self.pending.len() < max_bytes {
                want = (2 * self.pending.len()).min(max_bytes);
                continue;
            }
            let is_open = end.is_none();
            let end = end.unwrap_or(self.pending.len());
            let tail = self.pending.split_off(end);
            let bytes = std::mem::replace(&mut self.pending, tail);
            let block = StreamBlock { bytes, offset: self.offset, line: self.line, is_open };
            self.offset += end as u64;
            self.number += 1;
            return Ok(Some(block));
        }
    }

    /// Reads until `want` bytes are held or the stream has ended.
    fn fill(&mut self, want: usize, control: &Control) -> Result<()> {
        while !self.ended && self.pending.len() < want {
            let count = READ_BYTES.min(want - self.pending.len());
            self.ended = self.stream.read(count, &mut self.pending, control)? == 0;
            control.advance(self.stream.take_progress());
        }
        Ok(())
    }
}
