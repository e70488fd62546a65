//! toksmith's own file, which the Python package writes (python/toksmith/formats/native.py).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::patterns::{self, SourcePattern};
use crate::dialects::SyntaxTables;
use crate::error::{Error, Result, show_text};
use crate::huggingface::FilePipeline;
use crate::pipeline::AddedToken;
use crate::pretokenize::{Pretokenizer, Unmatched};
use crate::special::Flags;
use crate::vocab::{CharacterTokens, Vocab, unescape};
#[cfg(feature = "train")]
use crate::vocab::{Semantics, merge_rows, token_rows};

/// The latest version of the file that is read.
const VERSION: u64 = 5;

/// The parts of a file that decide ids; what else it has is for the Python package.
#[derive(serde::Deserialize)]
pub(super) struct NativeFile {
    format: String,
    version: u64,
    pattern: Option<String>,
    pattern_flags: u32,
    unmatched: String,
    unicode: Option<String>,
    special_tokens: Names,
    tokens: Vec<(u32, String)>,
    merges: Option<Vec<(String, String)>>,
    #[serde(default)]
    ignore_merges: bool,
    characters: Option<Characters>,
    #[serde(default)]
    ties: Vec<u32>,
    pipeline: Option<Steps>,
    model: Option<String>,
}

/// Ids by name, in the order of the file.
struct Names(Vec<(String, u32)>);

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
    added_tokens: Vec<Row>,
    kept: Vec<u32>,
}

