//! The rows of toksmith's own file, one a line: `[id, "token"]` for a token, `["left", "right"]` for a merge.
//!
//! A token is written as text where it is UTF-8; a byte that is not is `\xNN`, and a backslash is `\\`. That text then
//! becomes a string of JSON, which doubles each backslash once more.

use std::fmt::Write;

use crate::error::Result;
use crate::room;

/// What stands between two rows.
const SEPARATOR: &[u8] = b",\n  ";

/// The longest form of a byte: a control character is `\u00NN` in JSON.
const MOST_PER_BYTE: usize = 6;

/// The rows of tokens with their ids.
///
/// # Errors
/// [`crate::Error::OutOfMemory`].
pub fn token_rows<'t>(tokens: impl IntoIterator<Item = (u32, &'t [u8])>) -> Result<Vec<u8>> {
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

/// The rows of merges.
///
/// # Errors
/// [`crate::Error::OutOfMemory`].
pub fn merge_rows<'t>(merges: impl IntoIterator<Item = (&'t [u8], &'t [u8])>) -> Result<Vec<u8>> {
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

/// Rows that are written one after the other.
#[derive(Default)]
struct Rows {
    done: Vec<u8>,
    /// The text of the last token.
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
        room::reserve(&mut self.done, MOST_PER_BYTE * token.len() + 8)?;
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
            assert_eq!((*id, token.to_vec()), (read_id, unescaped(&text)));
        }
    }

    fn unescaped(text: &str) -> Vec<u8> {
        let (mut token, mut rest) = (Vec::new(), text.as_bytes());
        while let Some((&first, after)) = rest.split_first() {
            let (byte, behind) = match (first, after.first()) {
                (b'\\', Some(b'\\')) => (b'\\', &after[1..]),
                (b'\\', _) => {
                    let digits = std::str::from_utf8(&after[1..3]).unwrap();
                    (u8::from_str_radix(digits, 16).unwrap(), &after[3..])
                }
                _ => (first, after),
            };
            token.push(byte);
            rest = behind;
        }
        token
    }
}
