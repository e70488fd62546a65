//! The texts of a web archive: its records of plain text.

use std::io::{BufRead, BufReader, Read, Result};

use super::broken::broken;
use super::compression::AnyRead;
use super::section::Sections;
use crate::error::show_text;

/// The maximum number of bytes of a line, and of all lines, of the header of a record.
const MAX_HEADER_BYTES: u64 = 1 << 16;
/// Characters of an address in a message.
const MAX_SHOWN: usize = 100;

/// A web archive.
pub(super) struct Warc {
    data: Sections,
    place: String,
    /// Records that were begun.
    number: u64,
}

/// The lines `name: value` of a header.
struct Header(Vec<(String, String)>);

impl Header {
    /// The first value of a name in lower case.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Warc {
    pub(super) fn new(read: AnyRead, place: String) -> Self {
        Warc { data: Sections::new(read), place, number: 0 }
    }

    /// The place and the text of the next record of plain text; `None` at the end. The text of the one before ends with
    /// this call. Records that are no documents, such as requests and images, are passed over.
    pub(super) fn next(&mut self) -> Result<Option<(String, AnyRead)>> {
        loop {
            self.data.pass_over(&self.place)?;
            let Some(version) = self.first_line()? else { return Ok(None) };
            self.number += 1;
            let mut place = format!("{}record {}", self.place, self.number);
            if !version.starts_with(b"WARC/") {
                return Err(broken(&place, "it does not begin with WARC/: the file is damaged"));
            }
            let header = header(|| self.data.line(MAX_HEADER_BYTES), &place)?;
            if let Some(address) = header.get("warc-target-uri") {
                place += &format!(" ({})", show_text(&address.chars().take(MAX_SHOWN).collect::<String>()));
            }
            let length = header
                .get("content-length")
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
            let Some(length) = length.and_then(|digits| digits.parse().ok()) else {
                return Err(broken(&place, "its Content-Length is missing or is no number"));
            };
            let block = self.data.section(length, 0);
            let content = match header.get("warc-type") {
                Some("conversion" | "resource") => Some((header, block)),
                Some("response") => Some(response(block, &place)?),
                _ => None,
            };
            if let Some((header, text)) = content
                && is_text(&header, &place)?
            {
                return Ok(Some((place, text)));
            }
        }
    }

    /// The next line that is not empty.
    fn first_line(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            let line = self.data.line(MAX_HEADER_BYTES)?;
            if line.is_empty() || !line.trim_ascii().is_empty() {
                return Ok((!line.is_empty()).then_some(line));
            }
        }
    }
}

/// The header of HTTP, and the body behind it.
fn response(block: AnyRead, place: &str) -> Result<(Header, AnyRead)> {
    let mut block = BufReader::new(block);
    let header = header(
        || {
            let mut line = Vec::new();
            block.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
            Ok(line)
        },
        place,
    )?;
    Ok((header, Box::new(block)))
}

/// Takes lines up to an empty one. The first one may be a status.
fn header(mut next_line: impl FnMut() -> Result<Vec<u8>>, place: &str) -> Result<Header> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    loop {
        let line = next_line()?;
        bytes += line.len() as u64;
        if line.trim_ascii().is_empty() {
            return Ok(Header(lines));
        }
        if bytes > MAX_HEADER_BYTES {
            return Err(broken(place, "its header is too long"));
        }
        if let Some((name, value)) = String::from_utf8_lossy(&line).split_once(':') {
            lines.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

/// Whether the content of a record, or the body of a response, is plain text.
fn is_text(header: &Header, place: &str) -> Result<bool> {
    let kind = header.get("content-type").unwrap_or("").to_ascii_lowercase();
    match kind.split(';').next().unwrap_or("").trim() {
        "text/html" | "application/xhtml+xml" => {
            Err(broken(place, "this is HTML: extract its text first, or read the WET file of the archive"))
        }
        "text/plain" | "" => {
            let is_plain = |name| header.get(name).is_none_or(|value| value.eq_ignore_ascii_case("identity"));
            if !is_plain("transfer-encoding") || !is_plain("content-encoding") {
                return Err(broken(
                    place,
                    "the body of the response is chunked or compressed: write it decoded",
                ));
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}
