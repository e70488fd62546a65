//! The compression and the format of data, found from its beginning.

use std::io::{Cursor, Read, Result};
use std::path::Path;

use super::compression::{AnyRead, Compression};
use super::kinds::{Format, compression_of, format_of};

/// Bytes of contents that are looked at.
const HEAD_BYTES: u64 = 1 << 14;
/// First bytes that tell the compression.
const MAGIC_BYTES: u64 = 1 << 9;

/// Data with its compression; the error of decompression, or the contents from the beginning with what they
/// are.
type Sniffed = (Compression, Result<(AnyRead, std::result::Result<Format, String>)>);

/// Looks at the beginning of data with a name. `wanted` is the format that was asked for.
pub(super) fn sniff(name: &str, read: AnyRead, wanted: Option<Format>) -> Result<Sniffed> {
    let (start, read) = peeked(read, MAGIC_BYTES)?;
    let compression = compression_of(name, &start);
    let contents = compression.decoder(read).and_then(|read| peeked(read, HEAD_BYTES));
    let contents = contents.map(|(head, read)| {
        let format = format_of(name, &head, (head.len() as u64) < HEAD_BYTES, wanted);
        (read, format)
    });
    Ok((compression, contents))
}

/// The first bytes of data, and a reader of all of it.
fn peeked(mut read: AnyRead, count: u64) -> Result<(Vec<u8>, AnyRead)> {
    let mut head = Vec::new();
    read.by_ref().take(count).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(read))))
}

/// The compression and format of a file. A file that is damaged at its beginning has those of its name, so
/// that reading it is the error. What cannot be read twice, such as a pipe, has those of its name or none.
///
/// # Errors
/// What the file is, if it is not read.
pub fn format_of_file(
    path: &Path,
    read: Option<AnyRead>,
    wanted: Option<Format>,
) -> std::result::Result<(Compression, Option<Format>), String> {
    let name = path.to_string_lossy();
    let by_name = || format_of(&name, &[], false, wanted);
    match read.map(|read| sniff(&name, read, wanted)) {
        Some(Ok((compression, Ok((_, format))))) => Ok((compression, Some(format?))),
        Some(Ok((compression, Err(_)))) => Ok((compression, Some(by_name()?))),
        Some(Err(_)) => Ok((compression_of(&name, &[]), Some(by_name()?))),
        None => {
            let format = by_name()?;
            let is_known = wanted.is_some() || format != Format::Text;
            Ok((compression_of(&name, &[]), is_known.then_some(format)))
        }
    }
}
