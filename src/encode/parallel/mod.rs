//! Several threads: one long text, a batch of texts, a file.

mod batch;
mod file;
mod joined;
mod long_text;

pub use batch::EncodedBatch;
pub use file::FileOptions;
