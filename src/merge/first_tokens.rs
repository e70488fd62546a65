//! The tokens with which merging begins in a vocabulary of characters: the token of each character, or the
//! tokens of its bytes.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

/// The first symbols of a text. A character that is a token is one symbol. Any other is one symbol for each
/// of its bytes.
#[derive(Clone, Debug)]
pub(crate) struct FirstTokens {
    /// The symbol of each ASCII character.
    ascii: [u32; 128],
    /// The tokens of characters beyond ASCII, by their UTF-8 as a number.
    characters: HashMap<u32, u32, FxBuildHasher>,
    /// The token of each byte of a character that is not a token.
    bytes: Box<[u32; 256]>,
}

impl FirstTokens {
    /// Makes first tokens of `characters`: the UTF-8 of each, and its token.
    pub(crate) fn new<'a>(characters: impl Iterator<Item = (&'a [u8], u32)>, bytes: Box<[u32; 256]>) -> Self {
        let ascii = std::array::from_fn(|byte| bytes[byte]);
        let mut first_tokens = FirstTokens { ascii, characters: HashMap::default(), bytes };
        for (character, token) in characters {
            match *character {
                [byte @ 0..128] => first_tokens.ascii[usize::from(byte)] = token,
                _ => drop(first_tokens.characters.insert(packed(character), token)),
            }
        }
        first_tokens
    }

    /// The symbols of all bytes, each taken alone.
    pub(crate) fn of_bytes(&self) -> [u32; 256] {
        std::array::from_fn(|byte| self.ascii.get(byte).copied().unwrap_or(self.bytes[byte]))
    }

    /// The symbols of a text with the places where they begin.
    #[inline]
    pub(crate) fn symbols<'a>(&'a self, text: &'a [u8]) -> Symbols<'a> {
        Symbols { first_tokens: self, text, at: 0, bytes_until: 0 }
    }
}

/// The symbols of a text in order: place and token.
pub(crate) struct Symbols<'a> {
    first_tokens: &'a FirstTokens,
    text: &'a [u8],
    at: usize,
    /// Up to here each byte is a symbol.
    bytes_until: usize,
}

impl Iterator for Symbols<'_> {
    type Item = (usize, u32);

    #[inline]
    fn next(&mut self) -> Option<(usize, u32)> {
        let at = self.at;
        let &byte = self.text.get(at)?;
        if byte < 0x80 {
            self.at += 1;
            return Some((at, self.first_tokens.ascii[usize::from(byte)]));
        }
        if at < self.bytes_until {
            self.at += 1;
            return Some((at, self.first_tokens.bytes[usize::from(byte)]));
        }
        let character = character(self.text, at);
        if let Some(&token) = self.first_tokens.characters.get(&packed(character)) {
            self.at += character.len();
            return Some((at, token));
        }
        self.bytes_until = at + character.len();
        self.at += 1;
        Some((at, self.first_tokens.bytes[usize::from(byte)]))
    }
}

/// The bytes of the character at a place; a byte that begins none stands alone.
fn character(text: &[u8], at: usize) -> &[u8] {
    let len = match text[at] {
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
        _ => 1,
    };
    let head = &text[at..text.len().min(at + len)];
    let is_whole = head.len() == len && head[1..].iter().all(|byte| byte & 0xC0 == 0x80);
    if is_whole { head } else { &head[..1] }
}

fn packed(character: &[u8]) -> u32 {
    character.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_character_of_the_vocabulary_is_its_bytes() {
        let tokens = [("a".as_bytes(), 900), ("é".as_bytes(), 901), ("漢".as_bytes(), 902)];
        let bytes = Box::new(std::array::from_fn(|byte| byte as u32));
        let first_tokens = FirstTokens::new(tokens.into_iter(), bytes);
        let symbols = |text: &str| first_tokens.symbols(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(symbols("aé漢"), [(0, 900), (1, 901), (3, 902)]);
        assert_eq!(symbols("b字a"), [(0, 98), (1, 0xE5), (2, 0xAD), (3, 0x97), (4, 900)]);
        let broken: Vec<_> = first_tokens.symbols(b"\xA9a\xE6\xBC").collect();
        assert_eq!(broken, [(0, 0xA9), (1, 900), (2, 0xE6), (3, 0xBC)]);
    }
}
