//! What Oniguruma's escapes, properties and anchors stand for, written for `regex`.

use super::cursor::is_among;

/// Word characters in the tables of Oniguruma: outside of classes they include six Latin-1 numbers; joiners are never
/// word characters.
pub(super) const WORD_IN_CLASS: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}";
pub(super) const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\xb2\xb3\xb9\xbc-\xbe";
pub(super) const LINE_START: &str = r"(?:\A|(?<=\n)(?!\Z))";
pub(super) const LINE_END: &str = r"(?=\n|\Z)";
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
/// Extended_Pictographic of Unicode 16: ranges of code points in hexadecimal digits.
const PICTOGRAPHS: &str = "a9 ae 203c 2049 2122 2139 2194-2199 21a9-21aa 231a-231b 2328 2388 23cf 23e9-23f3 23f8-23fa 24c2 \
     25aa-25ab 25b6 25c0 25fb-25fe 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271d 2721 2728 2733-2734 \
     2744 2747 274c 274e 2753-2755 2757 2763-2767 2795-2797 27a1 27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c 2b50 2b55 3030 \
     303d 3297 3299 1f000-1f0ff 1f10d-1f10f 1f12f 1f16c-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f1ad-1f1e5 1f201-1f20f \
     1f21a 1f22f 1f232-1f23a 1f23c-1f23f 1f249-1f3fa 1f400-1f53d 1f546-1f64f 1f680-1f6ff 1f774-1f77f 1f7d5-1f7ff \
     1f80c-1f80f 1f848-1f84f 1f85a-1f85f 1f888-1f88f 1f8ae-1f8ff 1f90c-1f93a 1f93c-1f945 1f947-1faff 1fc00-1fffd";
/// A newline, or what no grapheme cluster goes beyond.
const CONTROL: &str = r"\r\n\p{GCB=Control}";

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

/// An escape that takes one unit of several characters, and gives it up as a whole.
pub(super) fn unit(letter: char) -> Option<String> {
    match letter {
        'R' => Some(r"(?>\r\n|[\n-\r\x85\u2028\u2029])".into()),
        'X' => Some(format!(r"(?>[\s\S](?:{}[\s\S])*)", inside_cluster())),
        _ => None,
    }
}

/// What holds between two characters of a grapheme cluster, by the rules of Unicode from GB3 to GB13, without GB9c.
fn inside_cluster() -> String {
    let character =
        |code: &str| u32::from_str_radix(code, 16).ok().and_then(char::from_u32).unwrap_or_default();
    let range =
        |range: &str| range.split('-').map(|code| character(code).to_string()).collect::<Vec<_>>().join("-");
    let pictograph = format!("[{}]", PICTOGRAPHS.split_whitespace().map(range).collect::<String>());
    [
        r"(?:(?<=\r)(?=\n)",
        &format!("|(?<![{CONTROL}])(?:"),
        r"(?=[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}])",
        r"|(?<=\p{GCB=L})(?=[\p{GCB=L}\p{GCB=V}\p{GCB=LV}\p{GCB=LVT}])",
        r"|(?<=[\p{GCB=LV}\p{GCB=V}])(?=[\p{GCB=V}\p{GCB=T}])",
        r"|(?<=[\p{GCB=LVT}\p{GCB=T}])(?=\p{GCB=T})",
        &format!("|(?<=[\\p{{GCB=Prepend}}\\U00011a3a])(?![{CONTROL}])"),
        &format!(r"|(?<={pictograph}\p{{GCB=Extend}}*\p{{GCB=ZWJ}})(?={pictograph})"),
        r"|(?<=(?<!\p{GCB=RI})(?:\p{GCB=RI}\p{GCB=RI})*\p{GCB=RI})(?=\p{GCB=RI})))",
    ]
    .concat()
}
