//! Sixty-four bytes at a time: what kind of byte stands where, as bit masks, by the instruction set of the machine.
//!
//! One small file an instruction set, and the only `unsafe` code of the scanners. A value of a leaf's type
//! exists only where its instruction set does: that is what every block here rests on.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod classes;
mod isa;
mod kernel;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod prefetch;
mod tables;
#[cfg(test)]
mod tests;
mod unchecked;

pub use classes::ENDS;
pub(crate) use classes::{Ascii, BLOCK_BYTES, NonAscii};
pub use isa::Isa;
pub(crate) use kernel::{Kernel, LANES, SALT, Simd, fold};
pub(crate) use portable::Portable;
pub(crate) use prefetch::prefetch;
pub(crate) use unchecked::{eight, put, sixteen};
