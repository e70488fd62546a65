//! Files that are written whole: a file is the old one or all of the new one, whatever happens meanwhile.

use std::io::{Result, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{self, Error};

/// Writes a file, which takes the place of an old one when it is complete and on the disk. A link is replaced.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> error::Result<()> {
    let failed = Error::io(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = new_file(folder.unwrap_or(Path::new("."))).map_err(&failed)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(&failed)?;
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}

/// A file that has no name yet, with the permissions of any new file.
fn new_file(folder: &Path) -> Result<NamedTempFile> {
    let builder = &mut tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
