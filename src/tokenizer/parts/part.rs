//! A part of a `tokenizer.json`: a JSON object whose fields are read with errors that name their place.

use serde_json::{Map, Value};

use super::patterns::{FilePattern, FilePatterns};
use super::place::{quoted, refused, wrong};
use crate::error::Result;
use crate::pretokenize::Matcher;

const MAX_DEPTH: usize = 20;
const MAX_KIND: usize = 60;

/// An object of a file, with its place.
pub(crate) struct Part<'v> {
    pub(crate) place: String,
    fields: &'v Map<String, Value>,
}

impl<'v> Part<'v> {
    pub(crate) fn new(value: &'v Value, place: String) -> Result<Self> {
        match value.as_object() {
            Some(fields) => Ok(Part { place, fields }),
            None => Err(wrong(place, "an object", value)),
        }
    }

    /// The parts of a sequence of any depth, whose items are in the field `list`; a single part is a sequence
    /// of one.
    pub(crate) fn flat(value: &'v Value, place: &str, list: &str, max: usize) -> Result<Vec<Self>> {
        let (mut parts, mut pending) = (Vec::new(), vec![(value, place.to_owned(), 0)]);
        while let Some((value, at, depth)) = pending.pop() {
            let part = Part::new(value, at)?;
            if part.kind()? != "Sequence" {
                parts.push(part);
                if parts.len() > max {
                    return Err(refused(place, format!("more than {max} parts")));
                }
                continue;
            }
            if depth == MAX_DEPTH {
                return Err(refused(
                    part.place,
                    format!("more than {MAX_DEPTH} sequences inside each other"),
                ));
            }
            let items = part.list(list)?.iter().enumerate().rev();
            pending.extend(items.map(|(i, item)| (item, format!("{}.{list}[{i}]", part.place), depth + 1)));
        }
        Ok(parts)
    }

    pub(crate) fn refused(&self, reason: impl Into<String>) -> crate::error::Error {
        refused(&*self.place, reason)
    }

    pub(crate) fn refused_in(&self, name: &str, reason: impl Into<String>) -> crate::error::Error {
        refused(format!("{}.{name}", self.place), reason)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'v Value> {
        self.fields.get(name)
    }

    fn field<T>(
        &self,
        name: &str,
        default: Option<T>,
        expected: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<T> {
        match (self.fields.get(name), default) {
            (None, Some(default)) => Ok(default),
            (None, None) => Err(self.refused(format!("the field {} is missing", quoted(name)))),
            (Some(value), _) => {
                read(value).ok_or_else(|| wrong(format!("{}.{name}", self.place), expected, value))
            }
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'v str> {
        self.field(name, None, "a text", Value::as_str)
    }

    pub(crate) fn text_or(&self, name: &str, default: &'static str) -> Result<&'v str> {
        self.field(name, Some(default), "a text", Value::as_str)
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        self.field(name, None, "true or false", Value::as_bool)
    }

    pub(crate) fn flag_or(&self, name: &str, default: bool) -> Result<bool> {
        self.field(name, Some(default), "true or false", Value::as_bool)
    }

    pub(crate) fn list(&self, name: &str) -> Result<&'v Vec<Value>> {
        self.field(name, None, "a list", Value::as_array)
    }

    pub(crate) fn object(&self, name: &str) -> Result<&'v Map<String, Value>> {
        self.field(name, None, "an object", Value::as_object)
    }

    /// A number of characters of 32 bits.
    pub(crate) fn count(&self, name: &str, default: Option<u64>) -> Result<usize> {
        let count = self.field(name, default.map(i128::from), "a whole number", |value| {
            value.as_u64().map(i128::from).or(value.as_i64().map(i128::from))
        })?;
        let in_range = u32::try_from(count).map(|count| count as usize);
        in_range.map_err(|_| self.refused_in(name, format!("{count} is not a number of characters")))
    }

    pub(crate) fn character(&self, name: &str) -> Result<char> {
        let text = self.text(name)?;
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(self.refused_in(name, format!("{} is not one character", quoted(text)))),
        }
    }

    pub(crate) fn kind(&self) -> Result<&'v str> {
        let kind = self.text("type")?;
        let is_name = kind.chars().all(|c| c == '_' || c.is_alphanumeric()) && !kind.is_empty();
        if is_name && kind.chars().nth(MAX_KIND).is_none() {
            return Ok(kind);
        }
        Err(self.refused_in("type", format!("{} is not the name of a type", quoted(kind))))
    }

    /// What finds the `pattern` of the part, and the pattern if it is a regular expression. `has_offsets`
    /// says that the places of matches are kept.
    pub(crate) fn matcher(
        &self,
        patterns: &mut FilePatterns<'_>,
        has_offsets: bool,
    ) -> Result<(Matcher, Option<FilePattern>)> {
        let place = format!("{}.pattern", self.place);
        let pattern = self.get("pattern").map(|value| Part::new(value, place.clone()));
        let pattern = pattern.ok_or_else(|| self.refused("the field 'pattern' is missing"))??;
        let (name, text) = match pattern.fields.keys().next().map(String::as_str) {
            Some(name @ ("String" | "Regex")) if pattern.fields.len() == 1 => (name, pattern.text(name)?),
            _ => return Err(pattern.refused("expected one field, String or Regex")),
        };
        if text.is_empty() {
            return Err(pattern.refused("an empty pattern"));
        }
        if name == "String" {
            return Ok((Matcher::Literal(text.as_bytes().to_vec()), None));
        }
        let compiled = patterns.compile(text, &place)?;
        if compiled.is_nullable && has_offsets {
            let reason = "may match nothing, and then the original's offsets are lost";
            return Err(pattern.refused(format!("{} {reason}", quoted(text))));
        }
        Ok((compiled.matcher.clone(), Some(compiled)))
    }
}
