//! Destinations for the ids of a file: an array, or a file of numbers.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::room;

/// A destination for the ids of a file.
pub trait IdDestination: Send {
    /// The ids of a part of the file, converted by the thread that found them.
    type Prepared: Send;
    /// Converts the ids of a part for [`IdDestination::take`]; called on many threads at once.
    ///
    /// # Errors
    /// An id does not fit into the type of the destination; no memory.
    fn prepare(ids: Vec<u32>) -> Result<Self::Prepared>;
    /// Takes the parts in the order of the file, one at a time.
    ///
    /// # Errors
    /// The part cannot be written or kept.
    fn take(&mut self, part: Self::Prepared) -> Result<()>;
}

/// A type that ids are kept in.
pub trait IdType: Copy + Send + 'static {
    /// Converts an id to this type.
    ///
    /// # Errors
    /// [`Error::IdTooWide`].
    fn of(id: u32) -> Result<Self>;
    /// Converts all ids.
    ///
    /// # Errors
    /// [`Error::IdTooWide`], for the first.
    fn all(ids: Vec<u32>) -> Result<Vec<Self>> {
        let mut all = room::for_items(ids.len())?;
        for id in ids {
            all.push(Self::of(id)?);
        }
        Ok(all)
    }
    /// Appends the bytes of the id, little-endian.
    fn put(self, bytes: &mut Vec<u8>);
}

impl IdType for u32 {
    #[inline]
    fn of(id: u32) -> Result<Self> {
        Ok(id)
    }

    fn all(ids: Vec<u32>) -> Result<Vec<Self>> {
        Ok(ids)
    }

    #[inline]
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }
}

impl IdType for u16 {
    #[inline]
    fn of(id: u32) -> Result<Self> {
        u16::try_from(id).map_err(|_| Error::IdTooWide { id })
    }

    #[inline]
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }
}

/// Ids gathered in memory.
#[derive(Debug, Default)]
pub struct IdArray<T>(pub Vec<T>);

impl<T: IdType> IdDestination for IdArray<T> {
    type Prepared = Vec<T>;

    fn prepare(ids: Vec<u32>) -> Result<Vec<T>> {
        T::all(ids)
    }

    fn take(&mut self, part: Vec<T>) -> Result<()> {
        room::extend(&mut self.0, &part)
    }
}

/// Ids written to a file, one after the other, little-endian.
pub struct IdFile<T> {
    file: File,
    /// The name of the file in errors.
    name: PathBuf,
    /// Ids written.
    pub count: u64,
    width: std::marker::PhantomData<T>,
}

impl<T: IdType> IdFile<T> {
    /// Appends to `file`.
    pub fn new(file: File, name: PathBuf) -> Self {
        IdFile { file, name, count: 0, width: std::marker::PhantomData }
    }
}

impl<T: IdType> IdDestination for IdFile<T> {
    type Prepared = Vec<u8>;

    fn prepare(ids: Vec<u32>) -> Result<Vec<u8>> {
        let mut bytes = room::for_items(ids.len() * size_of::<T>())?;
        for id in ids {
            T::of(id)?.put(&mut bytes);
        }
        Ok(bytes)
    }

    fn take(&mut self, part: Vec<u8>) -> Result<()> {
        self.count += (part.len() / size_of::<T>()) as u64;
        self.file.write_all(&part).map_err(|source| Error::Io { path: self.name.clone(), source })
    }
}
