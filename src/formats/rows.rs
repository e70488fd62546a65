//! The rows of toksmith's own file, one a line: `[id, "token"]` for a token, `["left", "right"]` for a merge.
//!
//! A token is written as text where it is UTF-8; a byte that is not is `\xNN`, and a backslash is `\\`. That
//! text then becomes a string of JSON, which doubles each backslash once more.

use std::fmt::Write;

use serde::{Serialize, Serializer};

use crate::error::Result;
use crate::room;
use crate::tokenizer::json_line;

/// A token, written as its text.
pub(super) struct Text<'t>(pub(super) &'t [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(self.0.len());
        for chunk in self.0.utf8_chunks() {
            for (number, part) in chunk.valid().split('\\').enumerate() {
                text.push_str(if number == 0 { "" } else { r"\\" });
                text.push_str(part);
            }
            for byte in chunk.invalid() {
                let _ = write!(text, r"\x{byte:02x}"); // a string takes any text
            }
        }
        serializer.serialize_str(&text)
    }
}

pub(super) fn rows(items: impl IntoIterator<Item = impl Serialize>) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for item in items {
        let separator: &[u8] = if rows.is_empty() { b"" } else { b",\n  " };
        room::extend(&mut rows, separator)?;
        room::extend(&mut rows, json_line(&item).as_bytes())?;
    }
    Ok(rows)
}

/// The token that the text of a row stands for; `None` if a backslash is followed by neither a backslash nor
/// `xNN`, in lower case.
pub(super) fn unescape(text: &str) -> Result<Option<Vec<u8>>> {
    let (mut token, mut parts) = (room::for_items(text.len())?, text.as_bytes());
    while let Some(at) = parts.iter().position(|&byte| byte == b'\\') {
        token.extend_from_slice(&parts[..at]);
        let (byte, len) = match parts[at + 1..] {
            [b'\\', ..] => (Some(b'\\'), 2),
            [b'x', high, low, ..] => {
                (digit(high).zip(digit(low)).map(|(high, low)| (high << 4 | low) as u8), 4)
            }
            _ => (None, 1),
        };
        let Some(byte) = byte else { return Ok(None) };
        token.push(byte);
        parts = &parts[at + len..];
    }
    token.extend_from_slice(parts);
    Ok(Some(token))
}

fn digit(digit: u8) -> Option<u32> {
    char::from(digit).to_digit(16).filter(|_| !digit.is_ascii_uppercase())
}
