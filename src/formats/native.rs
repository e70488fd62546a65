//! toksmith's own file: one JSON object with all parts of a tokenizer, one token a line.
//!
//! A row is `[id, "token"]` for a token, `["left", "right"]` for a merge. A token is written as text where it
//! is UTF-8; a byte that is not is `\xNN`, and a backslash is `\\`. That text then becomes a string of JSON,
//! which doubles each backslash once more.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::reading::{Entries, reason};
use crate::error::{Error, Result, show_text};
use crate::pretokenize::Unmatched;
use crate::room;
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::parts::place::refused;
use crate::tokenizer::{
    Origin, Pipeline, Preprocessing, Provenance, Record, SourcePattern, Tokenizer, json_line, vocab_fields,
};
use crate::vocab::{CharacterTokens, Semantics, SpecialSpec, Vocab};

/// The latest version of the file. A reader refuses a later one.
const VERSION: u64 = 5;
/// The fields that came after version 1, and the first version that has them. A file is written as the lowest
/// version that has its fields.
const SINCE: [(&str, u64); 6] =
    [("ignore_merges", 2), ("pipeline", 2), ("huggingface", 2), ("characters", 3), ("model", 4), ("ties", 5)];

/// A file that was read: its fields, as JSON.
pub(super) struct NativeFile(Entries<Box<RawValue>>);

type Merge = (Vec<u8>, Vec<u8>);

impl NativeFile {
    pub(super) fn is_beginning(head: &[u8]) -> bool {
        let after = |text: &[u8], head: &mut &[u8]| {
            *head = head.trim_ascii_start();
            head.strip_prefix(text).map(|rest| *head = rest).is_some()
        };
        let mut head = head;
        [&b"{"[..], b"\"format\"", b":", b"\"toksmith\""].iter().all(|text| after(text, &mut head))
    }

    /// Reads a file, and checks that its fields are those of its version.
    fn read(data: &[u8]) -> Result<Self> {
        let text = str::from_utf8(data).map_err(|error| {
            refused("not a toksmith file", format!("not UTF-8 at byte {}", error.valid_up_to()))
        })?;
        let file = NativeFile(serde_json::from_str(text).map_err(|error| {
            let kind = if error.classify() == Category::Data { "" } else { "not JSON: " };
            refused(
                format!("line {}", error.line()),
                format!("not a toksmith file: {kind}{}", reason(&error)),
            )
        })?);
        if file.optional::<String>("format")?.as_deref() != Some("toksmith") {
            return Err(broken("format", "not a toksmith file: expected \"toksmith\""));
        }
        let version: u64 = file.field("version")?;
        if !(1..=VERSION).contains(&version) {
            let reason = format!("{version}; this toksmith reads versions 1 to {VERSION}");
            return Err(broken("version", reason));
        }
        for (name, since) in SINCE {
            if version < since && file.text(name).is_some() {
                return Err(broken(name, format!("version {version} has no such field")));
            }
        }
        Ok(file)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.0.get(name).map(|value| value.get())
    }

