//! What a tokenizer is, and what it does.
//!
//! [`Tokenizer`](tokenizer) is whole from the start: the [builder] makes it of an encoder, the [pattern] or
//! the [pipeline] around it, and what is known besides, the [record] of its training and its [origin].
//! [`identity`] says when two are equal, [`change`] makes others of it, and [`parts`] reads the steps of a
//! pipeline.

mod builder;
mod change;
mod decode_stream;
mod identity;
mod json;
mod lazy_text;
mod origin;
mod pair;
pub mod parts;
mod pattern;
mod patterns;
mod pipeline;
mod record;
#[cfg(test)]
mod tests;
mod text;
#[expect(clippy::module_inception, reason = "the type that the folder is about")]
mod tokenizer;
mod training;

pub(crate) use builder::Preprocessing;
pub use builder::Provenance;
pub use decode_stream::{DecodeOptions, DecodeStream};
pub use decode_stream::{StreamDecoder, StreamState};
pub use identity::state;
pub(crate) use identity::vocab_fields;
pub(crate) use json::line as json_line;
pub use origin::Origin;
pub(crate) use origin::{
    ADDED, BPE_OPTIONS, CONFIG, GENERATION, MODEL, OBJECTS, ROLES, SPECIALS, TEMPLATE, TEMPLATES, is_known,
};
pub use pair::{Boundary, EncodedPair};
pub use pattern::SourcePattern;
pub use pipeline::Pipeline;
pub use pipeline::token_value;
pub(crate) use pipeline::{PARTS, SETTINGS, added_token, cannot_hold};
pub use record::Record;
pub use record::TIES;
pub use tokenizer::Tokenizer;
pub use training::built;
pub use training::{TrainOptions, train, train_files};
