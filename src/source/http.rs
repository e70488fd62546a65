//! Headers of HTTP, which are those of WARC as well, and the bodies that they describe.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};

use super::broken::{broken, within};
use super::compression::{AnyRead, Compression};
use crate::error::show_text;

/// The maximum number of bytes of a line, and of all lines, of a header.
pub(super) const MAX_HEADER_BYTES: u64 = 1 << 16;
/// The maximum number of codings of a body: each takes memory.
const MAX_CODINGS: usize = 4;

/// The lines `name: value` of a header.
pub(super) struct Header(Vec<(String, String)>);

impl Header {
    /// Takes lines up to an empty one. The first one may be a status.
    pub(super) fn read(mut next_line: impl FnMut() -> Result<Vec<u8>>, place: &str) -> Result<Self> {
        let (mut lines, mut bytes) = (Vec::<(String, String)>::new(), 0);
        loop {
            let line = next_line()?;
            bytes += line.len() as u64;
            if line.trim_ascii().is_empty() {
                return Ok(Header(lines));
            }
            if bytes > MAX_HEADER_BYTES {
                return Err(broken(place, "its header is too long"));
            }
            let text = String::from_utf8_lossy(&line);
            if let (b' ' | b'\t', Some((_, value))) = (line[0], lines.last_mut()) {
                value.push(' '); // the line goes on with the value before
                value.push_str(text.trim());
            } else if let Some((name, value)) = text.split_once(':') {
                lines.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    }

    /// The first value of a name in lower case.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The elements of the lists in all values of a name, in lower case.
    fn list(&self, name: &str) -> impl Iterator<Item = String> {
        let values = self.0.iter().filter(move |(known, _)| known == name);
        let elements = values.flat_map(|(_, value)| value.split(','));
        elements.map(|element| element.trim().to_ascii_lowercase()).filter(|element| !element.is_empty())
    }
}

/// The next line with its end, or as many bytes of it as a header may have.
pub(super) fn next_line(read: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    read.take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// The content in a body, without the codings that its header names. They were applied in their order, those
/// of the transfer after those of the content.
pub(super) fn decoded(header: &Header, mut body: AnyRead, place: &str) -> Result<AnyRead> {
    let of_content = header.list("content-encoding").map(|coding| (coding, false));
    let of_transfer = header.list("transfer-encoding").map(|coding| (coding, true));
    let codings = of_content.chain(of_transfer).filter(|(coding, _)| coding != "identity");
    let codings: Vec<_> = codings.take(MAX_CODINGS + 1).collect();
    if codings.len() > MAX_CODINGS {
        return Err(broken(place, format!("its body has more than {MAX_CODINGS} codings")));
    }
    for (coding, is_of_transfer) in codings.iter().rev() {
        let mut read = BufReader::new(body);
        if read.fill_buf().map_err(|error| within(place, error))?.is_empty() {
            return Ok(Box::new(read)); // a body that was left out
        }
        body = match &**coding {
            "gzip" | "x-gzip" => Compression::Gzip.decoder(Box::new(read))?,
            "zstd" => Compression::Zstd.decoder(Box::new(read))?,
            #[cfg(feature = "compression")]
            "deflate" => Compression::inflated(Box::new(read)).map_err(|error| within(place, error))?,
            "chunked" if *is_of_transfer => Box::new(Chunked { read, left: 0, state: ChunkState::First }),
            other => {
                let reason = format!(
                    "its body has the coding {}, which is not read: write it decoded",
                    show_text(other)
                );
                return Err(broken(place, reason));
            }
        };
    }
    Ok(body)
}

/// Reads a body that comes in chunks.
struct Chunked<R> {
    read: R,
    /// Bytes of the chunk that were not read.
    left: u64,
    state: ChunkState,
}

#[derive(PartialEq)]
enum ChunkState {
    First,
    Inside,
    Ended,
}

impl<R: BufRead> Chunked<R> {
    /// Begins the next chunk. Lines may end without a carriage return, and what follows the last chunk is not
    /// read.
    fn begin(&mut self) -> Result<()> {
        let wrong = |reason| Error::new(ErrorKind::InvalidData, reason);
        if self.state == ChunkState::Inside && !matches!(&*next_line(&mut self.read)?, b"\r\n" | b"\n") {
            return Err(wrong("a chunk of its body is longer than its size"));
        }
        let line = next_line(&mut self.read)?;
        if line.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let size = line.split(|byte| *byte == b';').next().unwrap_or(&[]).trim_ascii();
        let size =
            std::str::from_utf8(size).ok().filter(|size| size.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let size = size.filter(|_| line.ends_with(b"\n")).and_then(|size| u64::from_str_radix(size, 16).ok());
        self.left = size.ok_or_else(|| wrong("the size of a chunk of its body is no number"))?;
        self.state = if self.left == 0 { ChunkState::Ended } else { ChunkState::Inside };
        Ok(())
    }
}

impl<R: BufRead> Read for Chunked<R> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        if self.left == 0 && self.state != ChunkState::Ended {
            self.begin()?;
        }
        let want = self.left.min(bytes.len() as u64) as usize;
        let count = self.read.read(&mut bytes[..want])?;
        if count == 0 && want > 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.left -= count as u64;
        Ok(count)
    }
}
