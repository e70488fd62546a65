//! The rows of toksmith's own file, one a line: `[id, "token"]` for a token, `["left", "right"]` for a merge.
//!
//! A token is written as text where it is UTF-8; a byte that is not is `\xNN`, and a backslash is `\\`. That text then
//! becomes a string of JSON, which doubles each backslash once more.

use std::fmt::Write;

use crate::error::Result;
use crate::room;

const SEPARATOR: &[u8] = b",\n  ";

/// The longest form of a byte: a control character is `\u00NN` in JSON.
const MAX_PER_BYTE: usize = 6;

pub(super) fn token_rows<'t>(tokens: impl IntoIterator<Item = (u32, &'t [u8])>) -> Result<Vec<u8>> {
    let mut rows = Rows::default();
    for (id, token) in tokens {
        rows.begin()?;
        rows.done.extend_from_slice(id.to_string().as_bytes());
        rows.done.extend_from_slice(b", ");
        rows.string(token)?;
        rows.done.push(b']');
    }
    Ok(rows.done)
}

pub(super) fn merge_rows<'t>(merges: impl IntoIterator<Item = (&'t [u8], &'t [u8])>) -> Result<Vec<u8>> {
    let mut rows = Rows::default();
    for (left, right) in merges {
        rows.begin()?;
        rows.string(left)?;
        rows.done.extend_from_slice(b", ");
        rows.string(right)?;
        rows.done.push(b']');
    }
    Ok(rows.done)
}

/// Appends the token that the text of a row stands for. Returns `None`, with some bytes appended, if a backslash is
/// followed by neither a backslash nor `xNN`, in lower case.
pub(super) fn unescape(text: &str, token: &mut Vec<u8>) -> Result<Option<()>> {
    room::reserve(token, text.len())?;
    let mut parts = text.as_bytes();
    while let Some(at) = parts.iter().position(|&byte| byte == b'\\') {
        token.extend_from_slice(&parts[..at]);
        let (byte, len) = match parts[at + 1..] {
            [b'\\', ..] => (Some(b'\\'), 2),
            [b'x', high, low, ..] => (digit(high).zip(digit(low)).map(|(high, low)| high << 4 | low), 4),
            _ => (None, 1),
        };
        let Some(byte) = byte else { return Ok(None) };
        token.push(byte);
        parts = &parts[at + len..];
    }
    token.extend_from_slice(parts);
    Ok(Some(()))
}

fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Rows that are written one after the other.
#[derive(Default)]
struct Rows {
    done: Vec<u8>,
    text: String,
}

impl Rows {
    /// Begins a row. There is room for its id.
    fn begin(&mut self) -> Result<()> {
        room::reserve(&mut self.done, 32)?;
        if !self.done.is_empty() {
            self.done.extend_from_slice(SEPARATOR);
        }
        self.done.push(b'[');
        Ok(())
    }

    /// Writes a token as a string of JSON. There is room for what follows it in the row.
    fn string(&mut self, token: &[u8]) -> Result<()> {
        room::reserve(&mut self.done, MAX_PER_BYTE * token.len() + 8)?;
        self.text.clear();
        room::grow_text(&mut self.text, 4 * token.len())?;
        for chunk in token.utf8_chunks() {
            for (number, part) in chunk.valid().split('\\').enumerate() {
                self.text.push_str(if number == 0 { "" } else { r"\\" });
                self.text.push_str(part);
            }
            for byte in chunk.invalid() {
                let _ = write!(self.text, r"\x{byte:02x}"); // a string takes any text
            }
        }
        // A vector takes any bytes that there is memory for.
        serde_json::to_writer(&mut self.done, &self.text).map_err(|_| room::out_of_memory(self.text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_text_where_it_is_utf8() {
        let tokens: [(u32, &[u8]); 4] =
            [(7, b" the"), (u32::MAX, b"\xe6\x97"), (0, "\\\"é\n\u{1}\u{7f}\u{2028}".as_bytes()), (1, b"")];
        let rows = token_rows(tokens).unwrap();
        let expected = concat!(
            "[7, \" the\"],\n  ",
            r#"[4294967295, "\\xe6\\x97"]"#,
            ",\n  ",
            r#"[0, "\\\\\"é\n\u0001"#,
            "\u{7f}\u{2028}\"],\n  [1, \"\"]",
        );
        assert_eq!(String::from_utf8(rows).unwrap(), expected);
        assert!(token_rows([]).unwrap().is_empty());
    }

    #[test]
    fn a_merge_is_two_texts() {
        let rows = merge_rows([(&b"a"[..], &b"\xff"[..]), (b"\\", b"b")]).unwrap();
        assert_eq!(String::from_utf8(rows).unwrap(), "[\"a\", \"\\\\xff\"],\n  [\"\\\\\\\\\", \"b\"]");
    }

    #[test]
    fn rows_are_json_that_reads_back() {
        // Every pair of bytes: characters of two bytes, and invalid ones.
        let tokens: Vec<(u32, [u8; 2])> =
            (0..=u16::MAX).map(|pair| (pair.into(), pair.to_be_bytes())).collect();
        let rows = token_rows(tokens.iter().map(|(id, token)| (*id, &token[..]))).unwrap();
        let json = [&b"["[..], &rows, b"]"].concat();
        let read: Vec<(u32, String)> = serde_json::from_slice(&json).unwrap();
        for ((id, token), (read_id, text)) in tokens.iter().zip(read) {
            assert_eq!((*id, Some(token.to_vec())), (read_id, unescaped(&text)));
        }
    }

    fn unescaped(text: &str) -> Option<Vec<u8>> {
        let mut token = Vec::new();
        unescape(text, &mut token).unwrap().map(|()| token)
    }

    #[test]
    fn a_backslash_stands_before_a_backslash_or_two_digits() {
        assert_eq!(unescaped(r"a\\\xe6é\x00").unwrap(), [b"a\\\xe6", "é".as_bytes(), b"\0"].concat());
        for wrong in ["\\", r"a\", r"\x", r"\x0", r"\x0g", r"\xE6", r"\n", r"\\\"] {
            assert_eq!(unescaped(wrong), None, "{wrong}");
        }
    }
}
