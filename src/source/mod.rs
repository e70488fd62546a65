//! Sources of text: files, read at any place and cut only where no result can change, and text in memory.

mod blocks;
mod cuts;
mod records;
mod stream;
mod text;
mod utf8;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

pub(crate) use blocks::{Block, Blocks};
pub(crate) use cuts::Cutter;
pub(crate) use records::text_of;
pub use stream::Compression;
pub(crate) use stream::{ByteStream, most_bytes};
pub use text::Text;
pub(crate) use utf8::Utf8Window;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::workers;

/// A file to read.
pub(crate) struct SourceFile {
    path: PathBuf,
    /// Bytes when it was opened; what is appended later is not read.
    pub(crate) size: u64,
    held: Held,
}

/// What is kept of a file between two reads.
enum Held {
    /// Nothing: of thousands of files not all can be open.
    Nothing,
    /// The open file: it is this one that is read, also if another takes its name.
    File(File),
    /// The contents of what cannot be read at any place, or does not say how long it is: a pipe, a device.
    Whole(Vec<u8>),
}

impl SourceFile {
    /// A file that is opened for each read.
    pub(crate) fn open(path: &Path, control: &Control) -> Result<Self> {
        Self::new(path, false, control)
    }

    /// A file that stays open.
    pub(crate) fn hold(path: &Path, control: &Control) -> Result<Self> {
        Self::new(path, true, control)
    }

    fn new(path: &Path, hold: bool, control: &Control) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let meta = std::fs::metadata(path).map_err(failed)?;
        if meta.is_dir() {
            return Err(failed(ErrorKind::IsADirectory.into()));
        }
        let path = path.to_owned();
        // Some files hold text and say that they are empty: those of Linux's /proc.
        if meta.is_file() && meta.len() > 0 {
            let file = File::open(&path).map_err(failed)?;
            let size = file.metadata().map_err(failed)?.len();
            let held = if hold { Held::File(file) } else { Held::Nothing };
            return Ok(SourceFile { path, size, held });
        }
        let whole = workers::read_aside(&path, control)?;
        Ok(SourceFile { path, size: whole.len() as u64, held: Held::Whole(whole) })
    }

    /// Up to `len` bytes from `at` on; fewer only at the end of the file.
    pub(crate) fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(at, len, &mut bytes)?;
        Ok(bytes)
    }

    /// As [`SourceFile::read`], in place of what `bytes` holds.
    pub(crate) fn read_into(&self, at: u64, len: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        let read = match &self.held {
            Held::Nothing => File::open(&self.path).and_then(|file| read_at(&file, at, len, bytes)),
            Held::File(file) => read_at(file, at, len, bytes),
            Held::Whole(whole) => {
                let start = whole.len().min(at as usize);
                bytes.extend_from_slice(&whole[start..whole.len().min(start + len)]);
                Ok(())
            }
        };
        read.map_err(|source| self.failed(source))
    }

    /// As [`SourceFile::read_into`]; fewer bytes are an error.
    pub(crate) fn read_exactly(&self, at: u64, len: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.read_into(at, len, bytes)?;
        if bytes.len() < len {
            let shrunk = "the file became shorter while it was read";
            return Err(self.failed(std::io::Error::new(ErrorKind::UnexpectedEof, shrunk)));
        }
        Ok(())
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { path: self.path.clone(), source }
    }

    pub(crate) fn not_utf8(&self, offset: u64) -> Error {
        Error::NotUtf8 { name: self.path.display().to_string(), offset }
    }
}

/// Reads without a place that threads would share.
pub(crate) fn read_at(file: &File, at: u64, len: usize, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    struct At<'a>(&'a File, u64);
    impl Read for At<'_> {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            #[cfg(unix)]
            let read = std::os::unix::fs::FileExt::read_at(self.0, room, self.1)?;
            #[cfg(windows)]
            let read = std::os::windows::fs::FileExt::seek_read(self.0, room, self.1)?;
            self.1 += read as u64;
            Ok(read)
        }
    }
    bytes.reserve(len);
    At(file, at).take(len as u64).read_to_end(bytes).map(|_| ())
}
