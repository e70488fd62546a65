//! A stream of bytes → blocks.

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
}

/// A block of a stream.
pub(crate) struct StreamBlock {
    pub(crate) bytes: Vec<u8>,
    /// Whether the block ends where text must not be cut, so that the next block continues it.
    pub(crate) is_open: bool,
}

impl Blocks {
    /// Blocks of a stream from which the bytes `pending` were already read.
    pub(crate) fn new(stream: ByteStream, size: usize, pending: Vec<u8>) -> Self {
        Blocks { stream, pending, ended: false, size }
    }

    /// The next block of a file of records, which ends with a line or a frame; `None` at the end of the stream. A line
    /// that is longer than the limit ends with the block, before its end.
    pub(crate) fn next_records(
        &mut self,
        file: &InputFile,
        control: &Control,
    ) -> Result<Option<StreamBlock>> {
        if matches!(file.records, DocumentFormat::Framed(..)) {
            return self.next(control, u64::MAX, last_end);
        }
        // Of these bytes more than the limit are the line's, also behind a BOM and before a newline.
        let max_bytes = file.max_record_bytes.saturating_add(5);
        self.next(control, max_bytes, |pending| memchr::memrchr(b'\n', pending).map(|at| at + 1))
    }

    /// Whether all bytes of the stream were handed out.
    pub(crate) fn is_at_end(&self) -> bool {
        self.ended && self.pending.is_empty()
    }

    /// The next block, which ends where `cut` says; `None` at the end of the stream. If `cut` finds no place in
    /// `max_bytes` held bytes, the block is open.
    pub(crate) fn next(
        &mut self,
        control: &Control,
        max_bytes: u64,
        cut: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Option<StreamBlock>> {
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
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
            return Ok(Some(StreamBlock { bytes, is_open }));
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
