//! What programs in Rust use: tokenizers from files, and training.

pub mod parts;
mod patterns;
mod stream;
#[cfg(test)]
mod tests;
#[expect(clippy::module_inception, reason = "the type that the folder is about")]
mod tokenizer;
#[cfg(feature = "train")]
mod training;

pub(crate) use patterns::SourcePattern;
pub use stream::EncodeStream;
pub use tokenizer::Tokenizer;
#[cfg(feature = "train")]
pub use training::{TrainOptions, train, train_files};
