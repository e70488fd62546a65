//! The texts of a web archive: its records of plain text.

use std::io::{BufReader, Result};

use super::broken::broken;
use super::compression::AnyRead;
use super::http::{Header, MAX_HEADER_BYTES, decoded, next_line};
use super::section::Sections;
use crate::error::show_text;

/// Characters of an address in a message.
const MAX_SHOWN: usize = 100;

/// A web archive.
pub(super) struct Warc {
    data: Sections,
    place: String,
    /// Records that were begun.
    number: u64,
}

impl Warc {
    pub(super) fn new(read: AnyRead, place: String) -> Self {
        Warc { data: Sections::new(read), place, number: 0 }
    }

    /// The place and the text of the next record of plain text; `None` at the end. The text of the one before
    /// ends with this call. Records that are no documents, such as requests and images, are passed over.
    pub(super) fn next(&mut self) -> Result<Option<(String, AnyRead)>> {
        loop {
            self.data.pass_over(&self.place)?;
            let Some(version) = self.first_line()? else { return Ok(None) };
            self.number += 1;
            let mut place = format!("{}record {}", self.place, self.number);
            if !version.starts_with(b"WARC/") {
                return Err(broken(&place, "it does not begin with WARC/: the file is damaged"));
            }
            let header = Header::read(|| self.data.line(MAX_HEADER_BYTES), &place)?;
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
            match header.get("warc-type") {
                Some("conversion" | "resource") if is_text(&header, &place)? => {
                    return Ok(Some((place, block)));
                }
                // Others are answers of DNS.
                Some("response") if matches!(&*kind_of(&header), "application/http" | "") => {
                    let mut block = BufReader::new(block);
                    let header = Header::read(|| next_line(&mut block), &place)?;
                    if is_text(&header, &place)? {
                        let text = decoded(&header, Box::new(block), &place)?;
                        return Ok(Some((place, text)));
                    }
                }
                _ => {}
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

/// The kind of the content of a record, or of the body of a response.
fn kind_of(header: &Header) -> String {
    let kind = header.get("content-type").unwrap_or("").to_ascii_lowercase();
    kind.split(';').next().unwrap_or("").trim().to_owned()
}

/// Whether a content is plain text.
fn is_text(header: &Header, place: &str) -> Result<bool> {
    match &*kind_of(header) {
        "text/html" | "application/xhtml+xml" => {
            Err(broken(place, "this is HTML: extract its text first, or read the WET file of the archive"))
        }
        "text/plain" | "" => Ok(true),
        _ => Ok(false),
    }
}
