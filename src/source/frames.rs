//! The documents of a container, as a stream of frames.
//!
//! A container of any kind, in any nesting, becomes one stream of bytes, which is cut into blocks and read on
//! from any place as lines of JSON are. A frame is a header of 12 bytes (the length of the document, of which
//! the highest bit says that it is JSON, and the length of its place), the document, and its place for
//! messages.

use std::io::{Read, Result};

use super::broken::{broken, within};
use super::compression::AnyRead;
use super::items::{Item, Items};
use super::kinds::Format;
use super::sniff::sniff;
use super::tar::Tar;
use super::warc::Warc;
use crate::error::show_text;

const HEADER_BYTES: usize = 12;
const IS_JSON: u64 = 1 << 63;
/// The number of archives that may be inside of each other, with the file in the last one.
const MAX_DEPTH: usize = 5;
/// Characters of a name in a place.
const MAX_SHOWN: usize = 100;

/// A document of a container.
#[derive(Clone, Copy)]
pub(super) struct Frame<'b> {
    /// Where it is, for messages.
    pub(super) place: &'b str,
    /// Whether it is a JSON object; otherwise it is a text.
    pub(super) is_json: bool,
    pub(super) bytes: &'b [u8],
}

impl<'b> Frame<'b> {
    /// The frame that begins `bytes`, and how long it is; `None` if not all of it is there.
    pub(super) fn first(bytes: &'b [u8]) -> Option<(Self, usize)> {
        let (len, bytes) = bytes.split_first_chunk::<8>()?;
        let (place_len, bytes) = bytes.split_first_chunk::<4>()?;
        let (len, place_len) = (u64::from_le_bytes(*len), u32::from_le_bytes(*place_len) as usize);
        let (document, bytes) = bytes.split_at_checked(usize::try_from(len & !IS_JSON).ok()?)?;
        let place = std::str::from_utf8(bytes.get(..place_len)?).unwrap_or("");
        let frame = Frame { place, is_json: len & IS_JSON != 0, bytes: document };
        Some((frame, HEADER_BYTES + document.len() + place_len))
    }
}

/// Where the last whole frame in `bytes` ends; `None` if there is none.
pub(super) fn last_end(bytes: &[u8]) -> Option<usize> {
    let mut end = 0;
    while let Some((_, len)) = Frame::first(&bytes[end..]) {
        end += len;
    }
    (end > 0).then_some(end)
}

/// What is read inside of a container.
enum Level {
    Tar(Tar),
    Warc(Warc),
    Items { items: Items, place: String },
}

impl Level {
    fn new(read: AnyRead, format: Format, place: String, max_bytes: u64) -> Self {
        let before = || if place.is_empty() { String::new() } else { format!("{place}: ") };
        match format {
            Format::Tar => Level::Tar(Tar::new(read, before())),
            Format::Warc => Level::Warc(Warc::new(read, before())),
            other => Level::Items { items: Items::new(read, other, max_bytes), place },
        }
    }
}

/// Reads a container as frames.
pub(super) struct Frames {
    levels: Vec<Level>,
    /// The maximum number of bytes of a document.
    max_bytes: u64,
    /// The frame that is handed out, and how much of it was.
    frame: Vec<u8>,
    taken: usize,
}

impl Frames {
    pub(super) fn new(read: AnyRead, format: Format, max_bytes: u64) -> Self {
        let levels = vec![Level::new(read, format, String::new(), max_bytes)];
        Frames { levels, max_bytes, frame: Vec::new(), taken: 0 }
    }

    /// Makes the next frame; false at the end.
    fn next(&mut self) -> Result<bool> {
        let max_bytes = self.max_bytes;
        while let Some(level) = self.levels.last_mut() {
            let inner = match level {
                Level::Items { items, place } => {
                    self.frame.clear();
                    self.frame.resize(HEADER_BYTES, 0);
                    if let Some(item) = items.next(&mut self.frame).map_err(|error| within(place, error))? {
                        complete(&mut self.frame, place, &item);
                        return Ok(true);
                    }
                    None
                }
                Level::Warc(warc) => {
                    warc.next()?.map(|(place, read)| Level::new(read, Format::Text, place, max_bytes))
                }
                Level::Tar(tar) => {
                    tar.next()?.map(|(name, read)| member(&tar.place, &name, read, max_bytes)).transpose()?
                }
            };
            match inner {
                Some(_) if self.levels.len() == MAX_DEPTH => {
                    return Err(broken("an archive", "archives are inside of each other too often"));
                }
                Some(inner) => self.levels.push(inner),
                None => drop(self.levels.pop()),
            }
        }
        Ok(false)
    }
}

impl Read for Frames {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        if self.taken == self.frame.len() {
            self.frame.clear();
            self.taken = 0;
            // After an error there is nothing to be read on.
            if !self.next().inspect_err(|_| self.levels.clear())? {
                self.frame = Vec::new();
                return Ok(0);
            }
        }
        let count = bytes.len().min(self.frame.len() - self.taken);
        bytes[..count].copy_from_slice(&self.frame[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

/// Adds the place of a document to its frame, and fills in the header.
fn complete(frame: &mut Vec<u8>, place: &str, item: &Item) {
    let len = (frame.len() - HEADER_BYTES) as u64 | if item.is_json { IS_JSON } else { 0 };
    let end = frame.len();
    frame.extend_from_slice(place.as_bytes());
    if let Some(own) = &item.place {
        frame.extend_from_slice(if place.is_empty() { b"" } else { b": " });
        frame.extend_from_slice(own.as_bytes());
    }
    let place_len = (frame.len() - end) as u32;
    frame[..8].copy_from_slice(&len.to_le_bytes());
    frame[8..HEADER_BYTES].copy_from_slice(&place_len.to_le_bytes());
}

/// What is read of a member of an archive at a place.
fn member(archive: &str, name: &str, read: AnyRead, max_bytes: u64) -> Result<Level> {
    let place = format!("{archive}member {}", show_text(&name.chars().take(MAX_SHOWN).collect::<String>()));
    let contents = sniff(name, read, None).and_then(|(_, contents)| contents);
    let (read, format) = contents.map_err(|error| within(&place, error))?;
    match format {
        Ok(Format::Parquet | Format::Arrow) => Err(broken(
            &place,
            "a Parquet or Arrow file is not read inside of an archive: unpack the archive first",
        )),
        Ok(format) => Ok(Level::new(read, format, place, max_bytes)),
        Err(reason) => {
            let reason = match reason.split_once(": give input_format=") {
                Some((kind, _)) => {
                    format!("{kind}, and its name says text: unpack the archive, and name the format")
                }
                None => reason,
            };
            Err(broken(&place, reason))
        }
    }
}
