//! What Oniguruma's escapes, properties and anchors stand for, written for `regex`.

use super::cursor::is_among;

/// Word characters in the tables of Oniguruma: outside of classes they include six Latin-1 numbers; joiners are never
/// word characters.
pub(super) const WORD_IN_CLASS: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}";
pub(super) const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\xb2\xb3\xb9\xbc-\xbe";
pub(super) const LINE_START: &str = r"(?:\A|(?<=\n)(?!\Z))";
pub(super) const LINE_END: &str = r"(?=\n|\Z)";
/// What `\R` takes, and gives up as a whole.
pub(super) const NEWLINE: &str = r"(?>\r\n|[\n-\r\x85\u2028\u2029])";
const HEX: &str = "0-9A-Fa-f";
const SCRIPTS: &str = " Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul \
     Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai Tibetan ";
const POSIX: [(&str, &str); 14] = [
    ("alnum", r"\p{Alphabetic}\p{Nd}"),
    ("alpha", r"\p{Alphabetic}"),
    ("ascii", r"\x00-\x7f"),
    ("blank", r"\t\p{Zs}"),
    ("cntrl", r"\p{Cc}"),
    ("digit", r"\p{Nd}"),
    ("graph", r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}"),
    ("lower", r"\p{Lowercase}\u0295"),
    ("print", r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs}"),
    ("punct", r"\p{P}\p{S}"),
    ("space", r"\s"),
    ("upper", r"\p{Uppercase}"),
    ("word", WORD_IN_CLASS),
    ("xdigit", HEX),
];
/// Whether `regex` has a script by the same name, with the same characters.
pub(super) fn is_script(name: &str) -> bool {
    is_among(name, SCRIPTS)
}

/// The inside of a class for a POSIX bracket.
pub(super) fn posix(name: &str) -> Option<&'static str> {
    POSIX.iter().find(|class| class.0 == name).map(|class| class.1)
}

/// The inside of a class for an escape of many characters, by its letter in lower case.
pub(super) fn class(letter: char) -> Option<&'static str> {
    Some(match letter {
        's' => r"\s",
        'd' => r"\p{Nd}",
        'w' => WORD_IN_CLASS,
        'h' => HEX,
        _ => return None,
    })
}

/// An escape that takes no character.
pub(super) fn anchor(letter: char) -> Option<String> {
    let boundary = |before: &str, after: &str| {
        format!("(?:(?<=[{WORD}])(?{before}[{WORD}])|(?<![{WORD}])(?{after}[{WORD}]))")
    };
    Some(match letter {
        'A' => r"\A".into(),
        'z' => r"\Z".into(),
        'Z' => r"(?=\n?\Z)".into(),
        'b' => boundary("!", "="),
        'B' => boundary("=", "!"),
        _ => return None,
    })
}
