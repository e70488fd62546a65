//! What the instruction set of a machine has to offer.

mod prefetch;

pub(crate) use prefetch::prefetch;
