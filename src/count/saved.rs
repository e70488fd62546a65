//! The file format of counts.
//!
//! For each pretoken, usually in the order of first occurrence, the file has its length, its bytes, its
//! count, and the difference between its first place and that of the pretoken before, modulo 2^64. A number
//! is written with seven bits in each byte, the lowest first; all bytes but the last one have the highest bit
//! set. The Python package writes what the file has before and after these numbers.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::counts::PretokenCounts;
use super::frequencies::Frequent;
use super::places::{ByteNumbers, ReservedPlaces, sort_by_place};
use super::slot::CountSlot;
use super::spill::{SortedSlots, SpillFile};
use crate::control::{Control, PRETOKENS_PER_CHECK};
use crate::error::{Error, Result};
use crate::room;

/// Writes pretokens to a file.
pub(super) struct Writer<'p> {
    path: &'p Path,
    out: BufWriter<File>,
    /// The place of the pretoken before.
    last: u64,
    bytes: Vec<u8>,
}

impl<'p> Writer<'p> {
    /// A writer that appends to the file.
    pub(super) fn append_to(path: &'p Path) -> Result<Self> {
        let file = OpenOptions::new().append(true).open(path).map_err(Error::io(path))?;
        Ok(Writer { path, out: BufWriter::with_capacity(1 << 17, file), last: 0, bytes: Vec::new() })
    }

    /// Writes a pretoken with its count and its first place.
    pub(super) fn push(&mut self, pretoken: &[u8], count: u64, first: u64) -> Result<()> {
        self.bytes.clear();
        put_number(&mut self.bytes, pretoken.len() as u64);
        room::extend(&mut self.bytes, pretoken)?;
        put_number(&mut self.bytes, count);
        put_number(&mut self.bytes, first.wrapping_sub(self.last));
        self.last = first;
        self.out.write_all(&self.bytes).map_err(Error::io(self.path))
    }

    /// Writes what is still in memory.
    pub(super) fn end(mut self) -> Result<()> {
        self.out.flush().map_err(Error::io(self.path))
    }
}

impl PretokenCounts {
    /// Appends the counts to a file.
    pub fn append_to(&self, path: &Path, control: &Control) -> Result<()> {
        self.check_memory_for_order()?;
        let mut writer = Writer::append_to(path)?;
        for (number, (pretoken, count, first)) in self.iter().enumerate() {
            if number % PRETOKENS_PER_CHECK == 0 {
                control.check()?;
            }
            writer.push(pretoken, count, first)?;
        }
        writer.end()
    }

    /// Reads the `count` pretokens that [`PretokenCounts::append_to`] wrote, from between the two offsets of
    /// a file, and leaves out those that occur less often than `min_count`. `end_place` is a place after all
    /// of them.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Invalid`] for damaged contents and for a pretoken that is there twice;
    /// [`Error::CountOverflow`]; [`Error::Interrupted`].
    pub fn read_from(
        path: &Path,
        (start, end): (u64, u64),
        count: u64,
        end_place: u64,
        min_count: u64,
        control: &Control,
    ) -> Result<Self> {
        let failed = Error::io(path);
        let mut file = File::open(path).map_err(&failed)?;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let read = BufReader::with_capacity(1 << 17, file.take(end.saturating_sub(start)));
        let mut numbers = Numbers { read, path, offset: start, end };
        // Limits memory by the size of the file, whatever its number of pretokens claims: each takes at least
        // four bytes.
        let max_slots = count.min(end.saturating_sub(start) / 4);
        let (mut slots, mut long) = (room::for_items(max_slots as usize)?, Vec::new());
        let (mut first, mut pretoken) = (0u64, Vec::new());
        for number in 0..count {
            if number % PRETOKENS_PER_CHECK as u64 == 0 {
                control.check()?;
            }
            numbers.bytes(&mut pretoken)?;
            let occurrences = numbers.number()?;
            let step = numbers.number()?;
            first = first.wrapping_add(step);
            if pretoken.is_empty() || occurrences == 0 || (number > 0 && step == 0) {
                return Err(numbers.broken());
            }
            if occurrences >= min_count {
                let slot = CountSlot::of(&pretoken, occurrences, first);
                room::push(&mut slots, slot.stored(&pretoken, &mut long)?)?;
            }
        }
        if numbers.offset != end {
            return Err(numbers.broken());
        }
        if !slots.is_sorted_by_key(|slot| slot.first) {
            sort_by_place(&mut slots, control)?;
        }
        if slots.windows(2).any(|pair| pair[0].first == pair[1].first) {
            return Err(numbers.broken());
        }
        let counts = PretokenCounts::from_slots(slots, long, end_place)?;
        counts.make_index(control)?; // which finds a pretoken that is there twice
        Ok(counts)
    }
}

