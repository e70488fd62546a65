//! The kinds of characters that Hugging Face's `BertNormalizer` distinguishes, by the tables of
//! `unicode_categories`.

use unicode_categories::UnicodeCategories;

/// Whether cleaning removes a character: U+FFFD, and control, format and private-use characters, except for
/// tabs and newlines.
pub(super) fn is_removed(character: char) -> bool {
    match character {
        ' '..='~' | '\t' | '\n' | '\r' => false,
        '\u{fffd}' => true,
        _ => character.is_other(),
    }
}

/// Whether cleaning keeps a character as it is.
pub(super) fn is_clean(character: char) -> bool {
    matches!(character, ' '..='~') || !(is_removed(character) || character.is_whitespace())
}

/// Whether a character is removed as an accent: a nonspacing mark.
pub(super) fn is_accent(character: char) -> bool {
    !character.is_ascii() && character.is_mark_nonspacing()
}

/// Whether a character gets spaces around it: those of the CJK blocks that BERT's release knows.
pub(super) fn is_ideograph(character: char) -> bool {
    matches!(
        u32::from(character),
        0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0x2F800..=0x2FA1F
    )
}
