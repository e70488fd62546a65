//! toksmith's own file: one JSON object with all parts of a tokenizer, one token a line.
//!
//! The vocabulary is read and written here. The pattern, the pipeline, the training record and the files of Hugging Face are
//! passed on as JSON.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::rows::{merge_rows, token_rows, unescape};
use crate::dialects::SyntaxTables;
use crate::error::{Error, Result, show_reason, show_text};
use crate::pipeline::AddedToken;
use crate::pretokenize::Unmatched;
use crate::tokenizer::parts::FilePipeline;
use crate::vocab::{CharacterTokens, Semantics, Vocab};

/// The latest version of the file. A reader refuses a later one.
const VERSION: u64 = 5;
/// The fields that came after version 1, and the first version that has them. A file is written as the lowest version that
/// has its fields.
const SINCE: [(&str, u64); 6] =
    [("ignore_merges", 2), ("pipeline", 2), ("huggingface", 2), ("characters", 3), ("model", 4), ("ties", 5)];
/// The fields that are kept as JSON: what a value of each begins with, and what it is.
const FIELDS: [(&str, &[u8], &str); 7] = [
    ("pattern", b"\"n", "a text or null"),
    ("pattern_flags", b"-0123456789", "a whole number"),
    ("unmatched", b"\"", "a text"),
    ("unicode", b"\"n", "a text or null"),
    ("pipeline", b"{", "an object"),
    ("training", b"{n", "an object or null"),
    ("huggingface", b"{", "an object"),
];

/// A file that was read: its fields, as JSON.
pub struct NativeFile(Entries<Box<RawValue>>);

/// The two tokens of a merge.
type Merge = (Vec<u8>, Vec<u8>);

/// The values of an object by name, in the order of the file.
struct Entries<T>(Vec<(String, T)>);

#[derive(serde::Deserialize)]
struct Characters {
    bytes: Vec<u32>,
    unknown: Option<u32>,
    outside: Vec<u32>,
}

/// The steps of a Hugging Face tokenizer.
#[derive(serde::Deserialize)]
struct Steps {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    decoder: Value,
    added_tokens: Vec<AddedToken>,
    kept: Vec<u32>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Entries<T>, A::Error> {
                let (mut entries, mut names) = (Vec::new(), HashSet::new());
                while let Some((name, value)) = map.next_entry::<String, T>()? {
                    if !names.insert(name.clone()) {
                        return Err(A::Error::custom(format!("{} is there twice", show_text(&name))));
                    }
                    entries.push((name, value));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

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
    ///
    /// # Errors
    /// [`Error::Line`] for what is no JSON object, [`Error::BrokenPart`] for another format or version, or a field of the
    /// wrong kind.
    pub fn read(data: &[u8]) -> Result<Self> {
        let text = str::from_utf8(data).map_err(|error| {
            Error::BrokenPart(
                "not a toksmith file".into(),
                format!("not UTF-8 at byte {}", error.valid_up_to()),
            )
        })?;
        let file = NativeFile(serde_json::from_str(text).map_err(|error| {
            let kind = if error.classify() == Category::Data { "" } else { "not JSON: " };
            Error::Line {
                line: error.line(),
                reason: format!("not a toksmith file: {kind}{}", reason(&error)),
            }
        })?);
        if file.optional::<String>("format")?.as_deref() != Some("toksmith") {
            return Err(broken("format", "not a toksmith file: expected \"toksmith\""));
        }
        file.check()?;
        Ok(file)
    }

    /// Checks that the fields are those of the version, and of their kinds.
    fn check(&self) -> Result<()> {
        let version: u64 = self.field("version")?;
        if !(1..=VERSION).contains(&version) {
            let reason = format!("{version}; this toksmith reads versions 1 to {VERSION}");
            return Err(broken("version", reason));
        }
        for (name, since) in SINCE {
            if version < since && self.text(name).is_some() {
                return Err(broken(name, format!("version {version} has no such field")));
            }
        }
        for (name, beginnings, kind) in FIELDS {
            let is_right = |text: &str| text.bytes().next().is_some_and(|byte| beginnings.contains(&byte));
            match self.text(name) {
                Some(text) if !is_right(text) => {
                    return Err(broken(name, format!("expected {kind}, got {}", show_text(text))));
                }
                None if matches!(name, "pattern" | "unmatched" | "unicode") => return Err(missing(name)),
                _ => (),
            }
        }
        self.field::<i128>("pattern_flags").map(drop)
    }

    /// The JSON of a field.
    fn text(&self, name: &str) -> Option<&str> {
        let Entries(fields) = &self.0;
        fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.get())
    }

    fn optional<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let value = self.text(name).map(serde_json::from_str).transpose();
        value.map_err(|error| broken(name, reason(&error)))
    }

