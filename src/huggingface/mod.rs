//! Files of Hugging Face's `tokenizers`: the model and the added tokens of a `tokenizer.json`.
//!
//! [`reader`] takes the file apart in one pass, [`model`] checks what it says about tokens and merges, [`added`] gives the
//! added tokens their ids, and [`mod@file`] makes a vocabulary of all of it. The other parts stay JSON: they are small.

mod added;
mod file;
mod model;
mod place;
mod reader;

pub use added::AddedToken;
pub use file::TokenizerFile;
