//! The `tokenizer.json` of Hugging Face's `tokenizers`.
//!
//! [`reader`] takes the file apart in one pass, [`model`] checks what it says about tokens and merges, [`added`] gives the
//! added tokens their ids, and [`mod@file`] makes a vocabulary of all of it. The steps around the model are
//! [parts](crate::tokenizer::parts) of a tokenizer.

pub(super) mod added;
pub(super) mod file;
pub(super) mod model;
pub(super) mod reader;

pub use added::AddedToken;
pub use file::TokenizerFile;
