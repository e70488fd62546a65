//! Several threads: one long text, a batch of texts, a file.

mod batch;
mod file;
mod long_text;

pub use batch::EncodedBatch;
pub use file::FileOptions;
