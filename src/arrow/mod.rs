//! Arrow's C data interface: columns of other libraries read where they are, and arrays that other libraries take.
//!
//! - [`interface`]: the structures that libraries hand each other.
//! - [`mod@column`]: a column of texts or numbers that came from elsewhere; its type is a [`layout`], the values of one
//!   array are [`rows`], what is found are [`texts`].
//! - [`mod@array`]: an array that is handed on.
//!
//! The structures are those of the specification, "The Arrow C data interface". The crates that have them bring buffers,
//! types and kernels of their own, of which nothing is needed here, and trust the offsets of an array.

pub mod array;
pub mod column;
pub mod interface;
mod layout;
mod rows;
pub mod texts;

pub use array::{Array, Offsets, Values};
pub use column::Column;
pub use texts::Texts;

#[cfg(test)]
#[allow(unsafe_code)] // makes arrays by hand
mod tests;
