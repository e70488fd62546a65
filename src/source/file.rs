//! Files that are read and written at any offset.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use super::stamp::Stamp;
use crate::error::{Error, Result};
use crate::room;

/// The minimum number of written bytes that are written to disk at once: with fewer, the same page would be
/// written again and again.
const MIN_WRITEBACK_BYTES: usize = 64 << 10;

/// A regular file to read. It is opened for each read, since thousands of files cannot all stay open; a
/// change since its stamp was taken is an error.
#[derive(Clone, Copy)]
pub(crate) struct PlainFile<'f> {
    pub(super) path: &'f Path,
    pub(super) stamp: Stamp,
}

impl PlainFile<'_> {
    /// Bytes of the file when its stamp was taken.
    pub(crate) fn size(self) -> u64 {
        self.stamp.size
    }

    /// Up to `len` bytes from `at` on; fewer only at the end of the file.
    pub(crate) fn read(self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let remaining = self.size().saturating_sub(at);
        self.read_exactly(at, remaining.min(len as u64) as usize, &mut bytes)?;
        Ok(bytes)
    }

    /// Replaces the contents of `bytes` by the `len` bytes of the file from `at` on.
    pub(crate) fn read_exactly(self, at: u64, len: usize, bytes: &mut Vec<u8>) -> Result<()> {
        // What the vector holds is overwritten, so that memory which is used again need not be zeroed.
        room::resize(bytes, len)?;
        let failed = Error::io(self.path);
        let file = File::open(self.path).map_err(&failed)?;
        let read = read_at(&file, at, bytes).map_err(&failed)?;
        // The check comes second, so that a change before the end of the read is found.
        file.metadata().and_then(|now| self.stamp.check(&now)).map_err(&failed)?;
        if read < len {
            let ended = format!("the file ends at byte {}, before its size", at + read as u64);
            return Err(failed(std::io::Error::new(ErrorKind::UnexpectedEof, ended)));
        }
        Ok(())
    }
}

/// Fills `room` with the bytes from `at` on, and returns how many there were: fewer only at the end. The
/// position of the file is not used, since threads share it.
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

/// Writes bytes at a place of a file, and has the system begin to write them to the disk.
pub(crate) fn write_through_at(file: &File, bytes: &[u8], at: u64) -> std::io::Result<()> {
    write_at(file, bytes, at)?;
    if bytes.len() >= MIN_WRITEBACK_BYTES {
        begin_writeback(file, at, bytes.len());
    }
    Ok(())
}

/// Writes bytes at a place of a file. The position of the file is not used, since threads share it: on
/// Windows, where reading at an offset moves it, bytes that are written at the position would land anywhere.
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

/// Asks the system to begin now to write `len` bytes of a file, from `at` on, to the disk, and does not wait
/// for it.
///
/// Otherwise the system begins when the file is synced: the call would then wait, with nothing left to do.
/// Where the system has no such request, nothing happens.
#[allow(unsafe_code)] // calls the system
fn begin_writeback(file: &File, at: u64, len: usize) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let (at, len) = (at.cast_signed(), (len as u64).cast_signed());
        // SAFETY: the call takes numbers alone, and the descriptor is open as long as `file` is borrowed. An
        // error means only that the bytes are written to disk later.
        unsafe { libc::sync_file_range(file.as_raw_fd(), at, len, libc::SYNC_FILE_RANGE_WRITE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, at, len);
}