/// Counts that are too many for the memory limit, in the temporary file of their counting.
#[derive(Debug)]
pub struct Oversized {
    /// The sections of each partition.
    pub(super) sections: Vec<Vec<SortedSlots>>,
    pub(super) spill: SpillFile,
    pub(super) spans: Vec<ReservedPlaces>,
    /// The distinct pretokens that occur at least so often, for some counts from 1 on.
    pub frequencies: Vec<Frequent>,
    /// The sum of all counts.
    pub total: u64,
    /// Bytes that the pretokens of the result take, and may take.
    pub(super) needed: u64,
    pub(super) room: u64,
}

impl Oversized {
    /// The number of distinct pretokens.
    pub fn unique(&self) -> u64 {
        self.frequencies.first().map_or(0, |all| all.pretokens)
    }

    /// A place after all occurrences.
    pub fn end_place(&self) -> u64 {
        self.spans.iter().map(|span| span.len).sum()
    }

    /// The error of these counts. It names the lowest minimum count with which the result would fit.
    pub fn error(&self) -> Error {
        let fits = |frequent: &&Frequent| frequent.memory <= self.room;
        let offer = self.frequencies.iter().find(fits).filter(|frequent| frequent.pretokens > 0);
        Error::TooManyUnique {
            unique: self.unique(),
            needed: self.needed,
            room: self.room,
            offer: offer.map(|frequent| (frequent.min_count, frequent.pretokens)),
        }
    }

    /// Appends all counts to a file, as [`PretokenCounts::append_to`] does, but in any order.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Spill`], [`Error::Interrupted`].
    pub fn append_to(&self, path: &Path, control: &Control) -> Result<()> {
        let numbers = ByteNumbers::new(&self.spans);
        let mut writer = Writer::append_to(path)?;
        for sections in &self.sections {
            self.spill.merge(sections.clone(), control, |slot, arena| {
                writer.push(slot.pretoken(arena), slot.count, numbers.of(slot.first))
            })?;
        }
        writer.end()
    }
}

/// Appends a number in the format of the file.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads the numbers and bytes of the format.
struct Numbers<'p, R> {
    read: R,
    path: &'p Path,
    offset: u64,
    end: u64,
}

impl<R: Read> Numbers<'_, R> {
    fn broken(&self) -> Error {
        Error::Invalid(format!("the file of counts is corrupt at byte {}", self.offset))
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.exactly(&mut byte)?;
            let bits = u64::from(byte[0] & 0x7F);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(self.broken())
    }

    /// Reads a length and as many bytes.
    fn bytes(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let length = self.number()?;
        if length > self.end - self.offset {
            return Err(self.broken());
        }
        bytes.clear();
        room::reserve(bytes, length as usize)?;
        bytes.resize(length as usize, 0);
        self.exactly(bytes)
    }

    fn exactly(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.read.read_exact(bytes).map_err(|source| match source.kind() {
            std::io::ErrorKind::UnexpectedEof => self.broken(),
            _ => Error::Io { path: self.path.to_owned(), source },
        })?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}