#[derive(serde::Deserialize)]
struct Row {
    id: u32,
    content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
    special: bool,
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of ids by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    names.push(entry);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl NativeFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Line`] for JSON that is malformed or has other fields, [`Error::BrokenPart`] for another format or version.
    pub(super) fn read(data: &[u8]) -> Result<Self> {
        let file: NativeFile = serde_json::from_slice(data).map_err(|error| Error::Line {
            line: error.line(),
            reason: format!("not a toksmith file: {error}"),
        })?;
        if file.format != "toksmith" {
            let reason = format!("{}, not \"toksmith\"", show_text(&file.format));
            return Err(broken("format", reason));
        }
        if !(1..=VERSION).contains(&file.version) {
            let reason = format!("{}; this toksmith reads versions 1 to {VERSION}", file.version);
            return Err(broken("version", reason));
        }
        Ok(file)
    }

    /// The steps of a Hugging Face tokenizer; `None` if it has none.
    pub(super) fn steps(&self) -> Result<Option<FilePipeline>> {
        let Some(steps) = &self.pipeline else { return Ok(None) };
        let parts = [&steps.normalizer, &steps.pre_tokenizer, &steps.decoder].map(Value::clone);
        let token = |row: &Row| AddedToken {
            id: row.id,
            content: row.content.clone(),
            flags: Flags {
                single_word: row.single_word,
                lstrip: row.lstrip,
                rstrip: row.rstrip,
                special: row.special,
            },
            normalized: row.normalized,
        };
        let tokens = steps.added_tokens.iter().map(token);
        FilePipeline::read(&parts, &SyntaxTables)?.with_tokens(tokens, steps.kept.iter().copied()).map(Some)
    }

    /// The pattern of a tokenizer without steps.
    pub(super) fn pattern(&self) -> Result<SourcePattern> {
        let unmatched = match &*self.unmatched {
            "keep" => Unmatched::Keep,
            "drop" => Unmatched::Drop,
            other => return Err(broken("unmatched", format!("{}, not keep or drop", show_text(other)))),
        };
        patterns::of_source(self.pattern.as_deref(), self.pattern_flags, unmatched)
    }

    /// A warning if the pattern was made under another version of Unicode.
    pub(super) fn warnings(&self, pretokenizer: &Pretokenizer) -> Option<String> {
        let here = patterns::unicode_of(&pretokenizer.pattern)?;
        let made = self.unicode.as_deref().filter(|made| *made != here)?;
        Some(format!(
            "made under Unicode {made}; its pattern runs under {here} here: characters that changed class between the two \
             may be cut differently"
        ))
    }

    /// The vocabulary.
    pub(super) fn vocab(&self) -> Result<Vocab> {
        let Names(specials) = &self.special_tokens;
        let specials: Vec<_> =
            specials.iter().map(|(name, id)| (name.clone().into_bytes(), Some(*id))).collect();
        if let Some(model) = &self.model {
            let state =
                STANDARD.decode(model).map_err(|error| broken("model", format!("not base64: {error}")))?;
            return Vocab::from_state(&state, &specials);
        }
        let row =
            |(at, (id, text)): (usize, &(u32, String))| Ok((*id, token(text, || format!("tokens[{at}]"))?));
        let tokens: Vec<(u32, Vec<u8>)> = self.tokens.iter().enumerate().map(row).collect::<Result<_>>()?;
        let pair = |(at, (left, right)): (usize, &(String, String))| {
            let place = || format!("merges[{at}]");
            Ok((token(left, place)?, token(right, place)?))
        };
        let merges = self
            .merges
            .as_ref()
            .map(|merges| merges.iter().enumerate().map(pair).collect::<Result<Vec<_>>>());
        let merges = merges.transpose()?;
        match &self.characters {
            Some(characters) => characters.vocab(&tokens, &merges.unwrap_or_default(), &self.ties, &specials),
            None => {
                let vocab = Vocab::new(&tokens, merges.as_deref(), &specials)?;
                Ok(if self.ignore_merges && merges.is_some() { vocab.ignoring_merges() } else { vocab })
            }
        }
    }
}

impl Characters {
    fn vocab(
        &self,
        tokens: &[(u32, Vec<u8>)],
        merges: &[(Vec<u8>, Vec<u8>)],
        ties: &[u32],
        specials: &[(Vec<u8>, Option<u32>)],
    ) -> Result<Vocab> {
        let characters = CharacterTokens {
            bytes: self.bytes.clone(),
            unknown: self.unknown,
            outside: self.outside.iter().copied().collect(),
            ties: ties.to_vec(),
        };
        if !matches!(characters.bytes.len(), 0 | 256) {
            return Err(broken("characters.bytes", format!("{} ids, not 256", characters.bytes.len())));
        }
        let tokens = tokens.iter().map(|(id, token)| (*id, &**token)).collect();
        let merges: Vec<(&[u8], &[u8])> = merges.iter().map(|(left, right)| (&**left, &**right)).collect();
        Vocab::of_character_rows(tokens, &merges, characters, specials)
    }
}

/// The content of the file of a tokenizer without steps of Hugging Face.
///
/// # Errors
/// [`Error::BrokenPart`] for a vocabulary of characters; [`Error::OutOfMemory`].
#[cfg(feature = "train")]
pub(super) fn written(vocab: &Vocab, pattern: &SourcePattern) -> Result<Vec<u8>> {
    if vocab.characters().is_some() || !vocab.covers_text_exactly() {
        return Err(broken("tokens", "a vocabulary of characters is saved by the Python package alone"));
    }
    let has_merges = vocab.semantics() == Semantics::Merges;
    let ignores_merges = has_merges && vocab.ignores_merges();
    let unmatched = if pattern.pretokenizer.unmatched == Unmatched::Keep { "keep" } else { "drop" };
    let names = vocab.specials().tokens().iter().map(|name| String::from_utf8_lossy(name));
    let mut specials: Vec<_> = vocab.special_ids().iter().zip(names).collect();
    specials.sort();
    let specials: Vec<String> =
        specials.into_iter().map(|(id, name)| format!("{}: {id}", Value::from(name))).collect();
    let mut head = vec![
        ("format", Value::from("toksmith").to_string()),
        ("version", if ignores_merges { "2" } else { "1" }.to_owned()),
        ("pattern", Value::from(pattern.source.clone()).to_string()),
        ("pattern_flags", pattern.flags.to_string()),
        ("unmatched", Value::from(unmatched).to_string()),
        ("unicode", Value::from(patterns::unicode_of(&pattern.pretokenizer.pattern)).to_string()),
        ("special_tokens", format!("{{{}}}", specials.join(", "))),
    ];
    if ignores_merges {
        head.push(("ignore_merges", "true".to_owned()));
    }
    let head: Vec<String> = head.into_iter().map(|(name, json)| format!("\"{name}\": {json}")).collect();
    let tokens = vocab.tokens();
    let merge = |&(left, right): &(u32, u32)| (tokens.bytes_at(left), tokens.bytes_at(right));
    let head = head.join(",\n ");
    let merges = match has_merges {
        true => [b"[\n  ", &*merge_rows(vocab.merges_by_index().iter().map(merge))?, b"\n ]"].concat(),
        false => b"null".to_vec(),
    };
    let parts: [&[u8]; 7] = [
        b"{\n ",
        head.as_bytes(),
        b",\n \"tokens\": [\n  ",
        &token_rows(tokens.iter())?,
        b"\n ],\n \"merges\": ",
        &merges,
        b"\n}\n",
    ];
    Ok(parts.concat())
}

/// The token that the text of a row stands for.
fn token(text: &str, place: impl Fn() -> String) -> Result<Vec<u8>> {
    let mut token = Vec::new();
    match unescape(text, &mut token)? {
        Some(()) => Ok(token),
        None => Err(broken(
            &place(),
            format!("a backslash in {} is followed by neither a backslash nor xNN", show_text(text)),
        )),
    }
}

fn broken(field: &str, reason: impl Into<String>) -> Error {
    Error::BrokenPart(format!("$.{field}"), reason.into())
}
