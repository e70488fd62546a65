//! A stream of bytes → blocks that can be counted apart.

use super::cuts::Cutter;
use super::stream::ByteStream;
use crate::control::Control;
use crate::error::Result;

/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 16;

/// A stream, cut into blocks of about the same size.
pub(crate) struct Blocks {
    pub(crate) stream: ByteStream,
    /// Bytes that are read and not given out.
    held: Vec<u8>,
    ended: bool,
    size: usize,
    /// Where `held` is in the stream: bytes, lines, blocks.
    offset: u64,
    line: u64,
    number: usize,
}

/// Some bytes of a stream.
pub(crate) struct StreamBlock {
    pub(crate) bytes: Vec<u8>,
    pub(crate) offset: u64,
    /// The number of its first line, from 1.
    pub(crate) line: u64,
    /// Whether it ends where the text cannot be cut, and goes on.
    pub(crate) is_open: bool,
}

/// Text in which there is no place to cut is not held any longer from here on.
const MAX_UNCUT_BYTES: usize = 1 << 23;

impl Blocks {
    pub(crate) fn new(stream: ByteStream, size: usize) -> Self {
        Blocks { stream, held: Vec::new(), ended: false, size, offset: 0, line: 1, number: 0 }
    }

    /// The next block, of whole lines.
    pub(crate) fn next_lines(&mut self, control: &Control) -> Result<Option<StreamBlock>> {
        let block = self.next(control, usize::MAX, |held| memchr::memrchr(b'\n', held).map(|at| at + 1))?;
        if let Some(block) = &block {
            self.line += memchr::memchr_iter(b'\n', &block.bytes).count() as u64;
        }
        Ok(block)
    }

    /// The next block of text, which ends where the text may be cut.
    pub(crate) fn next_text(
        &mut self,
        cutter: &Cutter<'_>,
        control: &Control,
    ) -> Result<Option<StreamBlock>> {
        self.next(control, MAX_UNCUT_BYTES, |held| cutter.late_cut(held))
    }

    /// The next bytes, wherever they end.
    pub(crate) fn next_bytes(&mut self, control: &Control) -> Result<Option<StreamBlock>> {
        self.next(control, 0, |_| None)
    }

    /// How many blocks were given out.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    fn next(
        &mut self,
        control: &Control,
        most: usize,
        cut: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Option<StreamBlock>> {
        let mut want = self.size;
        loop {
            self.fill(want, control)?;
            if self.held.is_empty() {
                return Ok(None);
            }
            let end = if self.ended { Some(self.held.len()) } else { cut(&self.held) };
            if end.is_none() && self.held.len() < most {
                want = 2 * self.held.len();
                continue;
            }
            let is_open = end.is_none();
            let end = end.unwrap_or(self.held.len());
            let rest = self.held.split_off(end);
            let bytes = std::mem::replace(&mut self.held, rest);
            let block = StreamBlock { bytes, offset: self.offset, line: self.line, is_open };
            self.offset += end as u64;
            self.number += 1;
            return Ok(Some(block));
        }
    }

    fn fill(&mut self, want: usize, control: &Control) -> Result<()> {
        while !self.ended && self.held.len() < want {
            let piece = READ_BYTES.min(want - self.held.len());
            self.ended = self.stream.read(piece, &mut self.held, control)? == 0;
            control.advance(self.stream.take_progress());
        }
        Ok(())
    }
}
