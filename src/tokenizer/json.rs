//! JSON as Python's module `json` writes it: fingerprints and files of earlier versions were made by it.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// Writes a space behind each comma and colon, and characters beyond ASCII as escapes if `is_ascii`.
struct Spaced {
    is_ascii: bool,
}

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> Result<()> {
        if !self.is_ascii {
            return writer.write_all(fragment.as_bytes());
        }
        for character in fragment.chars() {
            if matches!(character, ' '..='~') {
                writer.write_all(&[character as u8])?;
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

/// The text of a value, on one line.
pub(crate) fn line(value: &impl Serialize) -> String {
    text(value, Spaced { is_ascii: false })
}

/// The text of a value that is the same for equal values: fields in the order of their names, all characters
/// ASCII.
pub(crate) fn canonical(mut value: Value) -> String {
    value.sort_all_objects();
    text(&value, Spaced { is_ascii: true })
}

fn text(value: &impl Serialize, formatter: impl Formatter) -> String {
    let mut json = Vec::new();
    // A value has only names that are texts, and memory takes all bytes: nothing fails.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut json, formatter));
    String::from_utf8(json).unwrap_or_default()
}
