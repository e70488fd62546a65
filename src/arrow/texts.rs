//! The texts of a column, borrowed from its buffers.

use crate::error::Result;
use crate::room;

/// The texts of a column, and which of them are null.
pub struct Texts<'a> {
    /// The texts; a null one is empty.
    pub texts: Vec<&'a [u8]>,
    /// A bit for each text, which is 0 for null; `None` if none is null.
    pub valid: Option<Vec<u8>>,
    /// How many texts are null.
    pub nulls: usize,
}

impl Texts<'_> {
    /// Whether a text is not null.
    pub fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1)
    }

    /// Notes that a text is null, in a column of `rows` texts.
    pub(super) fn set_null(&mut self, row: usize, rows: usize) -> Result<()> {
        let mut bits = match self.valid.take() {
            Some(bits) => bits,
            None => room::filled(0xff, rows.div_ceil(8))?,
        };
        bits[row / 8] &= !(1 << (row % 8));
        (self.valid, self.nulls) = (Some(bits), self.nulls + 1);
        Ok(())
    }
}
