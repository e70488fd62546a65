//! The documents of contents that are no archive: texts, and records as JSON objects.

use std::io::{BufRead, BufReader, Result};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::broken::{broken, no_memory, placed, too_long};
use super::compression::AnyRead;
use super::json_scan::Scan;
use super::kinds::Format;
use crate::room;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Contents, as documents.
pub(super) struct Items {
    read: Input,
    kind: ItemKind,
    /// Items that were taken.
    number: u64,
}

/// Contents, of which a document has at most so many bytes: it is held whole.
struct Input {
    read: BufReader<AnyRead>,
    max_bytes: u64,
}

enum ItemKind {
    Text,
    Lines,
    Json(Json),
    Table(Box<Table>),
}

/// Where objects of JSON stand.
#[derive(Clone, Copy, PartialEq)]
enum Json {
    /// Nothing was read yet.
    Unknown,
    Array,
    /// One after the other.
    Sequence,
    /// Nowhere any more.
    Ended,
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
    pub(super) fn new(read: AnyRead, format: Format, max_bytes: u64) -> Self {
        let kind = match format {
            Format::JsonLines => ItemKind::Lines,
            Format::Json => ItemKind::Json(Json::Unknown),
            Format::Csv => ItemKind::Table(Box::new(Table::new(b','))),
            Format::Tsv => ItemKind::Table(Box::new(Table::new(b'\t'))),
            _ => ItemKind::Text,
        };
        let read = Input { read: BufReader::with_capacity(1 << 16, read), max_bytes };
        Items { read, kind, number: 0 }
    }

    /// Appends the next document to `bytes`; `None` at the end.
    pub(super) fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Item>> {
        self.number += 1;
        let (unit, has_item) = match &mut self.kind {
            ItemKind::Text if self.number > 1 => return Ok(None),
            ItemKind::Text => {
                self.read.take_while(bytes, <[u8]>::len).map_err(|error| placed("the text", error))?;
                return Ok(Some(Item { place: None, is_json: false }));
            }
            ItemKind::Lines => ("line", self.read.line(&mut self.number, bytes)),
            ItemKind::Json(json) => ("record", self.read.object(self.number, json, bytes)),
            ItemKind::Table(table) => ("row", table.row(&mut self.read, self.number, bytes)),
        };
        let place = format!("{unit} {}", self.number);
        let has_item = has_item.map_err(|error| placed(&place, error))?;
        Ok(has_item.then_some(Item { place: Some(place), is_json: true }))
    }
}

impl Input {
    /// Appends what `count` takes of each block, until it takes less than all, or the end. Whether it did
    /// take less.
    fn take_while(&mut self, bytes: &mut Vec<u8>, mut count: impl FnMut(&[u8]) -> usize) -> Result<bool> {
        let before = bytes.len();
        loop {
            let block = self.read.fill_buf()?;
            let (len, taken) = (block.len(), count(block));
            room::extend(bytes, &block[..taken]).map_err(no_memory)?;
            self.read.consume(taken);
            if (bytes.len() - before) as u64 > self.max_bytes {
                return Err(broken("", too_long(self.max_bytes)));
            }
            if taken < len || len == 0 {
                return Ok(len > 0);
            }
        }
    }

    /// Passes over bytes; whether others follow.
    fn pass_over(&mut self, is_passed: impl Fn(&u8) -> bool) -> Result<bool> {
        loop {
            let block = self.read.fill_buf()?;
            let (len, passed) = (block.len(), block.iter().take_while(|byte| is_passed(byte)).count());
            self.read.consume(passed);
            if passed < len || len == 0 {
                return Ok(len > 0);
            }
        }
    }

