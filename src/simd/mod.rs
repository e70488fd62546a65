//! Blocks of 64 bytes: kinds of bytes as bit masks, computed with the instruction set of the machine.
//!
//! Each instruction set has one small file; they contain the only `unsafe` code of the scanners. A value of
//! an instruction set's type can be made only where the machine has that instruction set, and every `unsafe`
//! block in these files relies on that.
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
mod rows;
mod tables;
#[cfg(test)]
mod tests;
mod unchecked;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use classes::ENDS;
pub(crate) use classes::{Ascii, BLOCK_BYTES, NonAscii};
pub use isa::Isa;
pub(crate) use kernel::{Kernel, LANES, Simd, mapped};
pub(crate) use portable::Portable;
pub(crate) use prefetch::prefetch;
pub(crate) use rows::{FLAG, ROW_BYTES, Rows, STEPS};
pub(crate) use unchecked::{eight, put, sixteen};
