//! Counting of files that are read from front to back, block by block.

use super::counting::Counting;
use super::saved::unreadable;
use super::windows::WindowedDocument;
use super::worker::Worker;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::source::{Blocks, ByteStream, Cutter, DocumentFormat, InputFile, Records, StreamBlock};

/// A file that is read from front to back.
pub(super) struct Stream {
    file: InputFile,
    state: StreamPhase,
    block_bytes: usize,
    /// The place of the first byte.
    place: u64,
    /// Places that are reserved for each byte.
    stretch: u64,
    /// An upper bound of the bytes that the file can hold.
    max_bytes: u64,
}

/// The progress of a stream.
enum StreamPhase {
    Closed,
    Open(Box<Blocks>),
    Ended,
}

/// A block that can be counted while another worker reads the stream.
pub(super) struct ReadyBlock {
    block: StreamBlock,
    place: u64,
    file: InputFile,
}

impl Stream {
    pub(super) fn new(file: InputFile, place: u64, stretch: u64, max_bytes: u64, block_bytes: u64) -> Self {
        Stream {
            file,
            state: StreamPhase::Closed,
            block_bytes: block_bytes as usize,
            place,
            stretch,
            max_bytes,
        }
    }

    /// The next block. A document that cannot be cut is counted by this call, which then returns `None`.
    pub(super) fn next(
        &mut self,
        counting: &Counting,
        cutter: &Cutter<'_>,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<Option<ReadyBlock>> {
        if matches!(self.state, StreamPhase::Closed) {
            let stream = ByteStream::open(&self.file)?;
            self.state = StreamPhase::Open(Box::new(Blocks::new(stream, self.block_bytes)));
        }
        let StreamPhase::Open(blocks) = &mut self.state else { return Ok(None) };
        let block = match self.file.records {
            DocumentFormat::Whole if cutter.can_cut() => blocks.next_text(cutter, control)?,
            DocumentFormat::Whole => blocks.next_bytes(control)?,
            _ => blocks.next_records(&self.file, control)?,
        };
        let Some(block) = block else {
            self.state = StreamPhase::Ended;
            return Ok(None);
        };
        if block.offset + block.bytes.len() as u64 > self.max_bytes {
            return Err(unreadable(&self.file.path, "it is longer than a file of its size can be"));
        }
        let ready =
            ReadyBlock { place: self.place + self.stretch * block.offset, block, file: self.file.clone() };
        if self.file.records == DocumentFormat::Whole && ready.block.is_open {
            self.count_remaining(ready, counting, worker, control)?;
            return Ok(None);
        }
        Ok(Some(ready))
    }

    /// The number of blocks that were handed out.
    pub(super) fn number(&self) -> usize {
        match &self.state {
            StreamPhase::Open(blocks) => blocks.number(),
            _ => 0,
        }
    }

    /// Counts an open block and all that follow as one document.
    fn count_remaining(
        &mut self,
        first: ReadyBlock,
        counting: &Counting,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        let StreamPhase::Open(mut blocks) = std::mem::replace(&mut self.state, StreamPhase::Ended) else {
            return Ok(());
        };
        let start = first.block.offset;
        let not_utf8 = |invalid| self.file.blame(not_utf8(&self.file, start + invalid));
        let mut text = WindowedDocument::new(counting, first.place);
        let mut next = Some(first.block);
        while let Some(block) = next {
            text.push(block.bytes, worker, control)?.map_err(not_utf8)?;
            next = blocks.next_bytes(control)?;
        }
        text.finish(worker, control)?.map_err(not_utf8)
    }
}

impl ReadyBlock {
    pub(super) fn count(self, counting: &Counting, worker: &mut Worker<'_>, control: &Control) -> Result<()> {
        let counted = match self.file.records.field() {
            None => {
                let counted = counting.text(&self.block.bytes, self.place, worker, control)?;
                counted.map_err(|invalid| not_utf8(&self.file, self.block.offset + invalid))
            }
            Some(field) => self.count_records(field, counting, worker, control),
        };
        counted.map_err(|error| self.file.blame(error))
    }

    /// Counts the documents in the records of a block.
    fn count_records(
        &self,
        field: &str,
        counting: &Counting,
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<()> {
        let StreamBlock { bytes, offset, line, .. } = &self.block;
        let mut len = 0;
        for record in Records::new(bytes, &self.file, *offset) {
            let text = record.text(field, counting.options.replace);
            let text = text.map_err(|flaw| record.error(flaw, &self.file.path, *line))?;
            let place = self.place + len;
            worker.document(&text, place, &counting.specials, &counting.pretokenizer, control)?;
            len += text.len() as u64;
        }
        counting.span(self.place, len);
        Ok(())
    }
}

fn not_utf8(file: &InputFile, offset: u64) -> Error {
    Error::NotUtf8 { name: file.path.clone(), offset }
}