    /// Appends the next line that is not empty.
    fn line(&mut self, number: &mut u64, bytes: &mut Vec<u8>) -> Result<bool> {
        loop {
            let start = bytes.len();
            let is_ended =
                self.take_while(bytes, |block| memchr::memchr(b'\n', block).unwrap_or(block.len()))?;
            if is_ended {
                self.read.consume(1);
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

    /// Appends the next object of an array, or of a sequence of objects. What is between brackets and quotes
    /// is left to the reader of JSON.
    fn object(&mut self, number: u64, json: &mut Json, bytes: &mut Vec<u8>) -> Result<bool> {
        if *json == Json::Unknown {
            *json = self.json()?;
        }
        match json {
            Json::Array => self.element(number, json, bytes),
            Json::Sequence => self.member_of_sequence(bytes),
            Json::Unknown | Json::Ended => Ok(false),
        }
    }

    /// Passes over what comes before the first object.
    fn json(&mut self) -> Result<Json> {
        if !self.pass_over(|byte| byte.is_ascii_whitespace() || BOM.contains(byte))? {
            return Ok(Json::Ended);
        }
        match self.read.fill_buf()?[0] {
            b'[' => {
                self.read.consume(1);
                Ok(Json::Array)
            }
            b'{' => Ok(Json::Sequence),
            _ => Err(broken(
                "byte 0",
                "this is neither a JSON array nor objects: name the format with input_format=…",
            )),
        }
    }

    fn member_of_sequence(&mut self, bytes: &mut Vec<u8>) -> Result<bool> {
        if !self.pass_over(u8::is_ascii_whitespace)? {
            return Ok(false);
        }
        if self.read.fill_buf()?[0] != b'{' {
            return Err(broken("", "this is no object, and objects come before it"));
        }
        let (mut scan, mut ended) = (Scan::default(), false);
        self.take_while(bytes, |block| {
            if ended {
                return 0;
            }
            let len = scan.len(block, |depth, byte| depth == 1 && matches!(byte, b'}' | b']'));
            ended = len < block.len();
            len + usize::from(ended)
        })?;
        if !ended {
            return Err(broken("", "the file ends inside of the object: it is truncated"));
        }
        Ok(true)
    }

    fn element(&mut self, number: u64, json: &mut Json, bytes: &mut Vec<u8>) -> Result<bool> {
        let start = bytes.len();
        let mut scan = Scan::default();
        let is_end = |depth, byte| depth == 0 && matches!(byte, b',' | b']');
        if !self.take_while(bytes, |block| scan.len(block, is_end))? {
            return Err(broken("", "the file ends inside of the array: it is truncated"));
        }
        let is_last = self.read.fill_buf()?[0] == b']';
        self.read.consume(1);
        let is_empty = bytes[start..].trim_ascii().is_empty();
        if is_empty && !(is_last && number == 1) {
            return Err(broken("", "there is no record between two commas, or after the last one"));
        }
        if is_last {
            *json = Json::Ended;
            if self.pass_over(u8::is_ascii_whitespace)? {
                return Err(broken("", "there is data after the end of the array"));
            }
        }
        Ok(!is_empty)
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
    fn row(&mut self, input: &mut Input, number: u64, bytes: &mut Vec<u8>) -> Result<bool> {
        if number == 1 {
            let count = self.record(input).map_err(|error| placed("row 0", error))?;
            let Some(count) = count else { return Ok(false) };
            self.names = (0..count).map(|at| self.value(at).to_vec()).collect();
        }
        let Some(count) = self.record(input)? else { return Ok(false) };
        if count != self.names.len() {
            let reason = format!("it has {count} values, and there are {} columns", self.names.len());
            return Err(broken("", reason));
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
    fn record(&mut self, input: &mut Input) -> Result<Option<usize>> {
        let (mut bytes, mut count) = (0, 0);
        loop {
            let block = input.read.fill_buf()?;
            let (result, taken, written, ended) =
                self.reader.read_record(block, &mut self.values[bytes..], &mut self.ends[count..]);
            input.read.consume(taken);
            bytes += written;
            count += ended;
            if bytes as u64 > input.max_bytes {
                return Err(broken("", too_long(input.max_bytes)));
            }
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => {
                    let len = (2 * self.values.len()).max(1 << 10);
                    room::resize(&mut self.values, len).map_err(no_memory)?;
                }
                ReadRecordResult::OutputEndsFull if count > MAX_COLUMNS => {
                    return Err(broken("", "it has too many columns"));
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
