//! Arrow's C data interface: columns of other libraries are read in place, and other libraries read arrays of
//! this crate.
//!
//! - [`interface`]: the structures that libraries pass to each other.
//! - [`mod@column`]: a column of texts or numbers of another library. Its type, the values of one array and
//!   the texts are in [`rows`].
//! - [`mod@array`]: an array that is passed to another library.
//!
//! The structures are those of the specification, "The Arrow C data interface". The crates that have them
//! come with buffers, types and kernels that are not needed here, and they trust the offsets of an array.

mod array;
mod column;
pub mod interface;
mod rows;

pub use array::{Array, MAX_NARROW, Values};
pub use column::Column;
pub use rows::Texts;

#[cfg(test)]
#[allow(unsafe_code)] // makes arrays by hand
mod tests;
