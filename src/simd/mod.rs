//! What the instruction set of a machine has to offer.

mod prefetch;
mod wide;

pub(crate) use prefetch::prefetch;
pub(crate) use wide::wide;
