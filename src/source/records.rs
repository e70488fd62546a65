//! A record, a line of JSON or a document in a container, and its text: one field of a JSON object.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::input::Fields;
use super::skipped::Skipped;
use super::utf8::valid_utf8;
use crate::error::{show_reason, show_text, unexpected_map};
use crate::room;

/// A record: an object of JSON, or a text in a container.
pub(super) struct Record<'b> {
    pub(super) bytes: &'b [u8],
    /// Whether they are known to be UTF-8.
    pub(super) is_valid: bool,
    pub(super) is_text: bool,
    /// Where the record is, and how many bytes of a BOM follow there.
    pub(super) place: Skipped,
    pub(super) bom: u64,
}

impl<'b> Record<'b> {
    /// The text of a record, in UTF-8. With `replace`, invalid bytes and lone surrogates are read as U+FFFD.
    pub(super) fn text(&self, fields: &Fields, replace: bool) -> Result<Cow<'b, [u8]>, Skipped> {
        let text = match self.is_valid {
            true => Cow::Borrowed(self.bytes),
            false => valid_utf8(self.bytes, replace).map_err(|at| self.place.not_utf8(self.bom + at))?,
        };
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned().into_bytes());
        let text = match (&fields.names[..], &text) {
            ([], _) => return Ok(text),
            ([field], Cow::Borrowed(line)) => text_of(line, field, replace).map(|text| match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                text => owned(text),
            }),
            ([field], Cow::Owned(line)) => text_of(line, field, replace).map(owned),
            (names, line) => {
                let texts: Result<Vec<_>, _> =
                    names.iter().map(|name| text_of(line, name, replace)).collect();
                texts.map(|texts| Cow::Owned(texts.join(&*fields.separator).into_bytes()))
            }
        };
        text.map_err(|reason| self.place.because(reason))
    }

    /// The string in a field, which is the label of a document.
    pub(super) fn label(&self, field: &str, replace: bool) -> Result<String, Skipped> {
        if self.is_text {
            let reason = format!("this is a text, and has no field {}", show_text(field));
            return Err(self.place.because(reason));
        }
        let label = self.text(&field.into(), replace).map_err(|wrong| {
            // The end of the message says how to name the field of the text.
            let reason = wrong.reason.as_ref().and_then(|reason| reason.split(": name ").next());
            Skipped { reason: reason.map(str::to_owned), ..wrong }
        })?;
        Ok(String::from_utf8_lossy(&label).into_owned())
    }
}

/// The string in the field `field` of the JSON object `line`; `a.b` is also the field `b` of the object in
/// `a`. A name that stands there twice is an error if it leads to the field. Other fields may also hold the
/// numbers that Python writes and JSON does not have. With `replace`, each escape of a lone surrogate is read
/// as U+FFFD.
///
/// # Errors
/// A message that says what is wrong with the line.
fn text_of<'a>(line: &'a [u8], field: &str, replace: bool) -> Result<Cow<'a, str>, String> {
    let error = match read(line, field) {
        Ok(text) => return text.ok_or_else(|| missing(line, field)),
        Err(error) => error,
    };
    if let Some(repaired) = &repaired(line, replace)
        && let Ok(text) = read(repaired, field)
    {
        return text.map(|text| Cow::Owned(text.into_owned())).ok_or_else(|| missing(repaired, field));
    }
    let is_surrogate =
        !replace && repaired(line, true).is_some_and(|repaired| read(&repaired, field).is_ok());
    let whole = error.to_string();
    // serde_json adds the line and column within this text; the caller knows the line of the file.
    let said = whole.split(" at line ").next().unwrap_or(&whole);
    let said = if is_surrogate { LONE_SURROGATE.into() } else { show_reason(said) };
    let advice = if error.is_eof() { OBJECTS_OVER_LINES } else { "" };
    Err(format!("{said} (at byte {} of the line){advice}", error.column()))
}

/// The string in a field, if the field is there.
fn read<'a>(line: &'a [u8], field: &str) -> serde_json::Result<Option<Cow<'a, str>>> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let text = Object { field }.deserialize(&mut json)?;
    json.end()?;
    Ok(text)
}

const OBJECTS_OVER_LINES: &str = ": if objects take several lines, give input_format=\"json\"";
const LONE_SURROGATE: &str =
    "an escape such as \\ud83d is half of a character: give errors=\"replace\" to read it as U+FFFD";

