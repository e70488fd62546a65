//! Files of tokenizers: one file or folder for each format, with its reader and its writer.
//!
//! [`FORMATS`] has a row for each format: its name, how it is recognised, and its reader. To add a format, add a file here and
//! a row there. Folders of several files are read by the Python package.

mod exchange;
pub mod gguf;
pub mod huggingface;
mod load;
mod minbpe;
mod native;
mod others;
mod ranks;
mod rows;
pub mod sentencepiece;
mod state;
mod tekken;

pub use load::{FORMATS, FileKind, HEAD_BYTES, recognise};
pub use minbpe::{MinbpeFile, minbpe_merges};
pub use native::NativeFile;
pub use ranks::RankLines;
pub use tekken::{TekkenFile, tekken_file};
