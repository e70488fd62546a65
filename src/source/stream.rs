//! Files that are read from front to back: pipes, and what is compressed.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::workers::Aside;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip; also several one behind the other.
    Gzip,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
}

impl Compression {
    fn name(self) -> &'static str {
        match self {
            Compression::None => "text",
            Compression::Gzip => "gzip",
            Compression::Zstd => "Zstandard",
            Compression::Xz => "xz",
        }
    }
}

/// How many times longer than a file its contents can be (Zstandard: a block of 4 bytes for 2^17).
const EXPANSION: u64 = 1 << 15;
/// For what does not say how long it is.
const ENDLESS: u64 = 1 << 48;

/// A file that is read from front to back.
pub(crate) struct ByteStream {
    path: PathBuf,
    compression: Compression,
    inner: Inner,
    /// Bytes of the file that were read so far.
    taken: Arc<AtomicU64>,
}

enum Inner {
    Read(Box<dyn Read + Send>),
    /// What may wait for ever.
    Aside(Aside),
}

/// More than the contents of a file of this name can be long, without reading it.
pub(crate) fn most_bytes(path: &Path, compression: Compression) -> Result<u64> {
    let meta = std::fs::metadata(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    Ok(match compression {
        _ if !meta.is_file() => ENDLESS,
        // Some files hold text and say that they are empty: those of Linux's /proc.
        Compression::None if meta.len() == 0 => 1 << 32,
        Compression::None => meta.len(),
        _ => (meta.len() + (1 << 10)).saturating_mul(EXPANSION),
    })
}

impl ByteStream {
    pub(crate) fn open(path: &Path, compression: Compression) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let taken = Arc::new(AtomicU64::new(0));
        let meta = std::fs::metadata(path).map_err(failed)?;
        let inner = if meta.is_file() {
            let file = File::open(path).map_err(failed)?;
            let size = match meta.len() {
                0 => u64::MAX,
                size => size, // what is appended meanwhile is not read
            };
            let read = Box::new(Counted { read: file.take(size), taken: taken.clone() });
            Inner::Read(decoder(read, compression).map_err(failed)?)
        } else if compression == Compression::None {
            Inner::Aside(Aside::open(path))
        } else {
            let read = Box::new(Counted { read: File::open(path).map_err(failed)?, taken: taken.clone() });
            Inner::Read(decoder(read, compression).map_err(failed)?)
        };
        Ok(ByteStream { path: path.to_owned(), compression, inner, taken })
    }

    /// Bytes of the file that were read since this was last asked.
    pub(crate) fn take_progress(&self) -> u64 {
        self.taken.swap(0, Relaxed)
    }

    /// Appends up to `want` bytes; returns how many: 0 only at the end.
    pub(crate) fn read(&mut self, want: usize, bytes: &mut Vec<u8>, control: &Control) -> Result<usize> {
        control.check()?;
        match &mut self.inner {
            Inner::Read(read) => {
                let before = bytes.len();
                let done = read.by_ref().take(want as u64).read_to_end(bytes);
                let count = bytes.len() - before;
                match done {
                    Ok(_) => Ok(count),
                    Err(source) => Err(self.failed(source)),
                }
            }
            Inner::Aside(aside) => {
                let Some(piece) = aside.next(control)? else { return Ok(0) };
                self.taken.fetch_add(piece.len() as u64, Relaxed);
                bytes.extend_from_slice(&piece);
                Ok(piece.len())
            }
        }
    }

    /// An error of the system, or of what the file holds.
    fn failed(&self, source: std::io::Error) -> Error {
        if source.raw_os_error().is_some() || self.compression == Compression::None {
            return Error::Io { path: self.path.clone(), source };
        }
        let reason = match source.kind() {
            ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
            _ => source.to_string(),
        };
        Error::Corrupt { path: self.path.clone(), format: self.compression.name(), reason }
    }
}

fn decoder(read: Box<dyn Read + Send>, compression: Compression) -> std::io::Result<Box<dyn Read + Send>> {
    let buffered = |read| BufReader::with_capacity(1 << 17, read);
    Ok(match compression {
        Compression::None => read,
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(read))),
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(buffered(read))?;
            decoder.window_log_max(31)?; // as `zstd --long=31` writes
            Box::new(decoder)
        }
        Compression::Xz => Box::new(lzma_rust2::XzReader::new(buffered(read), true)),
    })
}

/// Counts the bytes that are read.
struct Counted<R> {
    read: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let count = self.read.read(room)?;
        self.taken.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}
