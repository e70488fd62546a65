//! What programs in Rust use: tokenizers from files, and training.

mod patterns;
mod stream;
#[cfg(test)]
mod tests;
mod tokenizer;
#[cfg(feature = "train")]
mod training;

pub use stream::EncodeStream;
pub use tokenizer::Tokenizer;
#[cfg(feature = "train")]
pub use training::{TrainOptions, train, train_files};