/// What Python's `json` writes for numbers that JSON does not have.
const NUMBERS_OF_PYTHON: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// The line with a zero in place of each of [`NUMBERS_OF_PYTHON`] outside of strings, and with `surrogates`
/// with `\ufffd` in place of each escape of a lone surrogate; `None` if there is none of them.
fn repaired(line: &[u8], surrogates: bool) -> Option<Vec<u8>> {
    let mut copy = room::copied(line).ok()?;
    let (mut at, mut in_string, mut is_changed) = (0, false, false);
    while at < line.len() {
        match line[at] {
            b'\\' if in_string => {
                let (len, is_lone) = escape(&line[at..]);
                if is_lone && surrogates {
                    copy[at..at + len].copy_from_slice(br"\ufffd");
                    is_changed = true;
                }
                at += len - 1;
            }
            b'"' => in_string = !in_string,
            b':' | b',' | b'[' if !in_string => {
                at += line[at + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                let tail = &mut copy[at + 1..];
                if let Some(number) = NUMBERS_OF_PYTHON.into_iter().find(|number| tail.starts_with(number)) {
                    tail[..number.len()].fill(b' ');
                    tail[0] = b'0';
                    is_changed = true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    is_changed.then_some(copy)
}

/// The bytes of the escape that begins `text`, two escapes for a pair of surrogates, and whether it is a lone
/// surrogate.
fn escape(text: &[u8]) -> (usize, bool) {
    match (code_unit(text), text.get(6..).and_then(code_unit)) {
        (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, false),
        (Some(0xd800..0xe000), _) => (6, true),
        (Some(_), _) => (6, false),
        (None, _) => (2, false),
    }
}

/// The number in an escape such as `\u00e9` at the beginning of `text`.
fn code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(br"\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)? as u16))
}

/// The error message for a line without the field.
fn missing(line: &[u8], field: &str) -> String {
    let value = serde_json::from_slice::<serde_json::Value>(line).unwrap_or_default();
    let names =
        value.as_object().map(|object| object.keys().take(8).map(|name| show_text(name)).collect::<Vec<_>>());
    let (field, names) = (show_text(field), names.unwrap_or_default().join(", "));
    format!("there is no field {field}, only [{names}]: name the one that has the text with field=…")
}

/// Reads an object and returns the text of one of its fields.
struct Object<'f> {
    field: &'f str,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        // The names that lead to the field, by the number of dots that are left behind each. Those behind
        // which more than 63 are left are not told apart.
        let mut seen = 0_u64;
        let mut text = None;
        while let Some(JsonText(name)) = map.next_key()? {
            // What of the wanted name is left behind this one: nothing, or a dot and more.
            let after = self.field.strip_prefix(&*name);
            let Some(after) = after.filter(|after| after.is_empty() || after.starts_with('.')) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let bit = 1 << after.matches('.').count().min(63);
            if seen & bit != 0 {
                return Err(twice(self.field));
            }
            seen |= bit;
            let value = match after.strip_prefix('.') {
                None => Some(map.next_value_seed(FieldText(self.field))?),
                Some(inner) => {
                    let object = map.next_value::<&RawValue>()?.get();
                    let is_object = object.starts_with('{');
                    let inner = is_object.then(|| read(object.as_bytes(), inner)).transpose();
                    inner.map_err(serde::de::Error::custom)?.flatten()
                }
            };
            if text.is_some() && value.is_some() {
                return Err(twice(self.field));
            }
            text = value.or(text);
        }
        Ok(text)
    }
}

fn twice<E: serde::de::Error>(field: &str) -> E {
    E::custom(format_args!("the field {} is there twice: keep one of them", show_text(field)))
}

/// A text of JSON, borrowed where it has no escapes.
#[derive(Deserialize)]
pub(crate) struct JsonText<'d>(#[serde(borrow)] pub(crate) Cow<'d, str>);

/// Reads the value of the field, which must be a string.
struct FieldText<'f>(&'f str);

impl<'de> DeserializeSeed<'de> for FieldText<'_> {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldText<'_> {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string under {}", show_text(self.0))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Err(E::custom(format_args!("the field {} is null, not a string", show_text(self.0))))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
        Err(unexpected_map(map, &self))
    }
}
