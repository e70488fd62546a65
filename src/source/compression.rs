//! The compression of a file, and its decoders.

use std::io::Read;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// gzip; a file may have several members.
    Gzip,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
    /// bzip2; a file may have several streams.
    Bzip2,
}

/// A reader of any kind of data.
pub type AnyRead = Box<dyn Read + Send>;

impl Compression {
    /// The name of each in the Python package, and what a file is.
    const NAMES: [(Compression, &str, &str); 4] = [
        (Compression::Gzip, "gzip", "gzip-compressed"),
        (Compression::Zstd, "zstd", "zstd-compressed"),
        (Compression::Xz, "xz", "xz-compressed"),
        (Compression::Bzip2, "bzip2", "bzip2-compressed"),
    ];

    /// The compression with a name of the Python package.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The name that the Python package uses; `None` for no compression.
    pub fn name(self) -> Option<&'static str> {
        Self::NAMES.iter().find(|row| row.0 == self).map(|row| row.1)
    }

    /// What a file with this compression is.
    pub(super) fn kind(self) -> &'static str {
        Self::NAMES.iter().find(|row| row.0 == self).map_or("text", |row| row.2)
    }

    /// The name for messages.
    pub(super) fn title(self) -> &'static str {
        match self {
            Compression::Zstd => "Zstandard",
            other => other.name().unwrap_or("text"),
        }
    }

    /// The compression of data that begins with `head`.
    pub(super) fn of_head(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, 8, ..] => Compression::Gzip,
            // A frame, or a frame to be skipped, with which parallel compressors begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..0x60, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            // A block of data, or the end of a stream without one.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Compression::Bzip2,
            _ => Compression::None,
        }
    }

    /// A reader of the decompressed contents. Its buffer has 128 KB.
    #[cfg(feature = "compression")]
    pub(super) fn decoder(self, read: AnyRead) -> std::io::Result<AnyRead> {
        let buffered = |read| std::io::BufReader::with_capacity(1 << 17, read);
        Ok(match self {
            Compression::None => read,
            Compression::Gzip => Box::new(super::gzip::GzipDecoder::new(buffered(read))),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(buffered(read))?;
                decoder.window_log_max(31)?; // the largest window that `zstd --long` writes
                Box::new(decoder)
            }
            Compression::Xz => Box::new(super::xz::XzDecoder::new(buffered(read))),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(buffered(read))),
        })
    }

    /// The contents of a file without compression. Any other needs the decoders, which this build leaves out.
    #[cfg(not(feature = "compression"))]
    pub(super) fn decoder(self, read: AnyRead) -> std::io::Result<AnyRead> {
        match self {
            Compression::None => Ok(read),
            other => Err(std::io::Error::new(
                std::io::ErrorKind::Unsupported,
                format!("{} needs the feature `compression` of the crate toksmith", other.title()),
            )),
        }
    }

    /// A reader of the contents of what HTTP calls `deflate`: zlib, or the bare data that some servers send.
    #[cfg(feature = "compression")]
    pub(super) fn inflated(mut read: AnyRead) -> std::io::Result<AnyRead> {
        let mut head = Vec::new();
        read.by_ref().take(2).read_to_end(&mut head)?;
        let is_zlib = matches!(head[..], [first, second] if first & 15 == 8
            && (u16::from(first) << 8 | u16::from(second)).is_multiple_of(31));
        let read = std::io::BufReader::new(std::io::Cursor::new(head).chain(read));
        Ok(match is_zlib {
            true => Box::new(flate2::bufread::ZlibDecoder::new(read)),
            false => Box::new(flate2::bufread::DeflateDecoder::new(read)),
        })
    }
}
