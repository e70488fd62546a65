//! Files that are read from front to back: pipes, and compressed files.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::broken::Broken;
use super::compression::{AnyRead, Compression};
use super::frames::Frames;
use super::input::{DocumentFormat, InputFile};
use super::kinds::check_text;
use super::stamp::Stamp;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;
use crate::workers::BackgroundReader;

/// A file that is read from front to back. A change of the file while it is read is an error.
pub struct ByteStream {
    path: PathBuf,
    compression: Compression,
    /// Whether the first bytes are yet to be checked to be plain text.
    is_unchecked: bool,
    inner: Inner,
    /// The open file and its stamp; `None` for a pipe or a device.
    watched: Option<(Arc<File>, Stamp)>,
    /// Bytes of the file that were read since [`ByteStream::take_progress`].
    taken: Arc<AtomicU64>,
}

enum Inner {
    Read(AnyRead),
    /// Reads a pipe or a device, which may never have data.
    BackgroundReader(BackgroundReader),
}

impl ByteStream {
    /// Opens a file.
    pub fn open(file: &InputFile) -> Result<Self> {
        let path = &file.path;
        let failed = |source| Error::Io { path: path.clone(), source };
        let meta = std::fs::metadata(path).map_err(failed)?;
        let plain =
            file.compression == Compression::None && !matches!(file.records, DocumentFormat::Framed(..));
        let Some(stamp) = file.seen.or(Stamp::of(&meta)) else {
            if plain {
                let inner = Inner::BackgroundReader(BackgroundReader::open(path));
                return Ok(ByteStream { inner, ..Self::of(file, Box::new(std::io::empty()))? });
            }
            return Self::of(file, Box::new(File::open(path).map_err(failed)?));
        };
        let opened = Arc::new(File::open(path).map_err(failed)?);
        stamp.check(&opened.metadata().map_err(failed)?).map_err(failed)?;
        let size = match stamp.size {
            0 => u64::MAX,
            size => size,
        };
        let stream = Self::of(file, Box::new(opened.clone().take(size)))?;
        Ok(ByteStream { watched: Some((opened, stamp)), ..stream })
    }

    /// A stream of bytes from a given reader, in place of the path.
    pub(crate) fn of(file: &InputFile, read: AnyRead) -> Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let read = Box::new(CountingReader { read, taken: taken.clone() });
        let failed = |source| Error::Io { path: file.path.clone(), source };
        let is_unchecked = !file.is_certain && file.records == DocumentFormat::Whole;
        let (path, compression) = (file.path.clone(), file.compression);
        let read = compression.decoder(read).map_err(failed)?;
        let inner = Inner::Read(match file.records {
            DocumentFormat::Framed(format, _) => Box::new(Frames::new(read, format, file.max_record_bytes)),
            _ => read,
        });
        Ok(ByteStream { path, compression, is_unchecked, inner, watched: None, taken })
    }

    /// Fails if the file has changed since its stamp was taken.
    fn check(&self) -> Result<()> {
        let Some((file, stamp)) = &self.watched else { return Ok(()) };
        let checked = file.metadata().and_then(|now| stamp.check(&now));
        checked.map_err(|source| Error::Io { path: self.path.clone(), source })
    }

    /// Bytes of the file that were read since the last call.
    pub(crate) fn take_progress(&self) -> u64 {
        self.taken.swap(0, Relaxed)
    }

    /// Appends up to `want` bytes and returns how many; 0 only at the end.
    pub fn read(&mut self, want: usize, bytes: &mut Vec<u8>, control: &Control) -> Result<usize> {
        let before = bytes.len();
        let count = self.read_any(want, bytes, control)?;
        if std::mem::take(&mut self.is_unchecked)
            && let Err(reason) = check_text(&bytes[before..])
        {
            return Err(Error::Unread { path: self.path.clone(), reason });
        }
        Ok(count)
    }

    fn read_any(&mut self, want: usize, bytes: &mut Vec<u8>, control: &Control) -> Result<usize> {
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
                let Some(block) = background_reader.next(control)? else { return Ok(0) };
                self.taken.fetch_add(block.len() as u64, Relaxed);
                room::extend(bytes, &block)?;
                Ok(block.len())
            }
        }
    }

    /// Turns an I/O error into an error of the system, or of the contents.
    fn failed(&self, source: std::io::Error) -> Error {
        let path = self.path.clone();
        if let Some(broken) = source.get_ref().and_then(|inner| inner.downcast_ref::<Broken>()) {
            return Error::Unread { path, reason: broken.to_string() };
        }
        if source.raw_os_error().is_some() || self.compression == Compression::None {
            return Error::Io { path, source };
        }
        let reason = match source.kind() {
            ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
            _ => source.to_string(),
        };
        let format = self.compression.title();
        Error::Unread { path, reason: format!("not a complete {format} file: {reason}") }
    }
}

/// A reader that counts the bytes it has read.
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
