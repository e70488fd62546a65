//! Sorted slots in a temporary file, and the merging of them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::slot::{CountSlot, store, stored_room};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;
use crate::source::{read_at, write_at};
use crate::workers::Lock;

/// Sorted slots in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct SortedSlots {
    /// The number of slots.
    pub(super) slots: usize,
    stretches: Vec<(u64, u64)>,
}

/// The temporary file of a counting. It has no name, or loses it when this value is dropped, so the system
/// removes it however the process ends.
#[derive(Debug)]
pub(super) struct SpillFile {
    /// Bytes of memory that a partition may take.
    pub(super) partition_bytes: usize,
    /// Bytes of read buffers while the sections of one partition are merged.
    merge_bytes: usize,
    folder: PathBuf,
    written: Lock<Written>,
    /// How many times the contents of a partition were written.
    count: AtomicU64,
}

/// The file, made at the first write, and its length.
#[derive(Debug, Default)]
struct Written {
    file: Option<Arc<File>>,
    end: u64,
}

/// The maximum number of sections that are merged at once, since each needs a read buffer of at least 4 KB.
const MAX_MERGED_SECTIONS: usize = 128;
/// Bytes that are collected for one write.
const WRITE_BYTES: usize = 1 << 17;

impl SpillFile {
    pub(super) fn new(folder: PathBuf, partition_bytes: usize, merge_bytes: usize) -> Self {
        SpillFile { partition_bytes, merge_bytes, folder, written: Lock::default(), count: AtomicU64::new(0) }
    }

    /// The length of the file in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.written.lock().end
    }

    /// How many times the contents of a partition were written.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// Writes slots, which must be sorted.
    pub(super) fn write<'a>(
        &self,
        slots: impl Iterator<Item = &'a CountSlot>,
        long: &[u8],
    ) -> Result<SortedSlots> {
        self.count.fetch_add(1, Relaxed);
        let bytes = slots.size_hint().0.saturating_mul(size_of::<CountSlot>()).saturating_add(long.len());
        let mut writer = SectionWriter::new(self, bytes);
        for slot in slots {
            writer.push(slot, long)?;
        }
        writer.end()
    }

    /// Merges the sections of a partition and adds up the slots of each pretoken. Calls `take` with the sums,
    /// in order.
    pub(super) fn merge(
        &self,
        mut sections: Vec<SortedSlots>,
        control: &Control,
        take: impl FnMut(&CountSlot, &[u8]) -> Result<()>,
    ) -> Result<()> {
        while sections.len() > MAX_MERGED_SECTIONS {
            let remaining = sections.split_off(MAX_MERGED_SECTIONS);
            let mut writer = SectionWriter::new(self, WRITE_BYTES);
            self.merge_few(&sections, control, |slot, arena| writer.push(slot, arena))?;
            sections = remaining;
            sections.push(writer.end()?);
        }
        self.merge_few(&sections, control, take)
    }

    /// Merges sections, all of them at once.
    fn merge_few(
        &self,
        sections: &[SortedSlots],
        control: &Control,
        mut take: impl FnMut(&CountSlot, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let window = (self.merge_bytes / sections.len().max(1)).clamp(1 << 12, 1 << 18);
        let mut heap = BinaryHeap::new();
        for section in sections {
            heap.extend(SectionReader::open(self, section.clone(), window)?);
        }
        let (mut sum, mut arena, mut count) = (CountSlot::default(), Vec::new(), 0u32);
        while let Some(mut first) = heap.peek_mut() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(1 << 12) {
                control.check()?;
            }
            if sum.count > 0 && sum.is_same(&arena, &first.slot, &first.long) {
                sum.add(&first.slot);
            } else {
                if sum.count > 0 {
                    take(&sum, &arena)?;
                }
                sum = first.slot;
                arena.clone_from(&first.long);
            }
            if !first.advance(self)? {
                PeekMut::pop(first);
            }
        }
        if sum.count > 0 { take(&sum, &arena) } else { Ok(()) }
    }

    /// Writes at the end of the file; returns the offset of what was written.
    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let mut written = self.written.lock();
        let start = written.end;
        let failed = |source| Error::Spill { folder: self.folder.clone(), written: start, source };
        if written.file.is_none() {
            written.file = Some(Arc::new(tempfile::tempfile_in(&self.folder).map_err(failed)?));
        }
        if let Some(file) = &written.file {
            write_at(file, bytes, start).map_err(failed)?;
        }
        written.end += bytes.len() as u64;
        Ok(start)
    }
}

/// Writes the slots of a section.
struct SectionWriter<'s> {
    spill: &'s SpillFile,
    section: SortedSlots,
    buffer: Vec<u8>,
}

impl<'s> SectionWriter<'s> {
    /// A writer of about `bytes` bytes.
    fn new(spill: &'s SpillFile, bytes: usize) -> Self {
        SectionWriter {
            spill,
            section: SortedSlots::default(),
            buffer: Vec::with_capacity(bytes.min(WRITE_BYTES)),
        }
    }

