//! Ids → text.
//!
//! - [`bytes`]: the bytes of ids, joined.
//! - [`alignment`]: ids of two tokenizers that stand for the same bytes.
//! - [`decoder`]: the decoders of Hugging Face's files, a chain of [`stages`] that work on the spelled tokens
//!   of ids.
//! - [`text`]: such a decoder for the ids of a vocabulary.
//! - [`pieces`]: SentencePiece's decoder.
//! - [`stop`]: strings that end a text.

mod alignment;
mod bytes;
mod decoder;
mod pieces;
mod stages;
mod stop;
mod text;

pub use alignment::{TokenRun, align, ids_in};
pub use bytes::{DecodeStep, Stop, decode, estimate, step};
pub use decoder::{Decoder, DecoderState, Flow};
pub use pieces::PieceRule;
pub use stages::{DecodeStage, StageState};
pub use stop::StopStrings;
pub use text::TextDecoder;
