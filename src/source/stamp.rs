//! Detection of files that change while they are read.

use std::fs::Metadata;
use std::io::{Error, ErrorKind, Result};
use std::time::{SystemTime, UNIX_EPOCH};

/// The size and modification time of a regular file, compared to notice a change.
///
/// The inode number is not part of it: some file systems give a file another number each time it is opened. A
/// file that takes the place of another is noticed by its size or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the contents, in nanoseconds since 1970; `None` if the system does not
    /// provide it.
    pub modified: Option<i128>,
}

impl Stamp {
    /// The stamp of a regular file; `None` for a pipe or a device, which has no size.
    pub(crate) fn of(meta: &Metadata) -> Option<Self> {
        let modified = meta.modified().ok().map(nanoseconds);
        meta.is_file().then_some(Stamp { size: meta.len(), modified })
    }

    /// Compares the stamp with the present metadata of the file.
    pub(crate) fn check(self, now: &Metadata) -> Result<()> {
        let Some(now) = Stamp::of(now) else {
            return Err(changed(ErrorKind::Other, "was replaced by something that is no file", ""));
        };
        let sizes = format!(", from {} to {} bytes", self.size, now.size);
        if now.size < self.size {
            return Err(changed(ErrorKind::UnexpectedEof, "became shorter", &sizes));
        }
        if now.size > self.size {
            return Err(changed(ErrorKind::Other, "became longer", &sizes));
        }
        // Files of Linux's /proc have the size 0, and the time of the query as modification time.
        if now.modified != self.modified && self.size > 0 {
            return Err(changed(ErrorKind::Other, "was changed", ""));
        }
        Ok(())
    }
}

/// An error message with the same words as `watching.py` of the Python package.
fn changed(kind: ErrorKind, what: &str, how: &str) -> Error {
    let advice = "wait until nothing writes to it, or give a copy";
    Error::new(kind, format!("the file {what} while it was read{how}: {advice}"))
}

fn nanoseconds(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}
