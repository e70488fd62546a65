//! The compression and the format of data, found from its beginning.

use std::io::{Cursor, Read, Result};
use std::path::Path;

use super::compression::{AnyRead, Compression};
use super::kinds::{Format, compression_of, format_of};

/// Bytes of contents that are looked at.
const HEAD_BYTES: u64 = 1 << 14;
/// First bytes that tell the compression.
const MAGIC_BYTES: u64 = 1 << 9;

/// Data, with what it is.
pub(super) struct Sniffed {
    /// The contents from the beginning, decompressed.
    pub(super) read: AnyRead,
    pub(super) compression: Compression,
    /// The format, or what the contents are if they are not read.
    pub(super) format: std::result::Result<Format, String>,
}

/// Looks at the beginning of data with a name. `wanted` is the format that was asked for.
///
/// # Errors
/// Those of reading, also of damaged compression.
pub(super) fn sniff(name: &str, read: AnyRead, wanted: Option<Format>) -> Result<Sniffed> {
    let (start, read) = peeked(read, MAGIC_BYTES)?;
    let compression = compression_of(name, &start);
    let (head, read) = peeked(compression.decoder(read)?, HEAD_BYTES)?;
    let format = format_of(name, &head, (head.len() as u64) < HEAD_BYTES, wanted);
    Ok(Sniffed { read, compression, format })
}

/// The first bytes of data, and a reader of all of it.
fn peeked(mut read: AnyRead, count: u64) -> Result<(Vec<u8>, AnyRead)> {
    let mut head = Vec::new();
    read.by_ref().take(count).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(read))))
}

/// The compression and format of a file. A file that is damaged at its beginning has those of its name, so that reading
/// it is the error. What cannot be read twice, such as a pipe, has those of its name or none.
///
/// # Errors
/// What the file is, if it is not read.
pub fn format_of_file(
    path: &Path,
    read: Option<AnyRead>,
    wanted: Option<Format>,
) -> std::result::Result<(Compression, Option<Format>), String> {
    let name = path.to_string_lossy();
    let sniffed = read.map(|read| sniff(&name, read, wanted));
    if let Some(Ok(Sniffed { compression, format, .. })) = sniffed {
        return Ok((compression, Some(format?)));
    }
    let format = format_of(&name, &[], false, wanted)?;
    let is_known = sniffed.is_some() || wanted.is_some() || format != Format::Text;
    Ok((compression_of(&name, &[]), is_known.then_some(format)))
}