    fn push(&mut self, slot: &CountSlot, arena: &[u8]) -> Result<()> {
        self.section.slots += 1;
        self.buffer.extend_from_slice(&slot.to_bytes());
        if slot.is_long() {
            store(&mut self.buffer, slot.pretoken(arena))?;
        }
        if self.buffer.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let start = self.spill.append(&self.buffer)?;
        let end = start + self.buffer.len() as u64;
        match self.section.stretches.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => self.section.stretches.push((start, end)),
        }
        self.buffer.clear();
        Ok(())
    }

    fn end(mut self) -> Result<SortedSlots> {
        self.flush()?;
        Ok(self.section)
    }
}

/// Reads the slots of a section in order. Readers are ordered by their current slot in reverse, so that a
/// heap returns the reader with the least slot first.
struct SectionReader {
    file: Arc<File>,
    stretches: std::vec::IntoIter<(u64, u64)>,
    /// The range of the file that is read now.
    now: (u64, u64),
    /// Bytes of one read.
    window: usize,
    buffer: Vec<u8>,
    /// The offset of the next slot in `buffer`.
    at: usize,
    /// The current slot.
    slot: CountSlot,
    /// The arena of the current slot: its pretoken at offset 0, if that is long.
    long: Vec<u8>,
}

impl SectionReader {
    /// A reader at the first slot of a section; `None` for an empty section.
    fn open(spill: &SpillFile, section: SortedSlots, window: usize) -> Result<Option<Self>> {
        let Some(file) = spill.written.lock().file.clone() else { return Ok(None) };
        let mut reader = SectionReader {
            file,
            stretches: section.stretches.into_iter(),
            now: (0, 0),
            window,
            buffer: Vec::new(),
            at: 0,
            slot: CountSlot::default(),
            long: Vec::new(),
        };
        Ok(reader.advance(spill)?.then_some(reader))
    }

    /// Moves to the next slot; returns `false` at the end.
    fn advance(&mut self, spill: &SpillFile) -> Result<bool> {
        if !self.has(32, spill)? {
            return Ok(false);
        }
        let Some(head) = self.buffer[self.at..].first_chunk() else { return Ok(false) };
        self.slot = CountSlot::from_bytes(head);
        self.at += 32;
        if self.slot.is_long() {
            self.slot = self.slot.moved_to(0);
            self.has(8, spill)?;
            let length = stored_room(&self.buffer[self.at..]);
            self.has(length, spill)?;
            self.long.clear();
            room::extend(&mut self.long, &self.buffer[self.at..self.at + length])?;
            self.at += length;
        }
        Ok(true)
    }

    /// Reads until at least `bytes` unread bytes are in `buffer`; returns `false` if the section ends before.
    fn has(&mut self, bytes: usize, spill: &SpillFile) -> Result<bool> {
        while self.buffer.len() - self.at < bytes {
            if self.now.0 == self.now.1 {
                let Some(next) = self.stretches.next() else { return Ok(false) };
                self.now = next;
            }
            self.buffer.drain(..self.at);
            self.at = 0;
            let want = self.window.max(bytes).min((self.now.1 - self.now.0) as usize);
            let before = self.buffer.len();
            room::resize(&mut self.buffer, before + want)?;
            let failed =
                |source| Error::Spill { folder: spill.folder.clone(), written: spill.bytes(), source };
            if read_at(&self.file, self.now.0, &mut self.buffer[before..]).map_err(failed)? < want {
                return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
            }
            self.now.0 += want as u64;
        }
        Ok(true)
    }
}

impl Ord for SectionReader {
    fn cmp(&self, other: &Self) -> Ordering {
        other.slot.order(&other.long, &self.slot, &self.long)
    }
}

impl PartialOrd for SectionReader {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SectionReader {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SectionReader {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{self, AtomicBool};

    use super::*;

    /// On Windows a read at an offset moves the position of the file, where nothing may be written.
    #[test]
    fn reads_do_not_disturb_writes() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillFile::new(folder.path().into(), 1 << 20, 1 << 16);
        spill.append(&[255; 4096]).unwrap();
        let file = spill.written.lock().file.clone().unwrap();
        let write = |thread: usize| {
            let bytes = |round: usize| vec![(2 * round + thread) as u8; 1 + thread + 97 * round % 500];
            (0..1000).map(bytes).map(|bytes| (spill.append(&bytes).unwrap(), bytes)).collect::<Vec<_>>()
        };
        let is_written = AtomicBool::new(false);
        let written = std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_written.load(atomic::Ordering::Relaxed) {
                        assert_eq!(read_at(&file, 0, &mut [0; 64]).unwrap(), 64);
                    }
                });
            }
            let writers = [0, 1].map(|thread| scope.spawn(move || write(thread)));
            let written = writers.map(|writer| writer.join().unwrap());
            is_written.store(true, atomic::Ordering::Relaxed);
            written.concat()
        });
        for (start, bytes) in written {
            let mut read = vec![0; bytes.len()];
            assert_eq!(read_at(&file, start, &mut read).unwrap(), bytes.len());
            assert_eq!(read, bytes);
        }
    }
}
