//! Sources of text: files, read at any offset and cut only where no result can change, and text in memory.

#[cfg(feature = "train")]
mod blocks;
#[cfg(feature = "train")]
mod broken;
#[cfg(feature = "shards")]
mod checksum;
#[cfg(feature = "train")]
mod chunk_cuts;
#[cfg(feature = "train")]
mod compression;
mod cuts;
#[cfg(feature = "train")]
mod documents;
mod file;
#[cfg(feature = "train")]
mod frames;
#[cfg(feature = "compression")]
mod gzip;
#[cfg(feature = "train")]
mod http;
#[cfg(feature = "train")]
mod input;
#[cfg(feature = "train")]
mod items;
#[cfg(feature = "train")]
mod json_scan;
#[cfg(feature = "train")]
mod kinds;
#[cfg(feature = "train")]
mod parts;
#[cfg(feature = "train")]
mod plan;
#[cfg(feature = "train")]
mod records;
mod regular;
#[cfg(feature = "train")]
mod section;
#[cfg(feature = "train")]
mod separator;
#[cfg(feature = "train")]
mod skipped;
#[cfg(feature = "train")]
mod sniff;
#[cfg(feature = "train")]
mod sources;
mod stamp;
#[cfg(feature = "train")]
mod stream;
#[cfg(feature = "train")]
mod streams;
#[cfg(feature = "train")]
mod tar;
mod text;
mod utf8;
#[cfg(feature = "train")]
mod warc;
#[cfg(feature = "train")]
mod whole;
mod writeback;
#[cfg(feature = "compression")]
mod xz;

#[cfg(feature = "shards")]
pub(crate) use checksum::checksum_of_start;
#[cfg(feature = "shards")]
pub use checksum::{WrittenHashes, checksum};
#[cfg(feature = "train")]
pub(crate) use chunk_cuts::ChunkCutter;
#[cfg(feature = "train")]
pub use compression::{AnyRead, Compression};
pub use cuts::Cutter;
pub(crate) use cuts::Guard;
pub(crate) use file::{SourceFile, read_at, write_at, write_through_at};
#[cfg(feature = "train")]
pub use input::{DocumentFormat, InputFile, MAX_RECORD_BYTES};
#[cfg(feature = "train")]
pub use kinds::{Format, not_plain, substitute};
#[cfg(feature = "train")]
pub(crate) use parts::{ChunkDocuments, DocumentPart};
#[cfg(feature = "train")]
pub(crate) use plan::{Chunk, ChunkJob, Plan};
pub(crate) use regular::{Links, open_regular};
#[cfg(feature = "train")]
pub use skipped::Skipped;
#[cfg(feature = "train")]
pub use sniff::format_of_file;
#[cfg(feature = "train")]
pub use sources::{Cursor, Opener, ReadOptions, Source};
pub use stamp::Stamp;
#[cfg(feature = "python")]
pub(crate) use stream::ByteStream;
#[cfg(feature = "train")]
pub use streams::{DocumentReader, ReadDocument};
pub use text::Text;
#[cfg(feature = "train")]
pub(crate) use utf8::late_character;
pub(crate) use utf8::valid_utf8;
#[cfg(feature = "train")]
pub(crate) use whole::write_whole;
