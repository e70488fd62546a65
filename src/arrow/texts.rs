//! The texts of a column, borrowed from its buffers.

use crate::error::Result;
use crate::room;

/// The texts of a column, and which of them are null.
pub(crate) struct Texts<'a> {
    /// The texts; a null one is empty.
    pub(crate) texts: Vec<&'a [u8]>,
    /// A bit for each text, which is 0 for null; `None` if none is null.
    pub(crate) valid: Option<Vec<u8>>,
    /// How many texts are null.
    pub(crate) nulls: usize,
}

impl Texts<'_> {
    /// Whether a text is not null.
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1)
    }

    /// Adds a null text to a column of `rows` texts.
    pub(super) fn push_null(&mut self, rows: usize) -> Result<()> {
        let row = self.texts.len();
        let mut bits = match self.valid.take() {
            Some(bits) => bits,
            None => room::filled(0xff, rows.div_ceil(8))?,
        };
        bits[row / 8] &= !(1 << (row % 8));
        (self.valid, self.nulls) = (Some(bits), self.nulls + 1);
        self.texts.push(&[]);
        Ok(())
    }
}
