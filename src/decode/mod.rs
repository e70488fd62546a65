//! Ids → text.
//!
//! - [`bytes`]: the bytes of ids, joined.
//! - [`decoder`]: the decoders of Hugging Face's files, a chain of [`stages`] that work on the spelled tokens of ids.
//! - [`text`]: such a decoder for the ids of a vocabulary.

mod bytes;
mod decoder;
mod stages;
mod text;

pub use bytes::{DecodeStep, Offsets, Stop, decode, estimate, step};
pub use decoder::{Decoder, DecoderState, Flow};
pub use stages::{Stage, StageState};
pub use text::TextDecoder;
