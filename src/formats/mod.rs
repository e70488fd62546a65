//! Files of tokenizers: one file or folder for each format, with its reader and its writer.

mod native;
mod rows;

pub use native::NativeFile;
