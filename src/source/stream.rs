//! Files that are read from front to back: pipes, and what is compressed.

use std::fs::{File, Metadata};
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::stamp::Stamp;
use super::xz::XzDecoder;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;
use crate::workers::BackgroundReader;

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
const MAX_EXPANSION: u64 = 1 << 15;
/// The most bytes that are assumed of a source that does not tell its size.
const UNKNOWN_SIZE_BYTES: u64 = 1 << 48;

/// A file that is read from front to back, and must not change meanwhile.
pub(crate) struct ByteStream {
    path: PathBuf,
    compression: Compression,
    inner: Inner,
    /// The open file, and how it was when it was first seen; none of a pipe or a device.
    watched: Option<(Arc<File>, Stamp)>,
    /// Bytes of the file that were read so far.
    taken: Arc<AtomicU64>,
}

enum Inner {
    Read(Box<dyn Read + Send>),
    /// A pipe or a device, which may never have data.
    BackgroundReader(BackgroundReader),
}

/// More than the contents of a file can be long, without reading it.
pub(crate) fn most_bytes(meta: &Metadata, compression: Compression) -> u64 {
    match compression {
        _ if !meta.is_file() => UNKNOWN_SIZE_BYTES,
        // Some files hold text and say that they are empty: those of Linux's /proc.
        Compression::None if meta.len() == 0 => 1 << 32,
        Compression::None => meta.len(),
        _ => (meta.len() + (1 << 10)).saturating_mul(MAX_EXPANSION),
    }
}

impl ByteStream {
    /// `seen` says how the file was when it was first seen, if that was before.
    pub(crate) fn open(path: &Path, compression: Compression, seen: Option<Stamp>) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let taken = Arc::new(AtomicU64::new(0));
        let meta = std::fs::metadata(path).map_err(failed)?;
        let mut watched = None;
        let inner = if let Some(stamp) = seen.or(Stamp::of(&meta)) {
            let file = Arc::new(File::open(path).map_err(failed)?);
            stamp.check(&file.metadata().map_err(failed)?).map_err(failed)?;
            watched = Some((file.clone(), stamp));
            let size = match stamp.size {
                0 => u64::MAX,
                size => size,
            };
            let read = Box::new(CountingReader { read: file.take(size), taken: taken.clone() });
            Inner::Read(decoder(read, compression).map_err(failed)?)
        } else if compression == Compression::None {
            Inner::BackgroundReader(BackgroundReader::open(path))
        } else {
            let read =
                Box::new(CountingReader { read: File::open(path).map_err(failed)?, taken: taken.clone() });
            Inner::Read(decoder(read, compression).map_err(failed)?)
        };
        Ok(ByteStream { path: path.to_owned(), compression, inner, watched, taken })
    }

    /// Looks whether the file is as it was.
    fn check(&self) -> Result<()> {
        let Some((file, stamp)) = &self.watched else { return Ok(()) };
        let checked = file.metadata().and_then(|now| stamp.check(&now));
        checked.map_err(|source| Error::Io { path: self.path.clone(), source })
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
                if done.is_err() || count == 0 {
                    self.check()?;
                }
                done.map(|_| count).map_err(|source| self.failed(source))
            }
            Inner::BackgroundReader(background_reader) => {
                let Some(piece) = background_reader.next(control)? else { return Ok(0) };
                self.taken.fetch_add(piece.len() as u64, Relaxed);
                room::extend(bytes, &piece)?;
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
        Compression::Xz => Box::new(XzDecoder::new(buffered(read))),
    })
}

/// Counts the bytes that are read.
struct CountingReader<R> {
    read: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let count = self.read.read(room)?;
        self.taken.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    type Change = (fn(&File), &'static str);

    /// A change after a stream was opened is found at its end, when all bytes may have been read already.
    #[test]
    fn a_file_that_changes_is_found_out_at_its_end() {
        let path = std::env::temp_dir().join(format!("toksmith-stream-{}", std::process::id()));
        let changes: [Change; 3] = [
            (
                |file| file.set_len(150_000).unwrap(),
                "became shorter while it was read, from 200000 to 150000",
            ),
            (
                |mut file| file.write_all(b"more").unwrap(),
                "became longer while it was read, from 200000 to 200004",
            ),
            (|file| file.set_modified(std::time::UNIX_EPOCH).unwrap(), "was changed while it was read"),
        ];
        for (change, said) in changes {
            std::fs::write(&path, vec![b'x'; 200_000]).unwrap();
            let control = Control::none();
            let mut stream = ByteStream::open(&path, Compression::None, None).unwrap();
            let mut bytes = Vec::new();
            stream.read(1000, &mut bytes, &control).unwrap();
            change(&File::options().append(true).open(&path).unwrap());
            let rest = std::iter::from_fn(|| Some(stream.read(1 << 16, &mut bytes, &control)));
            let end = rest.take(10).find(|read| !matches!(read, Ok(1..)));
            let error = end.unwrap().unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
