//! Values in error messages; a long value is cut.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, Expected, MapAccess, Unexpected};
use serde_json::Value;

/// The maximum number of bytes of a value that a message shows.
const MAX_SHOWN_BYTES: usize = 60;

/// Bytes as a message shows them: whole if they are few, else their beginning and their number.
pub fn show(bytes: &[u8]) -> String {
    match bytes.get(..MAX_SHOWN_BYTES) {
        Some(first) if bytes.len() > MAX_SHOWN_BYTES => {
            format!("b\"{}\"… ({} bytes)", first.escape_ascii(), bytes.len())
        }
        _ => format!("b\"{}\"", bytes.escape_ascii()),
    }
}

/// The maximum number of digits in a row that a message shows: more than the digits of an id.
const MAX_SHOWN_DIGITS: usize = 40;

/// The reason that another library gives, with its long numbers cut, and itself, because it may contain a
/// value of any length. The number 1e300 is one with 301 digits there.
pub fn show_reason(reason: &str) -> String {
    let mut shown = String::new();
    for part in reason.split_inclusive(|char: char| !char.is_ascii_digit()) {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        if digits > MAX_SHOWN_DIGITS {
            shown += &format!("{}… ({digits} digits){}", &part[..MAX_SHOWN_DIGITS], &part[digits..]);
        } else {
            shown += part;
        }
        if let Some((end, _)) = shown.char_indices().nth(4 * MAX_SHOWN_BYTES) {
            shown.truncate(end);
            return shown + "…";
        }
    }
    shown
}

/// The error of serde for a map that is not expected: serde_json hands numbers with a fraction or an exponent
/// over as maps.
pub(crate) fn unexpected_map<'de, M: MapAccess<'de>>(map: M, expected: &dyn Expected) -> M::Error {
    let number = Value::deserialize(MapAccessDeserializer::new(map)).ok().and_then(|value| value.as_f64());
    M::Error::invalid_type(number.map_or(Unexpected::Map, Unexpected::Float), expected)
}

/// Text as a message shows it: whole if it is short, else its beginning and its length.
pub fn show_text(text: &str) -> String {
    if text.len() <= MAX_SHOWN_BYTES {
        return format!("{text:?}");
    }
    let end = (0..=MAX_SHOWN_BYTES).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{:?}… ({} bytes)", &text[..end], text.len())
}

pub(super) fn asked(bytes: usize) -> String {
    if bytes == 0 { String::new() } else { format!(": {bytes} bytes could not be had") }
}

pub(super) fn summed(left: &[u8], right: &[u8]) -> String {
    match right {
        [] => format!("the sum of the counts up to {}", show(left)),
        _ => format!("the count of {} followed by {}", show(left), show(right)),
    }
}

pub(super) fn offered(offer: Option<(u64, u64)>) -> String {
    let Some((count, kept)) = offer else { return String::new() };
    format!(
        ", or leave rare ones out with min_pretoken_count={count}, which keeps {kept} (and changes the result: what \
         is left out is not trained on)"
    )
}

pub(super) fn place(index: Option<usize>) -> String {
    index.map(|index| format!(" (at index {index})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_short() {
        assert_eq!(show_reason("é 12 at 5"), "é 12 at 5");
        let long = format!("integer `{}`, expected é", "7".repeat(301));
        assert_eq!(show_reason(&long), format!("integer `{}… (301 digits)`, expected é", "7".repeat(40)));
        assert_eq!(show_reason(&"é".repeat(300)), "é".repeat(240) + "…");
        assert_eq!(show_reason(&"é".repeat(240)), "é".repeat(240));
        assert_eq!(show_reason(""), "");
    }
}
