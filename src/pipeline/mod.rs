//! The steps of a Hugging Face tokenizer between a text and its pretokens, in their order:
//!
//! 1. Added tokens that are looked for in the text as it stands.
//! 2. The [`Normalizer`](crate::normalize::Normalizer), on each stretch between them.
//! 3. Added tokens that are looked for in the normalized text.
//! 4. Spaces: U+2581 becomes a plain space, if the vocabulary has these in its place.
//! 5. The [`Rewrite`]s: pieces of a stretch get another character for spaces, and a [`Prefix`] in front.
//!
//! Then the pretokenizer cuts a stretch, and the model merges the pretokens. Each step takes text and passes
//! on text, with the range of the original that each byte comes from where a caller asks for places.
//!
//! Most texts are changed by no step. [`Pipeline`] finds that out at the speed of memory; such a text is
//! encoded like that of a tokenizer without a pipeline.

#[expect(clippy::module_inception, reason = "the type that the folder is about")]
mod pipeline;
mod rewrite;
mod stretches;
mod view;

pub use pipeline::{AddedToken, Pipeline, PipelineParts};
pub use rewrite::{Prefix, Rewrite};
pub(crate) use stretches::{Passage, Stretch, Trust};