    fn optional<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let value = self.text(name).map(serde_json::from_str).transpose();
        value.map_err(|error| broken(name, reason(&error)))
    }

    fn field<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        self.optional(name)?.ok_or_else(|| broken(name, "the field is missing"))
    }

    /// The rows of a field; the error names the first that is not of the `form`.
    fn rows<T: DeserializeOwned>(&self, name: &str, form: &str) -> Result<Vec<T>> {
        let text = self.text(name).ok_or_else(|| broken(name, "the field is missing"))?;
        serde_json::from_str(text).map_err(|error| {
            let rows: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            let wrong = |(at, row): (usize, &&RawValue)| {
                let error = serde_json::from_str::<T>(row.get()).err()?;
                let reason = format!("{} is not {form}: {}", show_text(row.get()), reason(&error));
                Some(broken(&format!("{name}[{at}]"), reason))
            };
            rows.iter().enumerate().find_map(wrong).unwrap_or_else(|| broken(name, reason(&error)))
        })
    }

    /// The pattern, which a tokenizer with steps has from these.
    fn pattern(&self, engines: &dyn PatternEngines) -> Result<SourcePattern> {
        let unmatched = self.field::<String>("unmatched")?;
        let unmatched = Unmatched::from_name(&unmatched)
            .ok_or_else(|| broken("unmatched", format!("{}, not keep or drop", show_text(&unmatched))))?;
        match self.field::<Option<String>>("pattern")? {
            None => Ok(SourcePattern::whole(unmatched)),
            Some(source) => engines.pattern(&source, self.field("pattern_flags")?, unmatched),
        }
    }

    /// A warning if the pattern was made under another version of Unicode.
    fn unicode_warning(&self, pattern: &SourcePattern) -> Result<Option<String>> {
        let made: Option<String> = self.field("unicode")?;
        let shown =
            |version: &Option<String>| version.as_deref().map_or_else(|| "None".to_owned(), show_text);
        Ok((made != pattern.unicode).then(|| {
            format!(
                "made under Unicode {}; its pattern runs under {} here: characters that changed class between the two may \
                 be cut differently",
                shown(&made),
                shown(&pattern.unicode)
            )
        }))
    }

    fn vocab(&self) -> Result<Vocab> {
        let specials = self.specials()?;
        if let Some(model) = self.optional::<String>("model")? {
            let state =
                STANDARD.decode(model).map_err(|error| broken("model", format!("not base64: {error}")))?;
            return Vocab::from_state(&state, &specials);
        }
        let tokens = self.rows::<(u32, String)>("tokens", "[id, text]")?.into_iter().enumerate();
        let row = |(at, (id, text)): (usize, (u32, String))| Ok((id, token(&text, "tokens", at)?));
        let tokens: Vec<(u32, Vec<u8>)> = tokens.map(row).collect::<Result<_>>()?;
        let merges = self.merges()?;
        if let Some(characters) = self.optional::<CharacterTokens>("characters")? {
            let characters =
                CharacterTokens { ties: self.optional("ties")?.unwrap_or_default(), ..characters };
            let tokens = tokens.iter().map(|(id, token)| (*id, &**token)).collect();
            return Vocab::of_character_rows(tokens, &merges.unwrap_or_default(), characters, &specials);
        }
        let vocab = Vocab::new(&tokens, merges.as_deref(), &specials)?;
        let ignores_merges = merges.is_some() && self.optional("ignore_merges")?.unwrap_or(false);
        Ok(if ignores_merges { vocab.ignoring_merges() } else { vocab })
    }

    fn specials(&self) -> Result<Vec<SpecialSpec>> {
        let Entries(ids) = self.field::<Entries<Box<RawValue>>>("special_tokens")?;
        let id = |(name, id): (String, Box<RawValue>)| match serde_json::from_str(id.get()) {
            Ok(id) => Ok((name.into_bytes(), Some(id))),
            Err(_) => {
                let reason = format!("the id is {}, not a whole number below 2^32", show_text(id.get()));
                Err(broken(&format!("special_tokens.{}", show_text(&name)), reason))
            }
        };
        ids.into_iter().map(id).collect()
    }

    /// The merges as pairs of tokens; `None` for a vocabulary of ranks.
    fn merges(&self) -> Result<Option<Vec<Merge>>> {
        if self.text("merges") == Some("null") {
            return Ok(None);
        }
        let merges = self.rows::<(String, String)>("merges", "[left, right]")?.into_iter().enumerate();
        let pair = |(at, (left, right)): (usize, (String, String))| {
            Ok((token(&left, "merges", at)?, token(&right, "merges", at)?))
        };
        merges.map(pair).collect::<Result<_>>().map(Some)
    }
}

pub(super) fn read(data: &[u8], engines: &dyn PatternEngines) -> Result<Tokenizer> {
    let file = NativeFile::read(data)?;
    file.tokenizer(engines, &file, || file.vocab())
}

/// The JSON of what is known of a tokenizer besides its identity.
pub fn extras(tokenizer: &Tokenizer) -> String {
    let mut extras = Map::new();
    extras.extend(tokenizer.record().map(|record| ("training".to_owned(), record.to_value())));
    extras.extend(tokenizer.origin().map(|origin| ("huggingface".to_owned(), origin.to_value())));
    json_line(&extras)
}

/// The tokenizer of the parts of its identity, and of its [`extras`].
pub fn of_state(fields: &str, core: &[u8], extras: &str, engines: &dyn PatternEngines) -> Result<Tokenizer> {
    let parsed = |json: &str| serde_json::from_str(json).map(NativeFile).map_err(|_| Error::BrokenState);
    let (file, extras) = (parsed(fields)?, parsed(extras)?);
    file.tokenizer(engines, &extras, || Vocab::from_state(core, &file.specials()?))
}

impl NativeFile {
    /// The tokenizer, under the pattern or between the steps of the file. `extras` has what is known besides.
    fn tokenizer(
        &self,
        engines: &dyn PatternEngines,
        extras: &NativeFile,
        vocab: impl FnOnce() -> Result<Vocab>,
    ) -> Result<Tokenizer> {
        let pipeline = self.optional::<Value>("pipeline")?.filter(|pipeline| !pipeline.is_null());
        let preprocessing = match pipeline {
            Some(pipeline) => Pipeline::read(&pipeline, engines)?.into(),
            None => Preprocessing::from(self.pattern(engines)?),
        };
        let vocab = vocab()?;
        let known = extras.known(&vocab)?;
        let made = Tokenizer::new(vocab, preprocessing, known)?;
        let warning = self.unicode_warning(made.pattern())?;
        Ok(made.with_warnings(warning.into_iter().collect()))
    }

