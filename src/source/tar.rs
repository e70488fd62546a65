//! The members of a tar archive, one after the other: the formats ustar, pax and GNU.

use std::io::{Read, Result};

use super::broken::broken;
use super::compression::AnyRead;
use super::section::Sections;

const BLOCK: u64 = 512;
/// The maximum number of bytes of a header with names or attributes.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// A tar archive.
pub(super) struct Tar {
    data: Sections,
    /// The place of the archive in a message, with a colon after it, or nothing.
    pub(super) place: String,
    /// Bytes before the next header.
    at: u64,
}

impl Tar {
    pub(super) fn new(read: AnyRead, place: String) -> Self {
        Tar { data: Sections::new(read), place, at: 0 }
    }

    /// The name and the contents of the next file; `None` at the end. The contents of the one before end with
    /// this call. Folders, links, devices and hidden files are passed over.
    pub(super) fn next(&mut self) -> Result<Option<(String, AnyRead)>> {
        let (mut name, mut size) = (None, None);
        loop {
            self.data.pass_over(&self.place)?;
            let Some(header) = self.header()? else { return Ok(None) };
            let own =
                field(&header[124..136]).ok_or_else(|| self.broken("a size in a header is no number"))?;
            let bytes = match header[156] {
                b'0' | 0 | b'7' => size.take().unwrap_or(own),
                _ => own,
            };
            let padded =
                bytes.checked_next_multiple_of(BLOCK).ok_or_else(|| self.broken("a size is too large"))?;
            self.at = self.at.saturating_add(padded);
            match header[156] {
                b'0' | 0 | b'7' => {
                    let name = name.take().unwrap_or_else(|| name_in(&header));
                    let contents = self.data.section(bytes, padded - bytes);
                    if !is_hidden(&name) && !name.ends_with('/') {
                        return Ok(Some((name, contents)));
                    }
                }
                b'L' => name = Some(text(&self.attributes(bytes, padded)?)),
                b'x' => {
                    for (key, value) in pax(&self.attributes(bytes, padded)?)
                        .ok_or_else(|| self.broken("its attributes are damaged"))?
                    {
                        match key {
                            b"path" => name = Some(text(value)),
                            b"size" => size = decimal(value),
                            _ if key.starts_with(b"GNU.sparse") => return Err(self.sparse()),
                            _ => {}
                        }
                    }
                }
                b'S' => return Err(self.sparse()),
                kind => {
                    self.data.section(bytes, padded - bytes);
                    if !matches!(kind, b'g' | b'K') {
                        (name, size) = (None, None);
                    }
                }
            }
        }
    }

    /// The next header; `None` after the mark of the end.
    fn header(&mut self) -> Result<Option<[u8; 512]>> {
        let mut header = [0; 512];
        if !self.data.read_exactly(&mut header)? {
            return Err(self.broken("the archive ends without a mark of its end: it is truncated"));
        }
        if header == [0; 512] {
            if !self.data.remains_zero()? {
                return Err(self.broken("there is data after the end of the archive"));
            }
            return Ok(None);
        }
        if !has_checksum(&header) {
            return Err(self.broken("the checksum of a header is wrong: the archive is damaged"));
        }
        self.at += BLOCK;
        Ok(Some(header))
    }

    /// The contents of a header that belongs to the next one.
    fn attributes(&mut self, bytes: u64, padded: u64) -> Result<Vec<u8>> {
        if bytes > MAX_HEADER_BYTES {
            return Err(self.broken("the attributes of a file are too long"));
        }
        let mut attributes = Vec::new();
        self.data.section(bytes, padded - bytes).read_to_end(&mut attributes)?;
        Ok(attributes)
    }

    fn sparse(&self) -> std::io::Error {
        self.broken("a sparse file is not read: unpack the archive first")
    }

    fn broken(&self, reason: &str) -> std::io::Error {
        broken(&format!("{}byte {}", self.place, self.at), reason)
    }
}

/// Whether the checksum of a header is right. Old programs summed signed bytes.
pub(super) fn has_checksum(header: &[u8; 512]) -> bool {
    let Some(sum) = field(&header[148..156]) else { return false };
    let bytes =
        || header.iter().enumerate().map(|(at, &byte)| if (148..156).contains(&at) { b' ' } else { byte });
    let signed: i64 = bytes().map(|byte| i64::from(byte as i8)).sum();
    sum == bytes().map(u64::from).sum::<u64>() || i64::try_from(sum) == Ok(signed)
}

/// The number in a field of a header: digits of base 8, or bytes behind a mark.
fn field(field: &[u8]) -> Option<u64> {
    if field[0] == 0x80 {
        return field[1..]
            .iter()
            .try_fold(0_u64, |number, &byte| number.checked_mul(256).map(|number| number + u64::from(byte)));
    }
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let digits = field[..end].trim_ascii();
    digits.iter().try_fold(0_u64, |number, digit| {
        matches!(digit, b'0'..=b'7')
            .then(|| number.checked_mul(8).map(|number| number + u64::from(digit - b'0')))?
    })
}

fn decimal(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The name in a header of the formats v7 and ustar.
fn name_in(header: &[u8; 512]) -> String {
    let name = text(&header[..100]);
    let prefix = if &header[257..263] == b"ustar\0" { text(&header[345..500]) } else { String::new() };
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

/// A text that may end with a null.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The names and values of attributes of pax: lines of `length name=value`.
fn pax(mut bytes: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut pairs = Vec::new();
    while !bytes.is_empty() {
        let space = memchr::memchr(b' ', bytes)?;
        let len = usize::try_from(decimal(&bytes[..space])?).ok()?;
        let pair = bytes.get(space + 1..len)?.strip_suffix(b"\n")?;
        let equals = memchr::memchr(b'=', pair)?;
        pairs.push((&pair[..equals], &pair[equals + 1..]));
        bytes = &bytes[len..];
    }
    Some(pairs)
}

/// Whether a part of a path begins with a dot.
fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.') && part != "." && part != "..")
}
