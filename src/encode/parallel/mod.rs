//! Several threads: one long text, a batch of texts, a file.

mod batch;
mod file;
mod joined;
mod long_text;

pub use batch::EncodedBatch;
pub(in crate::encode) use batch::runs;
pub use file::FileOptions;
