//! Patterns in error messages, as Python writes them.

use crate::error::Error;

/// The maximum number of characters of a pattern that a message shows.
const MAX_SHOWN: usize = 80;

/// The error of a pattern.
pub(super) fn refused(reason: String) -> Error {
    Error::Pattern(reason)
}

/// A text in quotes, with escapes; a long one is cut and its length added.
pub(super) fn shown(text: &str) -> String {
    let cut = text.char_indices().nth(MAX_SHOWN).map(|(end, _)| end);
    let quoted = quoted(&text[..cut.unwrap_or(text.len())]);
    if cut.is_none() && quoted.chars().count() <= 2 * MAX_SHOWN {
        return quoted;
    }
    let first: String = quoted.chars().take(MAX_SHOWN).collect();
    format!("{first}… ({} characters)", text.chars().count())
}

/// A text with an escape for each character that a terminal could obey.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|character| if character == '\\' { "\\".into() } else { escaped(character) }).collect()
}

/// A text as Python's `repr` has it.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let character = |character| if character == quote { format!("\\{quote}") } else { escaped(character) };
    format!("{quote}{}{quote}", text.chars().map(character).collect::<String>())
}

fn escaped(character: char) -> String {
    match (character, u32::from(character)) {
        ('\\', _) => "\\\\".into(),
        ('\t', _) => "\\t".into(),
        ('\n', _) => "\\n".into(),
        ('\r', _) => "\\r".into(),
        _ if is_printable(character) => character.into(),
        (_, code @ ..0x100) => format!("\\x{code:02x}"),
        (_, code @ ..0x1_0000) => format!("\\u{code:04x}"),
        (_, code) => format!("\\U{code:08x}"),
    }
}

/// Whether a character is visible, or a space. The standard library says so of all characters of a text but the first.
fn is_printable(character: char) -> bool {
    matches!(character, '"' | '\'') || format!("a{character}").escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_shown_as_by_python() {
        assert_eq!(shown("it's \\d"), r#""it's \\d""#);
        assert_eq!(shown("'\"\n\u{1b}é\u{301}\u{200b}\u{e0001}"), r#"'\'"\n\x1bé́\u200b\U000e0001'"#);
        assert_eq!(shown(&"a".repeat(1000)), format!("'{}… (1000 characters)", "a".repeat(79)));
        assert_eq!(printable("a\u{1b}[2J \\d"), "a\\x1b[2J \\d");
    }
}
