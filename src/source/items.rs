//! The documents of contents that are no archive: texts, and records as JSON objects.

use std::io::{BufRead, BufReader, Result};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::broken::{broken, no_memory};
use super::compression::AnyRead;
use super::kinds::Format;
use crate::room;

/// The maximum number of bytes of a document in a container, and of its record: they are held whole.
const MAX_BYTES: usize = 1 << 30;
const TOO_LONG: &str = "it is longer than 1 GiB: write it to a file of its own";
const BOM: &[u8] = "\u{feff}".as_bytes();

/// Contents, as documents.
pub(super) struct Items {
    read: BufReader<AnyRead>,
    kind: ItemKind,
    /// Items that were taken.
    number: u64,
}

enum ItemKind {
    Text,
    Lines,
    Array { ended: bool },
    Table(Box<Table>),
}

/// What an item is.
pub(super) struct Item {
    /// Its place in the contents; none for a text.
    pub(super) place: Option<String>,
    /// Whether its bytes are JSON; otherwise they are the text.
    pub(super) is_json: bool,
}

impl Items {
    /// The documents of contents in a format that is no archive.
    pub(super) fn new(read: AnyRead, format: Format) -> Self {
        let kind = match format {
            Format::JsonLines => ItemKind::Lines,
            Format::Json => ItemKind::Array { ended: false },
            Format::Csv => ItemKind::Table(Box::new(Table::new(b','))),
            Format::Tsv => ItemKind::Table(Box::new(Table::new(b'\t'))),
            _ => ItemKind::Text,
        };
        Items { read: BufReader::with_capacity(1 << 16, read), kind, number: 0 }
    }

    /// Appends the next document to `bytes`; `None` at the end.
    pub(super) fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Item>> {
        let unit = match self.kind {
            ItemKind::Text => return self.text(bytes),
            ItemKind::Lines => "line",
            ItemKind::Array { .. } => "record",
            ItemKind::Table(_) => "row",
        };
        self.number += 1;
        let place = format!("{unit} {}", self.number);
        let has_item = match &mut self.kind {
            ItemKind::Lines => line(&mut self.read, &mut self.number, bytes)?,
            ItemKind::Array { ended } => element(&mut self.read, self.number, ended, bytes)?,
            ItemKind::Table(table) => table.row(&mut self.read, self.number, bytes)?,
            ItemKind::Text => false,
        };
        let place = if unit == "line" { format!("line {}", self.number) } else { place };
        Ok(has_item.then_some(Item { place: Some(place), is_json: true }))
    }

    fn text(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Item>> {
        self.number += 1;
        if self.number > 1 {
            return Ok(None);
        }
        take_while(&mut self.read, bytes, <[u8]>::len)?;
        Ok(Some(Item { place: None, is_json: false }))
    }
}

/// Appends what `count` takes of each block, until it takes less than all, or the end. Whether it did take less.
fn take_while(
    read: &mut impl BufRead,
    bytes: &mut Vec<u8>,
    mut count: impl FnMut(&[u8]) -> usize,
) -> Result<bool> {
    let before = bytes.len();
    loop {
        let block = read.fill_buf()?;
        let (len, taken) = (block.len(), count(block));
        room::extend(bytes, &block[..taken]).map_err(no_memory)?;
        read.consume(taken);
        if bytes.len() - before > MAX_BYTES {
            return Err(broken("a document", TOO_LONG));
        }
        if taken < len || len == 0 {
            return Ok(len > 0);
        }
    }
}

/// Appends the next line that is not empty.
fn line(read: &mut impl BufRead, number: &mut u64, bytes: &mut Vec<u8>) -> Result<bool> {
    loop {
        let start = bytes.len();
        let is_ended = take_while(read, bytes, |block| memchr::memchr(b'\n', block).unwrap_or(block.len()))?;
        if is_ended {
            read.consume(1);
        }
        if *number == 1 && bytes[start..].starts_with(BOM) {
            bytes.drain(start..start + BOM.len());
        }
        if !bytes[start..].trim_ascii().is_empty() || !is_ended {
            return Ok(!bytes[start..].trim_ascii().is_empty());
        }
        bytes.truncate(start);
        *number += 1;
    }
}

/// Appends the next element of a JSON array. What is between brackets and quotes is left to the reader of JSON.
fn element(read: &mut impl BufRead, number: u64, ended: &mut bool, bytes: &mut Vec<u8>) -> Result<bool> {
    let start = bytes.len();
    let wrong = |reason: &str| broken(&format!("record {number}"), reason);
    if *ended {
        return Ok(false);
    }
    if number == 1 {
        let mut skipped = Vec::new();
        let begins = |byte: &u8| byte.is_ascii_whitespace() || BOM.contains(byte);
        let has_more =
            take_while(read, &mut skipped, |block| block.iter().take_while(|byte| begins(byte)).count())?;
        if !has_more {
            *ended = true;
            return Ok(false);
        }
        if read.fill_buf()?[0] != b'[' {
            return Err(broken("byte 0", "this is not a JSON array: name the format with input_format=…"));
        }
        read.consume(1);
    }
    let mut scan = Scan::default();
    if !take_while(read, bytes, |block| scan.len(block))? {
        return Err(wrong("the file ends inside of the array: it is truncated"));
    }
    *ended = read.fill_buf()?[0] == b']';
    read.consume(1);
    let is_empty = bytes[start..].trim_ascii().is_empty();
    if is_empty && !(*ended && number == 1) {
        return Err(wrong("there is no record between two commas, or after the last one"));
    }
    if *ended
        && take_while(read, &mut Vec::new(), |block| {
            block.iter().take_while(|b| b.is_ascii_whitespace()).count()
        })?
    {
        return Err(wrong("there is data after the end of the array"));
    }
    Ok(!is_empty)
}

/// Finds the end of an element of an array.
#[derive(Default)]
struct Scan {
    depth: u64,
    in_string: bool,
    after_backslash: bool,
}

impl Scan {
    /// The bytes of a block that belong to the element.
    fn len(&mut self, block: &[u8]) -> usize {
        let mut at = 0;
        while at < block.len() {
            if self.after_backslash {
                self.after_backslash = false;
            } else if self.in_string {
                let Some(next) = memchr::memchr2(b'"', b'\\', &block[at..]) else { return block.len() };
                at += next;
                (self.in_string, self.after_backslash) = (block[at] == b'\\', block[at] == b'\\');
            } else {
                match block[at] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b',' | b']' if self.depth == 0 => return at,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
            at += 1;
        }
        block.len()
    }
}

/// A table of text with a line of names.
struct Table {
    reader: Reader,
    names: Vec<Vec<u8>>,
    /// The values of a row, one after the other, and where each of them ends.
    values: Vec<u8>,
    ends: Vec<usize>,
}

impl Table {
    fn new(delimiter: u8) -> Self {
        let reader = ReaderBuilder::new().delimiter(delimiter).build();
        Table { reader, names: Vec::new(), values: Vec::new(), ends: Vec::new() }
    }

