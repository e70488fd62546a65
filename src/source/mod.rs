//! Sources of text: files, read at any offset and cut only where no result can change, and text in memory.

mod broken;
#[cfg(feature = "shards")]
mod checksum;
mod chunk_cuts;
mod compression;
mod cuts;
mod file;
mod frames;
#[cfg(feature = "compression")]
mod gzip;
mod http;
mod input;
mod items;
mod json_scan;
mod kinds;
mod parts;
mod plan;
mod records;
mod regular;
mod section;
mod separator;
mod skipped;
mod sniff;
mod stamp;
mod stream;
mod streams;
mod tar;
mod text;
mod utf8;
mod warc;
#[cfg(feature = "compression")]
mod xz;

#[cfg(feature = "shards")]
pub(crate) use checksum::checksum_of_start;
#[cfg(feature = "shards")]
pub use checksum::{WrittenHashes, checksum};
pub(crate) use chunk_cuts::ChunkCutter;
pub use compression::{AnyRead, Compression};
pub use cuts::Cutter;
pub(crate) use cuts::Guard;
pub(crate) use file::{read_at, write_at, write_through_at};
pub use input::{Cursor, DocumentFormat, Fields, InputFile, MAX_RECORD_BYTES, Opener, ReadOptions};
pub use kinds::{Format, not_plain, substitute};
pub(crate) use parts::{ChunkDocuments, DocumentPart};
pub(crate) use plan::Plan;
pub(crate) use records::JsonText;
pub(crate) use regular::{Links, open_regular, write_whole};
pub use skipped::Skipped;
pub use sniff::format_of_file;
pub use stamp::Stamp;
pub use stream::ByteStream;
pub(crate) use streams::{Chunk, ChunkJob};
pub use streams::{DocumentReader, ReadDocument};
pub use text::Text;
pub use utf8::valid_utf8;
