//! Files that are read at any offset.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::stamp::Stamp;
use super::writeback::begin_writeback;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;
use crate::workers;

/// The minimum number of written bytes that are written to disk at once: with fewer, the same page would be
/// written again and again.
const MIN_WRITEBACK_BYTES: usize = 64 << 10;

/// A file to read. A change of the file while it is in use is an error.
pub(crate) struct SourceFile {
    path: PathBuf,
    /// Bytes of the file when its stamp was taken.
    pub(crate) size: u64,
    access: FileAccess,
}

/// How a [`SourceFile`] reads.
enum FileAccess {
    /// Opens the file for each read and compares its stamp: thousands of files cannot all stay open.
    Stamp(Stamp),
    /// Keeps the file open, so that the same file is read even if another one takes its name.
    File(File, Stamp),
    /// Has the whole contents in memory. Used where reads at an offset are impossible or the size is unknown:
    /// for pipes and devices.
    Whole(Vec<u8>),
}

impl SourceFile {
    /// A file that is opened for each read. `seen` is the stamp of the file if one was taken before.
    pub(crate) fn open(path: &Path, seen: Option<Stamp>, control: &Control) -> Result<Self> {
        Self::new(path, seen, false, control)
    }

    /// A file that stays open.
    pub(crate) fn hold(path: &Path, control: &Control) -> Result<Self> {
        Self::new(path, None, true, control)
    }

    /// A file that was not opened again since its stamp was taken. It is opened for each read.
    pub(crate) fn of_stamp(path: &Path, stamp: Stamp) -> Self {
        SourceFile { path: path.to_owned(), size: stamp.size, access: FileAccess::Stamp(stamp) }
    }

    fn new(path: &Path, seen: Option<Stamp>, hold: bool, control: &Control) -> Result<Self> {
        let failed = Error::io(path);
        let meta = std::fs::metadata(path).map_err(&failed)?;
        if meta.is_dir() {
            return Err(failed(ErrorKind::IsADirectory.into()));
        }
        let seen = seen.or(Stamp::of(&meta));
        let path = path.to_owned();
        // Files of Linux's /proc have text although their size is given as 0.
        if let Some(stamp) = seen.filter(|stamp| stamp.size > 0) {
            let file = File::open(&path).map_err(&failed)?;
            stamp.check(&file.metadata().map_err(&failed)?).map_err(&failed)?;
            let access = if hold { FileAccess::File(file, stamp) } else { FileAccess::Stamp(stamp) };
            return Ok(SourceFile { path, size: stamp.size, access });
        }
        let whole = workers::read_in_background(&path, control)?;
        if let Some(stamp) = seen {
            stamp.check(&std::fs::metadata(&path).map_err(&failed)?).map_err(&failed)?;
        }
        Ok(SourceFile { path, size: whole.len() as u64, access: FileAccess::Whole(whole) })
    }

    /// Up to `len` bytes from `at` on; fewer only at the end of the file.
    pub(crate) fn read(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let remaining = self.size.saturating_sub(at);
        self.read_exactly(at, remaining.min(len as u64) as usize, &mut bytes)?;
        Ok(bytes)
    }

    /// Replaces the contents of `bytes` by the `len` bytes of the file from `at` on.
    pub(crate) fn read_exactly(&self, at: u64, len: usize, bytes: &mut Vec<u8>) -> Result<()> {
        // What the vector holds is overwritten, so that memory which is used again need not be zeroed.
        room::resize(bytes, len)?;
        let read = match &self.access {
            FileAccess::Stamp(stamp) => {
                File::open(&self.path).and_then(|file| read_unchanged(&file, *stamp, at, bytes))
            }
            FileAccess::File(file, stamp) => read_unchanged(file, *stamp, at, bytes),
            FileAccess::Whole(whole) => Ok(copy_at(whole, at, bytes)),
        };
        let read = read.map_err(|source| self.failed(source))?;
        if read < len {
            let ended = format!("the file ends at byte {}, before its size", at + read as u64);
            return Err(self.failed(std::io::Error::new(ErrorKind::UnexpectedEof, ended)));
        }
        Ok(())
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { path: self.path.clone(), source }
    }

    pub(crate) fn not_utf8(&self, offset: u64) -> Error {
        Error::NotUtf8 { name: self.path.clone(), offset }
    }
}

/// Reads, then checks the stamp of the file. The check comes second, so that a change before the end of the
/// read is found.
fn read_unchanged(file: &File, stamp: Stamp, at: u64, room: &mut [u8]) -> std::io::Result<usize> {
    let read = read_at(file, at, room)?;
    stamp.check(&file.metadata()?)?;
    Ok(read)
}

/// Fills `room` with the bytes from `at` on, and returns how many there were: fewer only at the end. The position of
/// the file is not used, since threads share it.
pub(crate) fn read_at(file: &File, at: u64, room: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while read < room.len() {
        #[cfg(unix)]
        let more = std::os::unix::fs::FileExt::read_at(file, &mut room[read..], at + read as u64);
        #[cfg(windows)]
        let more = std::os::windows::fs::FileExt::seek_read(file, &mut room[read..], at + read as u64);
        match more {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Copies the bytes of `whole` from `at` on to the front of `room`, and returns how many there were.
fn copy_at(whole: &[u8], at: u64, room: &mut [u8]) -> usize {
    let from = &whole[whole.len().min(at as usize)..];
    let count = from.len().min(room.len());
    room[..count].copy_from_slice(&from[..count]);
    count
}

/// Writes bytes at a place of a file, and has the system begin to write them to the disk.
pub(crate) fn write_through_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    write_at(file, bytes, at)?;
    if bytes.len() >= MIN_WRITEBACK_BYTES {
        begin_writeback(file, at, bytes.len());
    }
    Ok(())
}

/// Writes bytes at a place of a file. The position of the file is not used, since threads share it: on Windows, where
/// reading at an offset moves it, bytes that are written at the position would land anywhere.
pub(crate) fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        #[cfg(unix)]
        let written = std::os::unix::fs::FileExt::write_at(file, bytes, at);
        #[cfg(windows)]
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at);
        match written {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
