//! Sources of text: files, read at any offset and cut only where no result can change, and text in memory.

mod blocks;
mod broken;
mod checksum;
mod compression;
mod cuts;
mod documents;
mod file;
mod frames;
mod input;
mod items;
mod kinds;
mod records;
mod section;
mod sniff;
mod stamp;
mod stream;
mod tar;
mod text;
mod utf8;
mod warc;
mod writeback;
mod xz;

pub(crate) use blocks::{Blocks, StreamBlock};
pub use checksum::{WrittenHashes, checksum};
pub use compression::{AnyRead, Compression};
pub use cuts::Cutter;
pub(crate) use cuts::Guard;
pub(crate) use documents::{Flaw, Record, Records, not_utf8};
pub(crate) use file::{SourceFile, read_at, write_at, write_through_at};
pub use input::{DocumentFormat, InputFile};
pub use kinds::{Format, not_plain};
pub use sniff::format_of_file;
pub use stamp::Stamp;
pub(crate) use stream::{ByteStream, max_bytes_of};
pub use text::Text;
pub(crate) use utf8::Utf8Window;