    /// The record of the training, and what the folder says besides.
    fn known(&self, vocab: &Vocab) -> Result<Provenance> {
        let record = self.optional::<Option<Map<String, Value>>>("training")?.flatten();
        let record = record.map(|record| Record::read(&Value::Object(record))).transpose()?;
        let counts = record.as_ref().map_or(0, |record| record.counts.len());
        let merges = vocab.merges_by_index().len();
        if record.is_some() && vocab.semantics() == Semantics::Merges && counts != merges {
            return Err(broken(
                "training.merge_counts",
                format!("there are {counts} counts for {merges} merges"),
            ));
        }
        let origin = self.optional::<Value>("huggingface")?.filter(|origin| !origin.is_null());
        let origin = origin.map(|origin| Origin::read(&origin)).transpose()?;
        Ok(Provenance { record, origin })
    }
}

/// The content of the file of a tokenizer.
pub(super) fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let vocab = tokenizer.vocab();
    let bytes: usize = vocab.tokens().iter().map(|(_, token)| token.len()).sum();
    room::check_available(4 * bytes + 64 * (vocab.tokens().len() + vocab.merges_by_index().len()))?;
    let mut fields = Vec::from(tokenizer.pattern().fields());
    fields.extend(vocab_fields(vocab));
    fields.extend(tokenizer.pipeline().map(|pipeline| ("pipeline", pipeline.spec().clone())));
    if !vocab.covers_text_exactly() {
        fields.push(("model", STANDARD.encode(vocab.state()).into()));
    }
    fields.extend(tokenizer.origin().map(|origin| ("huggingface", origin.to_value())));
    let later = SINCE.iter().filter(|(name, _)| fields.iter().any(|(field, _)| field == name));
    let version = later.map(|(_, since)| *since).max().unwrap_or(1);
    let mut file = format!("{{\n \"format\": \"toksmith\",\n \"version\": {version}");
    for (name, value) in &fields {
        file += &format!(",\n \"{name}\": {}", json_line(value));
    }
    let tokens = vocab.tokens();
    let row = |(id, token)| (id, Text(token));
    let merge = |&(left, right): &(u32, u32)| (Text(tokens.bytes_at(left)), Text(tokens.bytes_at(right)));
    let merges = match vocab.semantics() == Semantics::Merges {
        true => [b"[\n  ", &*rows(vocab.merges_by_index().iter().map(merge))?, b"\n ]"].concat(),
        false => b"null".to_vec(),
    };
    let training = tokenizer.record().map(|record| json_line(&record.to_value()));
    let training = training.map(|record| format!(",\n \"training\": {record}")).unwrap_or_default();
    let parts: [&[u8]; 7] = [
        file.as_bytes(),
        b",\n \"tokens\": [\n  ",
        &rows(tokens.iter().map(row))?,
        b"\n ],\n \"merges\": ",
        &merges,
        training.as_bytes(),
        b"\n}\n",
    ];
    Ok(parts.concat())
}

fn token(text: &str, name: &str, at: usize) -> Result<Vec<u8>> {
    unescape(text)?.ok_or_else(|| {
        let text = show_text(text);
        let reason = format!("a backslash in {text} is followed by neither a backslash nor xNN");
        broken(&format!("{name}[{at}]"), reason)
    })
}

fn broken(field: &str, reason: impl Into<String>) -> Error {
    refused(format!("$.{field}"), reason)
}

/// A token, written as its text.
struct Text<'t>(&'t [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(self.0.len());
        for chunk in self.0.utf8_chunks() {
            for (number, part) in chunk.valid().split('\\').enumerate() {
                text.push_str(if number == 0 { "" } else { r"\\" });
                text.push_str(part);
            }
            for byte in chunk.invalid() {
                let _ = write!(text, r"\x{byte:02x}"); // a string takes any text
            }
        }
        serializer.serialize_str(&text)
    }
}

fn rows(items: impl IntoIterator<Item = impl Serialize>) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for item in items {
        let separator: &[u8] = if rows.is_empty() { b"" } else { b",\n  " };
        room::extend(&mut rows, separator)?;
        room::extend(&mut rows, json_line(&item).as_bytes())?;
    }
    Ok(rows)
}

/// The token that the text of a row stands for; `None` if a backslash is followed by neither a backslash nor
/// `xNN`, in lower case.
fn unescape(text: &str) -> Result<Option<Vec<u8>>> {
    let (mut token, mut parts) = (room::for_items(text.len())?, text.as_bytes());
    while let Some(at) = parts.iter().position(|&byte| byte == b'\\') {
        token.extend_from_slice(&parts[..at]);
        let (byte, len) = match parts[at + 1..] {
            [b'\\', ..] => (Some(b'\\'), 2),
            [b'x', high, low, ..] => {
                (digit(high).zip(digit(low)).map(|(high, low)| (high << 4 | low) as u8), 4)
            }
            _ => (None, 1),
        };
        let Some(byte) = byte else { return Ok(None) };
        token.push(byte);
        parts = &parts[at + len..];
    }
    token.extend_from_slice(parts);
    Ok(Some(token))
}

fn digit(digit: u8) -> Option<u32> {
    char::from(digit).to_digit(16).filter(|_| !digit.is_ascii_uppercase())
}
