//! How files spell tokens: a character for each byte in a byte-level `tokenizer.json`, U+2581 for each space
//! in SentencePiece.
//!
//! Printable bytes are spelled as themselves, the others as the characters from U+0100 on (GPT-2's release,
//! src/encoder.py).

use crate::error::Result;
use crate::room;

/// The character that stands for a space in SentencePiece's texts and tokens.
pub const META: char = '\u{2581}';
/// The same as a text.
pub(crate) const META_TEXT: &str = "\u{2581}";

/// How the text of a pretoken is written when its characters are looked up in the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSpelling {
    /// A character for each byte.
    Bytes,
    /// As it is.
    Characters,
    /// With U+2581 for each space.
    Spaces,
}

impl TextSpelling {
    /// The spelling of bytes. Those that are not UTF-8 are U+FFFD where characters are spelled.
    pub(crate) fn spelled(self, bytes: &[u8]) -> Result<String> {
        let mut spelled = String::new();
        room::reserve_text(&mut spelled, 3 * bytes.len())?;
        match self {
            TextSpelling::Bytes => spelled.extend(bytes.iter().map(|&byte| spell(byte))),
            TextSpelling::Characters => spelled.push_str(&String::from_utf8_lossy(bytes)),
            TextSpelling::Spaces => {
                let text = String::from_utf8_lossy(bytes);
                spelled.extend(text.chars().map(|c| if c == ' ' { META } else { c }));
            }
        }
        Ok(spelled)
    }

    /// The bytes that a text spells; `None` if a character spells no byte.
    pub(crate) fn unspelled(self, text: &str) -> Option<Vec<u8>> {
        match self {
            TextSpelling::Bytes => unspelled(text),
            TextSpelling::Characters => Some(text.into()),
            TextSpelling::Spaces => Some(text.replace(META, " ").into_bytes()),
        }
    }
}

/// The name of the token of a byte where characters are spelled.
pub(crate) fn byte_name(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// Whether a byte is spelled as the character of its own number.
const fn is_printable(byte: u8) -> bool {
    matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF)
}

/// The characters of the bytes, as numbers, and for each character below U+0144 the byte that it spells, or
/// `NO_BYTE`.
const TABLES: ([u16; 256], [u16; 0x144]) = {
    let (mut characters, mut bytes) = ([0; 256], [NO_BYTE; 0x144]);
    let (mut byte, mut next) = (0, 0x100);
    while byte < 256 {
        let mut character = byte;
        if !is_printable(byte as u8) {
            character = next;
            next += 1;
        }
        characters[byte] = character as u16;
        bytes[character] = byte as u16;
        byte += 1;
    }
    (characters, bytes)
};
const NO_BYTE: u16 = 0x100;

/// The character that spells a byte.
pub(crate) fn spell(byte: u8) -> char {
    char::from_u32(TABLES.0[usize::from(byte)].into()).unwrap_or_default()
}

/// The byte whose token has this name.
pub(crate) fn byte_of(name: &str) -> Option<u8> {
    let byte = u8::from_str_radix(name.get(3..5)?, 16).ok()?;
    (byte_name(byte) == name).then_some(byte)
}

/// The characters that spell bytes.
pub fn spelled(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| spell(byte)).collect()
}

/// Appends the bytes that `text` spells. Returns false, with some bytes appended, if a character spells no
/// byte.
pub(crate) fn unspell(text: &str, bytes: &mut Vec<u8>) -> bool {
    for character in text.chars() {
        match TABLES.1.get(character as usize) {
            Some(&byte) if byte != NO_BYTE => bytes.push(byte as u8),
            _ => return false,
        }
    }
    true
}

/// The bytes that `text` spells; `None` if a character spells no byte.
pub fn unspelled(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    unspell(text, &mut bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_spelled_by_one_character() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(unspelled(&spelled(&bytes)), Some(bytes));
        assert_eq!(unspelled("Ġa\u{143}Ċ"), Some(b" a\xad\n".to_vec()));
        assert_eq!(unspelled("a b"), None);
    }
}
