//! Files that are read from front to back, block by block.

use super::file::unreadable;
use super::files::{CountedFile, Records, Windows};
use super::{Counting, Worker};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::source::{Block, Blocks, ByteStream, Cutter, text_of};

/// A file that is read from front to back.
pub(super) struct Stream {
    file: CountedFile,
    state: State,
    block_bytes: usize,
    /// The place of its first byte.
    place: u64,
    /// Places that a byte may need.
    stretch: u64,
    /// More bytes than it can hold.
    most: u64,
}

enum State {
    Closed,
    Open(Box<Blocks>),
    Ended,
}

/// A block that can be counted with the stream in other hands.
pub(super) struct Ready {
    block: Block,
    place: u64,
    file: CountedFile,
}

impl Stream {
    pub(super) fn new(file: CountedFile, place: u64, stretch: u64, most: u64, block_bytes: u64) -> Self {
        Stream { file, state: State::Closed, block_bytes: block_bytes as usize, place, stretch, most }
    }

    /// The next block, with its number in the stream in case of an error. A document that cannot be cut is counted
    /// here and now, and there are no more blocks then.
    pub(super) fn next(
        &mut self,
        counting: &Counting,
        cutter: &Cutter<'_>,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<Option<Ready>> {
        if matches!(self.state, State::Closed) {
            let stream = ByteStream::open(&self.file.path, self.file.compression, self.file.seen)?;
            self.state = State::Open(Box::new(Blocks::new(stream, self.block_bytes)));
        }
        let State::Open(blocks) = &mut self.state else { return Ok(None) };
        let block = match self.file.records {
            Records::JsonLines(_) => blocks.next_lines(control)?,
            Records::Whole if cutter.can_cut() => blocks.next_text(cutter, control)?,
            Records::Whole => blocks.next_bytes(control)?,
        };
        let Some(block) = block else {
            self.state = State::Ended;
            return Ok(None);
        };
        if block.offset + block.bytes.len() as u64 > self.most {
            return Err(unreadable(&self.file.path, "it is longer than a file of its size can be"));
        }
        let ready = Ready { place: self.place + self.stretch * block.offset, block, file: self.file.clone() };
        if self.file.records == Records::Whole && ready.block.is_open {
            self.count_rest(ready, counting, worker, control)?;
            return Ok(None);
        }
        Ok(Some(ready))
    }

    /// How many blocks were given out.
    pub(super) fn number(&self) -> usize {
        match &self.state {
            State::Open(blocks) => blocks.number(),
            _ => 0,
        }
    }

    /// Counts a block that is not cut where it ends, and all that follow.
    fn count_rest(
        &mut self,
        first: Ready,
        counting: &Counting,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        let State::Open(mut blocks) = std::mem::replace(&mut self.state, State::Ended) else { return Ok(()) };
        let start = first.block.offset;
        let not_utf8 = |invalid| self.file.blame(not_utf8(&self.file, start + invalid));
        let mut text = Windows::new(counting, first.place);
        let mut next = Some(first.block);
        while let Some(block) = next {
            text.push(block.bytes, worker, control)?.map_err(not_utf8)?;
            next = blocks.next_bytes(control)?;
        }
        text.finish(worker, control)?.map_err(not_utf8)
    }
}

impl Ready {
    pub(super) fn count(self, counting: &Counting, worker: &mut Worker<'_>, control: &Control) -> Result<()> {
        let counted = match &self.file.records {
            Records::Whole => {
                let counted = counting.text(&self.block.bytes, self.place, worker, control)?;
                counted.map_err(|invalid| not_utf8(&self.file, self.block.offset + invalid))
            }
            Records::JsonLines(field) => self.count_lines(field, counting, worker, control),
        };
        counted.map_err(|error| self.file.blame(error))
    }

    fn count_lines(
        &self,
        field: &str,
        counting: &Counting,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        let bytes = match std::str::from_utf8(&self.block.bytes) {
            Ok(text) => text.into(),
            Err(_) if counting.options.replace => String::from_utf8_lossy(&self.block.bytes),
            Err(error) => {
                return Err(not_utf8(&self.file, self.block.offset + error.valid_up_to() as u64));
            }
        };
        let (mut offset, mut len) = (0, 0);
        for (number, line) in bytes.split_inclusive('\n').enumerate() {
            let is_first = self.block.offset + offset == 0;
            let json = if is_first { line.trim_start_matches('\u{feff}') } else { line };
            if !json.trim_ascii().is_empty() {
                let text = text_of(json.as_bytes(), field).map_err(|reason| Error::Record {
                    path: self.file.path.clone(),
                    line: self.block.line + number as u64,
                    offset: self.block.offset + offset,
                    reason,
                })?;
                let (text, place) = (text.as_bytes(), self.place + len);
                worker.document(text, place, &counting.specials, &counting.pretokenizer, control)?;
                len += text.len() as u64;
            }
            offset += line.len() as u64;
        }
        counting.span(self.place, len);
        Ok(())
    }
}

fn not_utf8(file: &CountedFile, offset: u64) -> Error {
    Error::NotUtf8 { name: file.path.display().to_string(), offset }
}