    fn field<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        self.optional(name)?.ok_or_else(|| missing(name))
    }

    /// The rows of a field; the error names the first that is not of the `form`.
    fn rows<T: DeserializeOwned>(&self, name: &str, form: &str) -> Result<Vec<T>> {
        let text = self.text(name).ok_or_else(|| missing(name))?;
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

    /// Names and JSON of the fields besides those of the vocabulary: `pattern`, `pattern_flags`, `unmatched`, `unicode`,
    /// and where the file has them `pipeline`, `training` and `huggingface`.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        FIELDS.iter().filter_map(|(name, ..)| Some((*name, self.text(name)?)))
    }

    /// The steps of a Hugging Face tokenizer; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::BrokenPart`], and those of the steps.
    pub fn steps(&self) -> Result<Option<FilePipeline>> {
        let Some(steps) = self.optional::<Steps>("pipeline")? else { return Ok(None) };
        let parts = [steps.normalizer, steps.pre_tokenizer, steps.decoder];
        FilePipeline::read(&parts, &SyntaxTables)?.with_tokens(steps.added_tokens, steps.kept).map(Some)
    }

    /// The expression in the dialect of `regex`, with its flags, and what becomes of text that it does not match.
    ///
    /// # Errors
    /// [`Error::BrokenPart`].
    pub fn pattern(&self) -> Result<(Option<String>, u32, Unmatched)> {
        let unmatched = match &*self.field::<String>("unmatched")? {
            "keep" => Unmatched::Keep,
            "drop" => Unmatched::Drop,
            other => return Err(broken("unmatched", format!("{}, not keep or drop", show_text(other)))),
        };
        Ok((self.optional::<Option<String>>("pattern")?.flatten(), self.field("pattern_flags")?, unmatched))
    }

    /// The version of Unicode that the pattern was made under.
    ///
    /// # Errors
    /// [`Error::BrokenPart`].
    pub fn unicode(&self) -> Result<Option<String>> {
        Ok(self.optional::<Option<String>>("unicode")?.flatten())
    }

    /// The vocabulary.
    ///
    /// # Errors
    /// [`Error::BrokenPart`], and those of a vocabulary.
    pub fn vocab(&self) -> Result<Vocab> {
        let specials: Vec<_> =
            self.special_tokens()?.into_iter().map(|(name, id)| (name.into_bytes(), Some(id))).collect();
        if let Some(model) = self.optional::<String>("model")? {
            let state =
                STANDARD.decode(model).map_err(|error| broken("model", format!("not base64: {error}")))?;
            return Vocab::from_state(&state, &specials);
        }
        let tokens = self.rows::<(u32, String)>("tokens", "[id, text]")?.into_iter().enumerate();
        let row = |(at, (id, text)): (usize, (u32, String))| Ok((id, token(&text, "tokens", at)?));
        let tokens: Vec<(u32, Vec<u8>)> = tokens.map(row).collect::<Result<_>>()?;
        let merges = self.merges()?;
        if let Some(characters) = self.optional::<Characters>("characters")? {
            let ties = self.optional("ties")?.unwrap_or_default();
            return characters.vocab(&tokens, &merges.unwrap_or_default(), ties, &specials);
        }
        let vocab = Vocab::new(&tokens, merges.as_deref(), &specials)?;
        let ignores_merges = merges.is_some() && self.optional("ignore_merges")?.unwrap_or(false);
        Ok(if ignores_merges { vocab.ignoring_merges() } else { vocab })
    }

    fn special_tokens(&self) -> Result<Vec<(String, u32)>> {
        let Entries(ids) = self.field::<Entries<Box<RawValue>>>("special_tokens")?;
        let id = |(name, id): (String, Box<RawValue>)| match serde_json::from_str(id.get()) {
            Ok(id) => Ok((name, id)),
            Err(_) => {
                let place = format!("special_tokens.{}", show_text(&name));
                Err(broken(
                    &place,
                    format!("the id is {}, not a whole number below 2^32", show_text(id.get())),
                ))
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

    /// The content of the file of a vocabulary, with the JSON of the fields that [`NativeFile::fields`] names.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn write(vocab: &Vocab, fields: &[(String, String)]) -> Result<Vec<u8>> {
        let of_vocab = head(vocab)?;
        let text = |name: &str| {
            let field = fields.iter().find(|(field, _)| field == name).map(|(_, json)| json.as_str());
            field.or_else(|| of_vocab.iter().find(|(field, _)| *field == name).map(|(_, json)| json.as_str()))
        };
        let version = SINCE.iter().filter(|(name, _)| text(name).is_some()).map(|(_, since)| *since).max();
        let mut file = format!("{{\n \"format\": \"toksmith\",\n \"version\": {}", version.unwrap_or(1));
        for name in HEAD {
            if let Some(json) = text(name) {
                file += &format!(",\n \"{name}\": {json}");
            }
        }
        let tokens = vocab.tokens();
        let merge = |&(left, right): &(u32, u32)| (tokens.bytes_at(left), tokens.bytes_at(right));
        let merges = match vocab.semantics() == Semantics::Merges {
            true => [b"[\n  ", &*merge_rows(vocab.merges_by_index().iter().map(merge))?, b"\n ]"].concat(),
            false => b"null".to_vec(),
        };
        let training = text("training").map(|json| format!(",\n \"training\": {json}")).unwrap_or_default();
        let parts: [&[u8]; 7] = [
            file.as_bytes(),
            b",\n \"tokens\": [\n  ",
            &token_rows(tokens.iter())?,
            b"\n ],\n \"merges\": ",
            &merges,
            training.as_bytes(),
            b"\n}\n",
        ];
        Ok(parts.concat())
    }
}

/// The fields before the tokens, in the order of a file.
const HEAD: [&str; 11] = [
    "pattern",
    "pattern_flags",
    "unmatched",
    "unicode",
    "special_tokens",
    "ignore_merges",
    "characters",
    "ties",
    "pipeline",
    "model",
    "huggingface",
];

/// The fields of a vocabulary besides its rows.
fn head(vocab: &Vocab) -> Result<Vec<(&'static str, String)>> {
    let names = vocab.specials().tokens().iter().map(|name| String::from_utf8_lossy(name));
    let mut specials: Vec<_> = vocab.special_ids().iter().zip(names).collect();
    specials.sort();
    let specials: Vec<String> =
        specials.into_iter().map(|(id, name)| format!("{}: {id}", Value::from(name))).collect();
    let mut fields = vec![("special_tokens", format!("{{{}}}", specials.join(", ")))];
    if vocab.semantics() == Semantics::Merges && vocab.ignores_merges() {
        fields.push(("ignore_merges", "true".to_owned()));
    }
    if !vocab.covers_text_exactly() {
        fields.push(("model", Value::from(STANDARD.encode(vocab.state())).to_string()));
    } else if let Some(characters) = vocab.characters() {
        let unknown = characters.unknown.map_or("null".to_owned(), |id| id.to_string());
        let outside: Vec<u32> = characters.outside.iter().copied().collect();
        let json = format!(
            "{{\"bytes\": {:?}, \"unknown\": {unknown}, \"outside\": {outside:?}}}",
            characters.bytes
        );
        fields.push(("characters", json));
        if !vocab.ties().is_empty() {
            fields.push(("ties", format!("{:?}", vocab.ties())));
        }
    }
    Ok(fields)
}

impl Characters {
    fn vocab(
        self,
        tokens: &[(u32, Vec<u8>)],
        merges: &[Merge],
        ties: Vec<u32>,
        specials: &[(Vec<u8>, Option<u32>)],
    ) -> Result<Vocab> {
        let outside = self.outside.into_iter().collect();
        let characters = CharacterTokens { bytes: self.bytes, unknown: self.unknown, outside, ties };
        if !matches!(characters.bytes.len(), 0 | 256) {
            return Err(broken("characters.bytes", format!("{} ids, not 256", characters.bytes.len())));
        }
        let tokens = tokens.iter().map(|(id, token)| (*id, &**token)).collect();
        let merges: Vec<(&[u8], &[u8])> = merges.iter().map(|(left, right)| (&**left, &**right)).collect();
        Vocab::of_character_rows(tokens, &merges, characters, specials)
    }
}

/// The token that the text of a row stands for.
fn token(text: &str, name: &str, at: usize) -> Result<Vec<u8>> {
    let mut token = Vec::new();
    match unescape(text, &mut token)? {
        Some(()) => Ok(token),
        None => Err(broken(
            &format!("{name}[{at}]"),
            format!("a backslash in {} is followed by neither a backslash nor xNN", show_text(text)),
        )),
    }
}

/// The message of an error in the JSON of a field, without its place there.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    show_reason(text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason))
}

fn missing(field: &str) -> Error {
    broken(field, "the field is missing")
}

fn broken(field: &str, reason: impl Into<String>) -> Error {
    Error::BrokenPart(format!("$.{field}"), reason.into())
}
