//! Types that ids are kept in.

use std::mem::MaybeUninit;

use crate::error::{Error, Result};
use crate::room;

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
