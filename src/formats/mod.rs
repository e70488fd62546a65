//! Files of tokenizers: one file or folder for each format, with its reader and its writer.
//!
//! A format is a row of [`FORMATS`]. What lies beside what in a folder, and what needs a pattern from elsewhere, the caller
//! knows.

mod load;
mod minbpe;
mod native;
mod others;
mod ranks;
mod rows;
mod tekken;

pub use load::{FORMATS, FileKind, HEAD_BYTES, recognise};
pub use minbpe::{MinbpeFile, minbpe_merges};
pub use native::NativeFile;
pub use ranks::RankLines;
pub use tekken::{TekkenFile, tekken_file};
