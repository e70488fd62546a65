//! Sources of text: files, read at any offset and cut only where no result can change, and text in memory.

mod blocks;
mod checksum;
mod cuts;
mod file;
mod input;
mod records;
mod stamp;
mod stream;
mod text;
mod utf8;
mod writeback;
mod xz;

pub(crate) use blocks::{Blocks, StreamBlock};
pub use checksum::{WrittenHashes, checksum};
pub use cuts::Cutter;
pub(crate) use cuts::Guard;
pub(crate) use file::{SourceFile, read_at, write_at};
pub use input::{DocumentFormat, InputFile};
pub(crate) use records::text_of;
pub use stamp::Stamp;
pub use stream::Compression;
pub(crate) use stream::{ByteStream, max_bytes_of};
pub use text::Text;
pub(crate) use utf8::Utf8Window;