    /// Appends the next row, from 1, as a JSON object.
    fn row(&mut self, read: &mut impl BufRead, number: u64, bytes: &mut Vec<u8>) -> Result<bool> {
        if number == 1 {
            let Some(count) = self.record(read, 0)? else { return Ok(false) };
            self.names = (0..count).map(|at| self.value(at).to_vec()).collect();
        }
        let Some(count) = self.record(read, number)? else { return Ok(false) };
        if count != self.names.len() {
            let reason = format!("it has {count} values, and there are {} columns", self.names.len());
            return Err(broken(&format!("row {number}"), reason));
        }
        room::reserve(bytes, self.values.len() + 16).map_err(no_memory)?;
        for (at, name) in self.names.iter().enumerate() {
            bytes.push(if at == 0 { b'{' } else { b',' });
            quote(name, bytes)?;
            bytes.push(b':');
            quote(self.value(at), bytes)?;
        }
        bytes.push(b'}');
        Ok(true)
    }

    fn value(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[at]]
    }

    /// Reads a row; the number of its values.
    fn record(&mut self, read: &mut impl BufRead, number: u64) -> Result<Option<usize>> {
        let (mut bytes, mut count) = (0, 0);
        loop {
            let block = read.fill_buf()?;
            let (result, taken, written, ended) =
                self.reader.read_record(block, &mut self.values[bytes..], &mut self.ends[count..]);
            read.consume(taken);
            bytes += written;
            count += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if bytes > MAX_BYTES => {
                    return Err(broken(&format!("row {number}"), TOO_LONG));
                }
                ReadRecordResult::OutputFull => {
                    let len = (2 * self.values.len()).max(1 << 10);
                    room::resize(&mut self.values, len).map_err(no_memory)?;
                }
                ReadRecordResult::OutputEndsFull if count > MAX_COLUMNS => {
                    return Err(broken(&format!("row {number}"), "it has too many columns"));
                }
                ReadRecordResult::OutputEndsFull => {
                    let len = (2 * self.ends.len()).max(16);
                    room::resize(&mut self.ends, len).map_err(no_memory)?;
                }
                ReadRecordResult::Record => return Ok(Some(count)),
                ReadRecordResult::End => return Ok(None),
            }
        }
    }
}

const MAX_COLUMNS: usize = 1 << 16;

/// Appends a string of JSON. Bytes that are not UTF-8 stay as they are.
fn quote(text: &[u8], bytes: &mut Vec<u8>) -> Result<()> {
    room::reserve(bytes, text.len() + 4).map_err(no_memory)?;
    bytes.push(b'"');
    let mut start = 0;
    for (at, &byte) in text.iter().enumerate() {
        if byte < b' ' || byte == b'"' || byte == b'\\' {
            room::extend(bytes, &text[start..at]).map_err(no_memory)?;
            room::extend(bytes, format!("\\u{byte:04x}").as_bytes()).map_err(no_memory)?;
            start = at + 1;
        }
    }
    room::extend(bytes, &text[start..]).map_err(no_memory)?;
    bytes.push(b'"');
    Ok(())
}
