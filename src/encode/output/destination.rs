//! Destinations for the ids of a file: an array, or a file of numbers.

use std::fs::File;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::id_bytes::IdBytes;
use super::sink::Sink;
use crate::error::{Error, Result};
use crate::room;
use crate::source::write_through_at;
use crate::vocab::Vocab;

/// A destination for the ids of a file.
pub trait IdDestination: Send {
    /// Takes the ids of a part of the file, in the thread that finds them.
    type Part: Sink + Send;
    /// A part whose place is known, and that is still to be written there.
    type Placed: Send;
    /// Room for `count` ids of a part; called on many threads at once.
    fn part(count: usize) -> Result<Self::Part>;
    /// Takes the parts in the order of the file, one at a time. What it returns is given to [`IdDestination::write`].
    ///
    /// # Errors
    /// The part cannot be kept.
    fn place(&mut self, part: Self::Part) -> Result<Option<Self::Placed>>;
    /// Writes a part; called on many threads at once.
    ///
    /// # Errors
    /// The part cannot be written.
    fn write(placed: Self::Placed) -> Result<()>;
}

/// A type that ids are kept in.
pub trait IdType: Copy + Send + 'static {
    /// Whether the type has 32 bits; otherwise 16.
    const IS_WIDE: bool;
    /// The lowest bits of an id.
    fn lowest_bits(id: u32) -> Self;
    /// The vector itself, if ids can be written to it without conversion.
    fn as_u32(all: &mut Vec<Self>) -> Option<&mut Vec<u32>>;
    /// Appends ids. If that fails, no id is appended.
    ///
    /// # Errors
    /// [`Error::IdTooWide`], for the first; [`Error::OutOfMemory`].
    fn append(ids: &[u32], all: &mut Vec<Self>) -> Result<()> {
        Self::check(ids)?;
        room::reserve(all, ids.len())?;
        all.extend(ids.iter().map(|&id| Self::lowest_bits(id)));
        Ok(())
    }
    /// Writes ids to memory of their number. If that fails, nothing is written.
    ///
    /// # Errors
    /// [`Error::IdTooWide`], for the first.
    fn fill(ids: &[u32], memory: &mut [MaybeUninit<Self>]) -> Result<()> {
        Self::check(ids)?;
        memory.iter_mut().zip(ids).for_each(|(to, &id)| _ = to.write(Self::lowest_bits(id)));
        Ok(())
    }
    /// Fails for the first id that has more bits than the type.
    fn check(ids: &[u32]) -> Result<()> {
        let is_too_wide = |id: &&u32| !Self::IS_WIDE && **id > u32::from(u16::MAX);
        ids.iter().find(is_too_wide).map_or(Ok(()), |&id| Err(Error::IdTooWide(id)))
    }
}

impl IdType for u32 {
    const IS_WIDE: bool = true;

    fn lowest_bits(id: u32) -> Self {
        id
    }

    fn as_u32(all: &mut Vec<Self>) -> Option<&mut Vec<u32>> {
        Some(all)
    }
}

impl IdType for u16 {
    const IS_WIDE: bool = false;

    fn lowest_bits(id: u32) -> Self {
        id as u16
    }

    fn as_u32(_: &mut Vec<Self>) -> Option<&mut Vec<u32>> {
        None
    }
}

/// Ids gathered in memory.
#[derive(Debug, Default)]
pub struct IdArray<T>(pub Vec<T>);

impl<T: IdType> Sink for IdArray<T> {
    fn ids(&mut self, _: &Vocab, ids: &[u32]) -> Result<()> {
        T::append(ids, &mut self.0)
    }

    fn token(&mut self, _: Range<usize>, id: u32) -> Result<()> {
        T::append(&[id], &mut self.0)
    }
}

impl<T: IdType> IdDestination for IdArray<T> {
    type Part = Self;
    type Placed = ();

    fn part(count: usize) -> Result<Self> {
        room::for_items(count).map(IdArray)
    }

    fn place(&mut self, part: Self) -> Result<Option<()>> {
        room::extend(&mut self.0, &part.0).map(|()| None)
    }

    fn write((): ()) -> Result<()> {
        Ok(())
    }
}

/// Ids written to a file, one after the other, little-endian.
pub struct IdFile<T> {
    /// The file with its name in errors.
    file: Arc<(File, PathBuf)>,
    /// Bytes of the file before the ids.
    start: u64,
    /// Ids that have a place in the file.
    pub count: u64,
    width: PhantomData<T>,
}

/// Bytes that have a place in a file.
pub struct PlacedBytes {
    file: Arc<(File, PathBuf)>,
    at: u64,
    bytes: Vec<u8>,
}

impl<T: IdType> IdFile<T> {
    /// Writes to `file` from `start` on. The file must not be open for appending.
    pub fn new(file: File, start: u64, name: PathBuf) -> Self {
        IdFile { file: Arc::new((file, name)), start, count: 0, width: PhantomData }
    }
}

impl<T: IdType> IdDestination for IdFile<T> {
    type Part = IdBytes;
    type Placed = PlacedBytes;

    fn part(count: usize) -> Result<IdBytes> {
        IdBytes::for_ids(count, T::IS_WIDE)
    }

    fn place(&mut self, IdBytes { bytes, .. }: IdBytes) -> Result<Option<PlacedBytes>> {
        let width = size_of::<T>() as u64;
        let at = self.start + width * self.count;
        self.count += bytes.len() as u64 / width;
        Ok(Some(PlacedBytes { file: self.file.clone(), at, bytes }))
    }

    fn write(PlacedBytes { file, at, bytes }: PlacedBytes) -> Result<()> {
        let (file, name) = &*file;
        write_through_at(file, &bytes, at).map_err(|source| Error::Io { path: name.clone(), source })
    }
}
