//! Opening files that must be regular ones, and writing them whole: a file is the old one or all of the new
//! one, whatever happens meanwhile.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

use crate::error;

/// Whether a file may be named by a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Follow,
    /// For files that are written: whoever made the link chose another file.
    Refuse,
}

/// Opens a regular file; never waits for a writer of a pipe, and never acts on a device.
pub(crate) fn open_regular(path: &Path, options: &mut OpenOptions, links: Links) -> Result<File> {
    let metadata =
        if links == Links::Follow { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
    match metadata {
        Ok(metadata) => check(&metadata)?,
        Err(error) if error.kind() == ErrorKind::NotFound => (),
        Err(error) => return Err(error),
    }
    // The file may have been replaced since then.
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let follow = if links == Links::Follow { 0 } else { libc::O_NOFOLLOW };
        options.custom_flags(libc::O_NONBLOCK | follow);
    }
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &Metadata) -> Result<()> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(ErrorKind::IsADirectory.into())
    } else if metadata.is_symlink() {
        Err(Error::other("a symbolic link, which is not written through: remove it"))
    } else {
        Err(Error::other("not a regular file"))
    }
}

/// Writes a file, which takes the place of an old one when it is complete and on the disk. A link is
/// replaced.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> error::Result<()> {
    let failed = error::Error::io(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let builder = &mut tempfile::Builder::new();
    // The permissions of any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new("."))).map_err(&failed)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(&failed)?;
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}
