//! Whether a file is still as it was when it was first seen.

use std::fs::Metadata;
use std::io::{Error, ErrorKind, Result};
use std::time::{SystemTime, UNIX_EPOCH};

/// The size and the time of change of a regular file, by which a change is noticed.
///
/// The number of the file is not part of it: some file systems give a file another number each time it is opened, and a
/// file that takes the place of another has a size or a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// When the contents changed last, in nanoseconds since 1970; none where the system does not say.
    pub modified: Option<i128>,
}

impl Stamp {
    /// Of a regular file; none of a pipe or a device, which has no size.
    pub(crate) fn of(meta: &Metadata) -> Option<Self> {
        let modified = meta.modified().ok().map(nanoseconds);
        meta.is_file().then_some(Stamp { size: meta.len(), modified })
    }

    /// Compares with what the system says now.
    ///
    /// # Errors
    /// What has changed.
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
        // Files of Linux's /proc say that they are empty, and have the time at which they are asked.
        if now.modified != self.modified && self.size > 0 {
            return Err(changed(ErrorKind::Other, "was changed", ""));
        }
        Ok(())
    }
}

/// The words are those of the package's `watching.py`.
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
