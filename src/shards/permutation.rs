//! An order of numbers that is computed from keys, and takes no memory.

use crate::hashing::{GOLDEN, mixed};

/// With fewer rounds the orders of small numbers are visibly uneven.
const ROUNDS: usize = 6;
/// Bytes of the keys.
pub const KEY_BYTES: usize = ROUNDS * 8;

/// A bijection of the numbers below a size, chosen by keys: the same on every machine and in every version.
///
/// It is a Feistel network: a number is a cell of a table of about √size rows and columns, and each round
/// adds to the row a hash of the column, and to the column a hash of the row. A number that lands in one of
/// the few cells beyond the size goes through the rounds again. So the order takes constant memory, and
/// constant time for each number.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    size: u64,
    rows: u64,
    columns: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The maximum size.
    pub const MAX_SIZE: u64 = 1 << 62;

    /// The order of the numbers below `size`, which is at most [`Permutation::MAX_SIZE`].
    pub fn new(size: u64, keys: &[u8; KEY_BYTES]) -> Self {
        let rows = size.saturating_sub(1).isqrt() + 1;
        let (words, _) = keys.as_chunks::<8>();
        let keys = std::array::from_fn(|round| u64::from_le_bytes(words[round]));
        Permutation { size, rows, columns: size.div_ceil(rows).max(1), keys }
    }

    /// How many numbers there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The number at a place of the order; `None` for a place that is not below the size.
    pub fn get(&self, place: u64) -> Option<u64> {
        if place >= self.size {
            return None;
        }
        let mut number = self.step(place);
        while number >= self.size {
            number = self.step(number);
        }
        Some(number)
    }

    fn step(&self, number: u64) -> u64 {
        let (mut row, mut column) = (number / self.columns, number % self.columns);
        for key in self.keys {
            row = (row + mixed((column ^ key).wrapping_add(GOLDEN)) % self.rows) % self.rows;
            column = (column + mixed((row ^ !key).wrapping_add(GOLDEN)) % self.columns) % self.columns;
        }
        row * self.columns + column
    }
}
