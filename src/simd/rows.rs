//! Tables of rows of 16 bytes, for automata that are followed by shuffling.

/// Bytes of a row.
pub(crate) const ROW_BYTES: usize = 16;
/// Steps that are taken at once.
pub(crate) const STEPS: usize = 16;
/// The bit of a row's byte that [`super::Simd::follow`] returns for each step.
pub(crate) const FLAG: u8 = 0x40;

/// Bytes of a table. They include a whole row at every offset of 16 bits, so an offset needs no check.
const BYTES: usize = u16::MAX as usize + ROW_BYTES;

/// Rows of an automaton. A byte of a row holds the next state in its lower four bits, and data of the step in
/// the next three. The highest bit is not set.
pub(crate) struct Rows(Box<[u8; BYTES]>);

impl Rows {
    /// Rows of zeros. Memory is taken only where rows are set.
    pub(crate) fn new() -> Self {
        match vec![0; BYTES].into_boxed_slice().try_into() {
            Ok(bytes) => Rows(bytes),
            Err(_) => unreachable!("a vector has the length that it was made with"),
        }
    }

    /// Puts a row at an offset, a multiple of 16.
    pub(crate) fn set(&mut self, offset: u16, row: [u8; ROW_BYTES]) {
        self.0[usize::from(offset)..][..ROW_BYTES].copy_from_slice(&row);
    }

    /// The entry of the row at `offset` for a state, which is in the lower four bits of `state`.
    #[inline(always)]
    pub(crate) fn entry(&self, offset: u16, state: u8) -> u8 {
        self.0[usize::from(offset) + usize::from(state & 15)]
    }

    /// The 16 bytes of the row at `offset`.
    #[inline(always)]
    pub(crate) fn row(&self, offset: u16) -> &[u8; ROW_BYTES] {
        let row = self.0[usize::from(offset)..].first_chunk();
        row.unwrap_or(&[0; ROW_BYTES])
    }
}
