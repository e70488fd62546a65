//! The `tokenizer.json` of Hugging Face's `tokenizers`.
//!
//! [`reader`] takes the file apart in one pass, [`model`] checks what it says about tokens and merges,
//! [`added`] gives the added tokens their ids, and [`mod@file`] makes a tokenizer of all of it. [`auto`]
//! applies what the [files](side_files) of a folder say. [`shapes`] are parts that several formats have. The
//! steps around the model are [parts](crate::tokenizer::parts) of a tokenizer. [`writer`] writes the file,
//! and [`folder_writer`] those beside it.

mod added;
pub(super) mod auto;
pub(super) mod classes;
mod fields;
pub(super) mod file;
mod folder_writer;
pub(super) mod model;
pub(super) mod reader;
pub(super) mod shapes;
pub(super) mod side_files;
pub(super) mod vocabularies;
pub(super) mod writer;

pub(super) use file::tokenizer_of;
pub use file::{TokenizerFile, read_huggingface};
pub(super) use folder_writer::pretty;
pub use folder_writer::{FolderOptions, Roles, end_of_text, folder_files, roles_of};
pub(super) use writer::names;
pub use writer::{pre_tokenizer, write};
