//! SentencePiece's way from pieces to a text (src/sentencepiece_processor.cc there).

use std::collections::HashMap;

use crate::spelling::META_TEXT;

/// What pieces of a SentencePiece model become.
#[derive(Clone, Debug, Default)]
pub struct PieceRule {
    /// The texts of the control pieces and of the unknown piece.
    pub surfaces: HashMap<String, String>,
    /// Whether a piece like `<0x0A>` stands for a byte.
    pub has_bytes: bool,
    /// Whether the first piece loses a space in front.
    pub add_dummy_prefix: bool,
    /// Whether pieces lose a space in front until there is a text.
    pub remove_extra_whitespaces: bool,
}

impl PieceRule {
    /// Whether a piece stands for a byte that it names: only digits in upper case do.
    pub(super) fn is_byte(&self, piece: &str) -> bool {
        self.has_bytes
            && piece.bytes().skip(3).take(2).all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    }

    /// The text of a piece that is no byte. `at_start` says whether it may lose a space, and afterwards
    /// whether the next one may, as long as no piece has a text.
    pub(super) fn text_of(&self, piece: &str, at_start: &mut bool) -> String {
        if let Some(surface) = self.surfaces.get(piece) {
            return surface.clone();
        }
        let strips = *at_start && (self.add_dummy_prefix || self.remove_extra_whitespaces);
        let stripped = piece.strip_prefix(META_TEXT).filter(|_| strips);
        *at_start &= stripped.is_none() || self.remove_extra_whitespaces;
        stripped.unwrap_or(piece).replace(META_TEXT, " ")
    }
}

/// The text of bytes; each that is not part of a character is U+FFFD.
pub(super) fn text_of_bytes(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}
