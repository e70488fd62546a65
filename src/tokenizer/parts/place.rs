//! Places in a `tokenizer.json`, and the errors of what stands there.

use crate::error::Error;

const MAX_SHOWN: usize = 60;

pub(crate) fn refused(place: impl Into<String>, reason: impl Into<String>) -> Error {
    Error::BrokenPart(place.into(), reason.into())
}

/// The error of a value of another type.
pub(crate) fn wrong(place: impl Into<String>, expected: &str, value: &serde_json::Value) -> Error {
    refused(place, format!("expected {expected}, got {}", shown(value)))
}

/// A text as messages show it: in quotes, and cut if it is long.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("'{}…'", text[..end].escape_debug()),
        None => format!("'{}'", text.escape_debug()),
    }
}

pub(crate) fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => quoted(text),
        other => {
            let shown = crate::error::show_reason(&other.to_string());
            let escape = |c: char| if c == '"' { c.to_string() } else { c.escape_debug().to_string() };
            shown.chars().map(escape).collect()
        }
    }
}
