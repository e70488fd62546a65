//! The checksum of a file: BLAKE3, which a core computes several times as fast as SHA-256.

use std::fs::File;
use std::path::Path;

use super::file::read_at;
use crate::control::{Control, Stage};
use crate::error::{Error, Result};
use crate::room;

/// Bytes that are read at once: few enough to stay in the cache until they are hashed.
const WINDOW_BYTES: usize = 512 << 10;

/// The number of bytes of a file, and their BLAKE3 in hex, as `b3sum` prints it.
///
/// # Errors
/// [`Error::Io`]; [`Error::Interrupted`]; [`Error::OutOfMemory`].
pub fn checksum(path: &Path, control: &Control) -> Result<(u64, String)> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    control.begin(Stage::Check, file.metadata().map_err(failed)?.len());
    let mut window = Vec::new();
    room::resize(&mut window, WINDOW_BYTES)?;
    let (mut hasher, mut size) = (blake3::Hasher::new(), 0);
    loop {
        control.check()?;
        let read = read_at(&file, size, &mut window).map_err(failed)?;
        hasher.update(&window[..read]);
        size += read as u64;
        control.advance(read as u64);
        if read < WINDOW_BYTES {
            return Ok((size, hasher.finalize().to_hex().to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// The published test vectors of BLAKE3: the byte at place n is n modulo 251.
    #[test]
    fn a_checksum_is_that_of_the_published_vectors() {
        let vectors = [
            (0_u64, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
            (1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
            (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
            (102_400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
        ];
        for (len, expected) in vectors {
            let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            assert_eq!(of(&bytes), (len, expected.to_owned()));
        }
    }

    #[test]
    fn windows_change_no_checksum() {
        for len in [WINDOW_BYTES - 1, WINDOW_BYTES, WINDOW_BYTES + 1, 2 * WINDOW_BYTES, 3 * WINDOW_BYTES + 7]
        {
            let bytes: Vec<u8> = (0..len).map(|at| (at * at % 253) as u8).collect();
            assert_eq!(of(&bytes), (len as u64, blake3::hash(&bytes).to_hex().to_string()));
        }
    }

    fn of(bytes: &[u8]) -> (u64, String) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        checksum(file.path(), &Control::none()).unwrap()
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = checksum(Path::new("no such file"), &Control::none()).unwrap_err();
        assert!(error.to_string().contains("no such file"), "{error}");
    }
}
