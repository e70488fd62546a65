//! Written bytes on their way to the disk.
#![allow(unsafe_code)] // calls the system

use std::fs::File;

/// Asks the system to begin now to write `len` bytes of a file, from `at` on, to the disk, and does not wait for it.
///
/// Otherwise the system begins when the file is synced: the call would then wait, with nothing left to do. Where the
/// system has no such request, nothing happens.
pub(super) fn begin_writeback(file: &File, at: u64, len: usize) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let (at, len) = (at.cast_signed(), (len as u64).cast_signed());
        // SAFETY: the call takes numbers alone, and the descriptor is open as long as `file` is borrowed. An error
        // means only that the bytes are written to disk later.
        unsafe { libc::sync_file_range(file.as_raw_fd(), at, len, libc::SYNC_FILE_RANGE_WRITE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, at, len);
}
