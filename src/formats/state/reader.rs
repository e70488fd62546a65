//! The parts of a state: numbers, lists of them, and bytes of a known number.

use crate::error::{Error, Result};
use crate::room;

pub(super) fn put(state: &mut Vec<u8>, number: u32) {
    state.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn put_list(state: &mut Vec<u8>, numbers: &[u32]) {
    put(state, numbers.len() as u32);
    numbers.iter().for_each(|&number| put(state, number));
}

/// Reads the parts of a state from its front.
pub(super) struct StateReader<'a>(pub(super) &'a [u8]);

impl<'a> StateReader<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        self.0.split_off(..len).ok_or(Error::BrokenState)
    }

    /// Rows of `N` numbers.
    pub(super) fn rows<const N: usize>(&mut self, count: u32) -> Result<Vec<[u32; N]>> {
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row = [0; N];
            row.iter_mut().try_for_each(|number| self.number().map(|read| *number = read))?;
            room::push(&mut rows, row)?;
        }
        Ok(rows)
    }

    /// A list of numbers with its length in front.
    pub(super) fn numbers(&mut self) -> Result<Vec<u32>> {
        let count = self.number()?;
        Ok(self.rows::<1>(count)?.into_flattened())
    }

    pub(super) fn number(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        bytes.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes)).ok_or(Error::BrokenState)
    }
}
