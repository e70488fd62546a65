//! Sorted slots in a temporary file, and the merging of them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::slot::CountSlot;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;
use crate::source::{read_at, write_at};
use crate::workers::Lock;

/// Sorted slots in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortedSlots {
    /// The number of slots.
    pub(super) slots: usize,
    start: u64,
    /// Bytes of the file that were reserved for them, of which the last may be unused.
    bytes: u64,
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
    /// The file, made for the first section, and its length.
    written: Lock<(Option<Arc<File>>, u64)>,
    /// How many times the contents of a partition were written.
    count: AtomicU64,
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
        self.written.lock().1
    }

    /// How many times the contents of a partition were written.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// Writes slots, which must be sorted; `long` has their long pretokens, and no others.
    pub(super) fn write<'a>(
        &self,
        slots: impl ExactSizeIterator<Item = &'a CountSlot>,
        long: &[u8],
    ) -> Result<SortedSlots> {
        self.count.fetch_add(1, Relaxed);
        self.section((slots.len() * size_of::<CountSlot>() + long.len()) as u64, |push| {
            slots.into_iter().try_for_each(|slot| push(slot, long))
        })
    }

    /// Merges the sections of a partition and adds up the slots of each pretoken. Calls `take` with the sums,
    /// in order.
    pub(super) fn merge(
        &self,
        mut sections: Vec<SortedSlots>,
        control: &Control,
        mut take: impl FnMut(&CountSlot, &[u8]) -> Result<()>,
    ) -> Result<()> {
        while sections.len() > MAX_MERGED_SECTIONS {
            let remaining = sections.split_off(MAX_MERGED_SECTIONS);
            let bytes = sections.iter().map(|section| section.bytes).sum();
            let merged = self.section(bytes, |push| self.merge_few(&sections, control, push))?;
            sections = remaining;
            sections.push(merged);
        }
        self.merge_few(&sections, control, &mut take)
    }

    /// Merges sections, all of them at once.
    fn merge_few(
        &self,
        sections: &[SortedSlots],
        control: &Control,
        take: &mut dyn FnMut(&CountSlot, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let window = (self.merge_bytes / sections.len().max(1)).clamp(1 << 12, 1 << 18);
        room::check_available(window * sections.len())?;
        let mut heap = BinaryHeap::new();
        for section in sections {
            heap.extend(SectionReader::open(self, section, window)?);
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

    /// Writes a section of at most `bytes` bytes: what `fill` pushes.
    fn section(
        &self,
        bytes: u64,
        fill: impl FnOnce(&mut dyn FnMut(&CountSlot, &[u8]) -> Result<()>) -> Result<()>,
    ) -> Result<SortedSlots> {
        let file = self.reserve(bytes)?;
        let (start, mut slots) = (file.at, 0);
        let failed = |source| Error::Spill { folder: self.folder.clone(), written: start, source };
        let mut out = BufWriter::with_capacity(WRITE_BYTES.min(bytes as usize), file);
        fill(&mut |slot, arena| {
            slots += 1;
            let long = if slot.is_long() { &arena[slot.place()..][..slot.arena_bytes(arena)] } else { &[] };
            out.write_all(&slot.to_bytes()).and_then(|()| out.write_all(long)).map_err(failed)
        })?;
        out.flush().map_err(failed)?;
        Ok(SortedSlots { slots, start, bytes })
    }

    /// Reserves the next bytes of the file.
    fn reserve(&self, bytes: u64) -> Result<FileAt> {
        let (file, end) = &mut *self.written.lock();
        let (folder, at) = (&self.folder, *end);
        let failed = |source| Error::Spill { folder: folder.clone(), written: at, source };
        let file = match file {
            Some(file) => file,
            none => none.insert(Arc::new(tempfile::tempfile_in(folder).map_err(failed)?)),
        };
        *end += bytes;
        Ok(FileAt { file: file.clone(), at })
    }
}

/// A place in the file, from which bytes are read or written.
struct FileAt {
    file: Arc<File>,
    at: u64,
}

impl Read for FileAt {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = read_at(&self.file, self.at, bytes)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Write for FileAt {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        write_at(&self.file, bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads the slots of a section in order. Readers are ordered by their current slot in reverse, so that a
/// heap returns the reader with the least slot first.
struct SectionReader {
    read: BufReader<FileAt>,
    /// Slots after the current one.
    left: usize,
    /// The current slot.
    slot: CountSlot,
    /// The arena of the current slot: its pretoken at offset 0, if that is long.
    long: Vec<u8>,
}

impl SectionReader {
    /// A reader at the first slot of a section; `None` for an empty section.
    fn open(spill: &SpillFile, section: &SortedSlots, window: usize) -> Result<Option<Self>> {
        let Some(file) = spill.written.lock().0.clone() else { return Ok(None) };
        let read = BufReader::with_capacity(window, FileAt { file, at: section.start });
        let mut reader =
            SectionReader { read, left: section.slots, slot: CountSlot::default(), long: Vec::new() };
        Ok(reader.advance(spill)?.then_some(reader))
    }

    /// Moves to the next slot; returns `false` at the end.
    fn advance(&mut self, spill: &SpillFile) -> Result<bool> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
        self.left = left;
        let failed = |source| Error::Spill { folder: spill.folder.clone(), written: spill.bytes(), source };
        let mut slot = [0; 32];
        self.read.read_exact(&mut slot).map_err(failed)?;
        self.slot = CountSlot::from_bytes(&slot);
        if self.slot.is_long() {
            self.slot = self.slot.moved_to(0);
            let mut len = [0; 8];
            self.read.read_exact(&mut len).map_err(failed)?;
            self.long.clear();
            room::extend(&mut self.long, &len)?;
            room::resize(&mut self.long, len.len() + u64::from_le_bytes(len) as usize)?;
            self.read.read_exact(&mut self.long[len.len()..]).map_err(failed)?;
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
        let append = |bytes: &[u8]| {
            let mut file = spill.reserve(bytes.len() as u64).unwrap();
            file.write_all(bytes).unwrap();
            file.at - bytes.len() as u64
        };
        append(&[255; 4096]);
        let file = spill.written.lock().0.clone().unwrap();
        let write = |thread: usize| {
            let bytes = |round: usize| vec![(2 * round + thread) as u8; 1 + thread + 97 * round % 500];
            (0..1000).map(bytes).map(|bytes| (append(&bytes), bytes)).collect::<Vec<_>>()
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
