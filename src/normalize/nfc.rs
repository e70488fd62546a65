//! NFC, with a look only at characters that composition may change.

use std::ops::Range;

use once_cell::race::OnceBox;
use unicode_normalization_alignments::{self as forms, UnicodeNormalization};

use super::limit::Limit;
use crate::error::Result;
use crate::room;

/// Whether a text is in NFC. Returns the same as [`forms::is_nfc`].
pub(super) fn is_nfc(text: &str) -> bool {
    let mut is_composed = true;
    for_each_doubtful(text, |range| {
        let part = &text[range];
        is_composed = part.chars().eq(part.nfc().map(|(character, _)| character));
        Ok(is_composed)
    })
    .is_ok()
        && is_composed
}

/// The NFC of a text. Parts that composition leaves are copied as a whole.
pub(super) fn composed(text: &str, limit: Limit) -> Result<String> {
    let mut new = String::new();
    room::reserve_text(&mut new, text.len())?;
    let mut end = 0;
    for_each_doubtful(text, |range| {
        limit.push(&mut new, &text[end..range.start])?;
        end = range.end;
        for (character, _) in text[range].nfc() {
            limit.push_char(&mut new, character)?;
        }
        Ok(true)
    })?;
    limit.push(&mut new, &text[end..])?;
    Ok(new)
}

/// Calls `f` with each part of a text that may not be in NFC, in order, until it returns `false`. The NFC of
/// the text is that of these parts, each composed alone, with the text between them unchanged.
fn for_each_doubtful(text: &str, mut f: impl FnMut(Range<usize>) -> Result<bool>) -> Result<()> {
    let classes = Classes::get();
    // Nothing composes across the front of a starter that composes with none before it: `start` is the last
    // such place.
    let (mut start, mut is_sure, mut last, mut at) = (0, true, Classes::STARTER, 0);
    while let Some(next) = next_not_inert(text.as_bytes(), at) {
        if next > at {
            if !is_sure && !f(start..at)? {
                return Ok(());
            }
            let before = text[..next].chars().next_back().map_or(0, char::len_utf8);
            (start, is_sure, last, at) = (next - before, true, Classes::STARTER, next);
        }
        let mut single_bytes = 0;
        for character in text[at..].chars() {
            let class = classes.of(character);
            if class == Classes::STARTER {
                if !is_sure && !f(start..at)? {
                    return Ok(());
                }
                (start, is_sure) = (at, true);
            } else if class == Classes::DOUBTFUL || last > class {
                is_sure = false;
            }
            (last, at) = (class, at + character.len_utf8());
            // Between the words of a text, blocks are not worth it.
            single_bytes = if character.is_ascii() { single_bytes + 1 } else { 0 };
            if single_bytes == 8 {
                break;
            }
        }
    }
    if !is_sure {
        f(start..text.len())?;
    }
    Ok(())
}

/// What composition does to a character, in a byte. The tables of the crate take ten times as long.
struct Classes(Box<[u8; Classes::LEN]>);

impl Classes {
    /// The class of a character that composition leaves unchanged whatever stands before it.
    const STARTER: u8 = 0;
    /// The class of a character that composition may change. No character has this combining class.
    const DOUBTFUL: u8 = 255;
    /// Characters of the first two planes.
    const LEN: usize = 1 << 17;

    fn get() -> &'static Classes {
        static CLASSES: OnceBox<Classes> = OnceBox::new();
        CLASSES.get_or_init(|| {
            let mut classes = Box::new([0; Classes::LEN]);
            for (class, code) in classes.iter_mut().zip(0..) {
                *class = char::from_u32(code).map_or(Classes::DOUBTFUL, Classes::look_up);
            }
            Box::new(Classes(classes))
        })
    }

    /// The combining class of a character that composition leaves, or [`Classes::DOUBTFUL`].
    #[inline]
    fn of(&self, character: char) -> u8 {
        self.0.get(character as usize).copied().unwrap_or_else(|| Classes::look_up(character))
    }

    fn look_up(character: char) -> u8 {
        match forms::is_nfc_quick(std::iter::once(character)) {
            forms::IsNormalized::Yes => forms::char::canonical_combining_class(character),
            _ => Classes::DOUBTFUL,
        }
    }
}

/// The first character at or after `from` whose first byte does not say that composition leaves it unchanged.
fn next_not_inert(text: &[u8], from: usize) -> Option<usize> {
    let (blocks, _) = text[from..].as_chunks::<64>();
    // A whole block is looked at without a branch, so that compilers make vector code of it.
    let place = blocks.iter().position(|block| {
        block.iter().fold(0, |max, &byte| max.max(byte)) >= FIRST_NOT_INERT
            && block.iter().fold(false, |any, &byte| any | !is_inert(byte))
    });
    let start = from + place.map_or(blocks.len() * 64, |number| number * 64);
    text[start..].iter().position(|&byte| !is_inert(byte)).map(|at| start + at)
}

/// The first byte of U+0300, the first character that composition may change.
const FIRST_NOT_INERT: u8 = 0xCC;

/// Whether composition leaves all characters that begin with a byte unchanged, and none of them begins a
/// composition: characters below U+0300, U+0400 to U+047F in Cyrillic, Chinese from U+4000 to U+9FFF, Hangul
/// from U+B000 to U+CFFF. Also true for the bytes of a character other than its first.
fn is_inert(byte: u8) -> bool {
    byte < FIRST_NOT_INERT || matches!(byte, 0xD0 | 0xD1 | 0xE4..=0xE9 | 0xEB | 0xEC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inert_characters_have_no_combining_class_and_stay() {
        let first_byte = |character: char| character.encode_utf8(&mut [0; 4]).as_bytes()[0];
        for character in ('\0'..=char::MAX).filter(|&character| is_inert(first_byte(character))) {
            assert_eq!(forms::char::canonical_combining_class(character), 0, "{character:?}");
            let quick = forms::is_nfc_quick(std::iter::once(character));
            assert_eq!(quick, forms::IsNormalized::Yes, "{character:?}");
        }
    }

    #[test]
    fn nfc_equals_that_of_the_crate() {
        let parts: Vec<&str> = "a e\u{301} é \u{301} \u{327} я 漢字 각 \u{1100}\u{1161} \
             क़ Å \u{3099}か \u{93c}\u{94d} \u{5b7}\u{5b0} \u{1f600} \u{1d157}\u{1d165} \u{110ba} \u{e0100}"
            .split(' ')
            .collect();
        for number in 0..parts.len().pow(4) {
            let pick = |place: usize| parts[number / parts.len().pow(place as u32) % parts.len()];
            let filler = "x".repeat(number % 67);
            let text = format!("{}{}{filler}{}{}", pick(0), pick(1), pick(2), pick(3));
            assert_eq!(is_nfc(&text), forms::is_nfc(&text), "{text:?}");
            let limit = Limit { step: 0, name: "NFC", bytes: text.len(), max_bytes: usize::MAX };
            let expected: String = text.nfc().map(|(character, _)| character).collect();
            assert_eq!(composed(&text, limit).unwrap(), expected, "{text:?}");
        }
    }
}
