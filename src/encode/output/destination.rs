//! Destinations for the ids of a file: an array, or a file of numbers.

use std::fs::File;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::sync::Arc;

use super::id_bytes::IdBytes;
use super::sink::Sink;
use crate::error::{Error, Result};
use crate::room;
use crate::source::write_through_at;

/// A destination for the ids of a file.
pub trait IdDestination: Send {
    /// Takes the ids of a part of the file, in the thread that finds them.
    type PartSink: Sink;
    /// The ids of a part of the file, converted by the same thread.
    type Prepared: Send;
    /// A part whose place is known, and that is still to be written there.
    type Placed: Send;
    /// A sink for the ids of a part, with room for `count` ids; called on many threads at once.
    fn sink(count: usize) -> Result<Self::PartSink>;
    /// Converts the ids of a part for [`IdDestination::place`]; called on many threads at once.
    ///
    /// # Errors
    /// An id does not fit into the type of the destination; no memory.
    fn prepare(ids: Self::PartSink) -> Result<Self::Prepared>;
    /// Takes the parts in the order of the file, one at a time. What it returns is given to [`IdDestination::write`].
    ///
    /// # Errors
    /// The part cannot be kept.
    fn place(&mut self, part: Self::Prepared) -> Result<Option<Self::Placed>>;
    /// Writes a part; called on many threads at once.
    ///
    /// # Errors
    /// The part cannot be written.
    fn write(placed: Self::Placed) -> Result<()>;
}

/// A type that ids are kept in.
pub trait IdType: Copy + Send + 'static {
    /// Converts all ids.
    ///
    /// # Errors
    /// [`Error::IdTooWide`], for the first.
    fn all(ids: Vec<u32>) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        Self::append(&ids, &mut all)?;
        Ok(all)
    }
    /// Appends ids. If that fails, no id is appended.
    ///
    /// # Errors
    /// [`Error::IdTooWide`], for the first; [`Error::OutOfMemory`].
    fn append(ids: &[u32], all: &mut Vec<Self>) -> Result<()>;
    /// Writes ids to memory of their number. If that fails, what is written is undefined.
    ///
    /// # Errors
    /// [`Error::IdTooWide`], for the first.
    fn fill(ids: &[u32], memory: &mut [MaybeUninit<Self>]) -> Result<()>;
    /// The vector itself, if ids can be written to it without conversion.
    fn as_u32(all: &mut Vec<Self>) -> Option<&mut Vec<u32>>;
    /// Whether the type has 32 bits; otherwise 16.
    const IS_WIDE: bool;
}

impl IdType for u32 {
    const IS_WIDE: bool = true;

    fn all(ids: Vec<u32>) -> Result<Vec<Self>> {
        Ok(ids)
    }

    fn append(ids: &[u32], all: &mut Vec<Self>) -> Result<()> {
        room::extend(all, ids)
    }

    fn fill(ids: &[u32], memory: &mut [MaybeUninit<Self>]) -> Result<()> {
        memory.iter_mut().zip(ids).for_each(|(to, &id)| _ = to.write(id));
        Ok(())
    }

    fn as_u32(all: &mut Vec<Self>) -> Option<&mut Vec<u32>> {
        Some(all)
    }
}

impl IdType for u16 {
    const IS_WIDE: bool = false;

    fn append(ids: &[u32], all: &mut Vec<Self>) -> Result<()> {
        check_width(ids)?;
        room::reserve(all, ids.len())?;
        all.extend(ids.iter().map(|&id| id as u16));
        Ok(())
    }

    fn fill(ids: &[u32], memory: &mut [MaybeUninit<Self>]) -> Result<()> {
        check_width(ids)?;
        memory.iter_mut().zip(ids).for_each(|(to, &id)| _ = to.write(id as u16));
        Ok(())
    }

    fn as_u32(_: &mut Vec<Self>) -> Option<&mut Vec<u32>> {
        None
    }
}

/// Fails for the first id that has more than 16 bits.
fn check_width(ids: &[u32]) -> Result<()> {
    ids.iter().find(|&&id| id > u32::from(u16::MAX)).map_or(Ok(()), |&id| Err(Error::IdTooWide(id)))
}

/// Ids gathered in memory.
#[derive(Debug, Default)]
pub struct IdArray<T>(pub Vec<T>);

impl<T: IdType> IdDestination for IdArray<T> {
    type PartSink = Vec<u32>;
    type Prepared = Vec<T>;
    type Placed = ();

    fn sink(count: usize) -> Result<Vec<u32>> {
        room::for_items(count)
    }

    fn prepare(ids: Vec<u32>) -> Result<Vec<T>> {
        T::all(ids)
    }

    fn place(&mut self, part: Vec<T>) -> Result<Option<()>> {
        room::extend(&mut self.0, &part).map(|()| None)
    }

    fn write((): ()) -> Result<()> {
        Ok(())
    }
}

/// Ids written to a file, one after the other, little-endian.
pub struct IdFile<T> {
    file: Arc<NamedFile>,
    /// Bytes of the file before the ids.
    start: u64,
    /// Ids that have a place in the file.
    pub count: u64,
    width: std::marker::PhantomData<T>,
}

/// A file with its name in errors.
struct NamedFile(File, PathBuf);

/// Bytes that have a place in a file.
pub struct PlacedBytes {
    file: Arc<NamedFile>,
    at: u64,
    bytes: Vec<u8>,
}

impl<T: IdType> IdFile<T> {
    /// Writes to `file` from `start` on. The file must not be open for appending.
    pub fn new(file: File, start: u64, name: PathBuf) -> Self {
        let file = Arc::new(NamedFile(file, name));
        IdFile { file, start, count: 0, width: std::marker::PhantomData }
    }
}

impl<T: IdType> IdDestination for IdFile<T> {
    type PartSink = IdBytes;
    type Prepared = Vec<u8>;
    type Placed = PlacedBytes;

    fn sink(count: usize) -> Result<IdBytes> {
        IdBytes::for_ids(count, T::IS_WIDE)
    }

    fn prepare(ids: IdBytes) -> Result<Vec<u8>> {
        Ok(ids.bytes)
    }

    fn place(&mut self, bytes: Vec<u8>) -> Result<Option<PlacedBytes>> {
        let width = size_of::<T>() as u64;
        let at = self.start + width * self.count;
        self.count += bytes.len() as u64 / width;
        Ok(Some(PlacedBytes { file: self.file.clone(), at, bytes }))
    }

    fn write(PlacedBytes { file, at, bytes }: PlacedBytes) -> Result<()> {
        let NamedFile(file, name) = &*file;
        write_through_at(file, &bytes, at).map_err(|source| Error::Io { path: name.clone(), source })
    }
}
