//! What the files of a folder make of its tokenizer, as `AutoTokenizer` of transformers reads them.
//!
//! The files beside a vocabulary add tokens, set their flags, and name a class, which has parts of its own: a
//! pattern, a normalizer, a space before the text. They change the content of a `tokenizer.json` to one that
//! means the same without them.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::classes::{options, replacing, says_something};
use super::fields::{Fields, Token};
use super::file::TokenizerFile;
use super::model::{put_first, set_options};
use super::shapes::{by_id, template_of};
use super::side_files::{SideFiles, is_true};
use crate::error::Result;
use crate::pipeline::AddedToken;
use crate::spelling::spelled;
use crate::tokenizer::parts::place::{quoted, refused};
use crate::tokenizer::{ADDED, CONFIG, ROLES, SPECIALS, token_value};

/// The maximum number of characters that are compared to find added tokens that overlap.
const MAX_COMPARISONS: usize = 10_000_000;
/// Applies what the files beside a `tokenizer.json` say, which are kept beside the result. `class` is the
/// class of transformers, without the suffix `Fast`. `has_file`: whether there is such a file, rather than a
/// vocabulary in another format.
pub(crate) fn with_side_files(
    mut file: TokenizerFile,
    has_file: bool,
    files: SideFiles,
    class: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<TokenizerFile> {
    let has_pieces = !has_file && !file.added.is_empty();
    let changed = changed(&file, &files, class, has_file, warnings)?;
    let rows = changed.as_ref().map_or(&file.added, |changed| &changed.added);
    let is_same = has_file && changed.is_none();
    let files = if is_same { files } else { kept(files, rows, has_file, has_pieces) };
    if let Some(changed) = changed {
        file = changed.applied(file)?;
    }
    Ok(TokenizerFile { files: Some(files.0), ..file })
}

struct Changed {
    parts: Map<String, Value>,
    added: Vec<AddedToken>,
    /// The fields of the model besides its lists, if they are made anew.
    options: Option<Map<String, Value>>,
    /// Tokens that no text reaches, but that still decode, with their ids.
    hidden: Vec<(String, u32)>,
}

/// What the files change in a file; `None` for nothing.
fn changed(
    file: &TokenizerFile,
    files: &SideFiles,
    class: Option<&str>,
    has_file: bool,
    warnings: &mut Vec<String>,
) -> Result<Option<Changed>> {
    if !says_something(files) {
        return Ok(None);
    }
    let (none, config) = (Map::new(), files.get(CONFIG));
    let config = config.unwrap_or(&none);
    let class = replacing(class, file, has_file, warnings);
    let (rows, pieces): (&[_], &[_]) = match (has_file, class) {
        (true, _) => (&file.added, &[]),
        (false, Some(_)) => (&[], &file.added),
        (false, None) => (&[], &[]),
    };
    let mut fields = Fields::read(files, rows, pieces, warnings);
    if let Value::Object(padding) = file.part("padding") {
        let token = padding.get("pad_token").and_then(Value::as_str).map(Token::bare);
        fields.named.entry("pad_token".to_owned()).or_insert(token);
    }
    for (role, name) in class.into_iter().flat_map(|class| class.tokens) {
        fields.named.entry(role.to_owned()).or_insert_with(|| Some(Token::bare(name)));
    }
    let start = if class.is_some() { &[] } else { &*file.added };
    let (mut added, specials) =
        fields.added(start, file, class.is_some_and(|class| class.name == "Qwen2Tokenizer"))?;
    let mut parts: Map<String, Value> = class
        .into_iter()
        .flat_map(|class| class.parts(config))
        .map(|(name, part)| (name.to_owned(), part))
        .collect();
    let adds = |name: &str| config.get(name).is_some_and(|value| !value.is_null());
    if !has_file && (adds("add_bos_token") || adds("add_eos_token")) {
        parts.insert("post_processor".to_owned(), template(config, &fields, &added));
    }
    let mut hidden = Vec::new();
    if splits_special_tokens(files) {
        let is_special = |token: &AddedToken| specials.contains(&token.content);
        let special = added.iter().filter(|token| is_special(token));
        hidden.extend(special.map(|token| (spelled(token.content.as_bytes()), token.id)));
        added.retain(|token| !is_special(token));
        warnings.extend(warning_of_overlaps(&added, &specials));
    }
    added.sort_by_key(|token| token.id);
    let mut rows = file.added.clone();
    rows.sort_by_key(|token| token.id);
    if added == rows && parts.iter().all(|(name, part)| bare(part) == bare(file.part(name))) {
        return Ok(None);
    }
    let options = class.map(|class| options(class.falls_back));
    Ok(Some(Changed { parts, added, options, hidden }))
}

impl Changed {
    fn applied(self, file: TokenizerFile) -> Result<TokenizerFile> {
        let TokenizerFile { mut model, mut parts, mut options, .. } = file;
        parts.extend(self.parts);
        if let Some(changed) = self.options {
            set_options(&mut model, &changed)?;
            options = changed;
        }
        if !self.hidden.is_empty() {
            put_first(&mut model, &self.hidden)?;
        }
        TokenizerFile::new(model, parts, options, self.added, false)
    }
}

/// The files that are kept beside the content that they have changed, whose added tokens are `rows`. The
/// files may lack those of a vocabulary without a `tokenizer.json`. Under `split_special_tokens` it has no
/// special ones, and no file may add them again.
fn kept(mut files: SideFiles, rows: &[AddedToken], has_file: bool, has_pieces: bool) -> SideFiles {
    if has_file && !splits_special_tokens(&files) {
        return files;
    }
    let has_list = is_true(files.field(CONFIG, "extra_special_tokens"));
    let config = files.0.get_mut(CONFIG).and_then(Value::as_object_mut);
    if let Some(decoder @ Value::Object(_)) = config.and_then(|config| config.get_mut("added_tokens_decoder"))
    {
        *decoder = by_id(rows.iter().map(token_value));
    }
    if has_pieces {
        // They took the place of a list that is not `extra_special_tokens`.
        for file in [Some(SPECIALS), has_list.then_some(CONFIG)].into_iter().flatten() {
            let fields = files.0.get_mut(file).and_then(Value::as_object_mut);
            fields.and_then(|fields| fields.shift_remove("additional_special_tokens"));
        }
    }
    files.0.shift_remove(ADDED);
    files
}

fn splits_special_tokens(files: &SideFiles) -> bool {
    files.field(CONFIG, "split_special_tokens") == Some(&Value::Bool(true))
}

/// A warning of added tokens that transformers does not find where it passes over a special token.
fn warning_of_overlaps(tokens: &[AddedToken], specials: &BTreeSet<String>) -> Option<String> {
    let characters = |text: &String| text.chars().count();
    let contents: usize = tokens.iter().map(|token| characters(&token.content)).sum();
    let too_many = contents * specials.iter().map(characters).sum::<usize>() > MAX_COMPARISONS;
    let mut pairs = tokens.iter().flat_map(|token| specials.iter().map(move |name| (&token.content, name)));
    let (token, special) = pairs.find(|(token, special)| too_many || overlap(token, special))?;
    Some(format!(
        "{CONFIG}: split_special_tokens: added tokens may overlap special ones, such as {} and {}, and are found inside of \
         these here, but not in transformers",
        quoted(token),
        quoted(special)
    ))
}

fn overlap(first: &str, second: &str) -> bool {
    let meet = |first: &str, second: &str| {
        second.char_indices().skip(1).any(|(end, _)| first.ends_with(&second[..end]))
    };
    first.contains(second) || second.contains(first) || meet(first, second) || meet(second, first)
}

/// A part without what changes neither ids nor texts.
fn bare(part: &Value) -> Value {
    match part {
        Value::Array(items) => items.iter().map(bare).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "trim_offsets");
            let mut fields: Map<String, Value> =
                fields.map(|(name, value)| (name.clone(), bare(value))).collect();
            if fields.get("type").is_some_and(|kind| kind == "ByteLevel") {
                fields.entry("use_regex").or_insert(true.into());
            }
            Value::Object(fields)
        }
        other => other.clone(),
    }
}

impl Fields {
    /// The added tokens of a file after those of the files were added to `start` in the order of
    /// transformers.
    ///
    /// Also the names of those that were special once: they stay so for `split_special_tokens`, whatever
    /// flags follow. `is_plain`: whether the class adds all special tokens again without flags.
    fn added(
        &self,
        start: &[AddedToken],
        file: &TokenizerFile,
        is_plain: bool,
    ) -> Result<(Vec<AddedToken>, BTreeSet<String>)> {
        let of_role = ROLES.iter().filter_map(|role| self.named.get(*role)?.as_ref());
        let others = self.named.iter().filter(|(name, _)| !ROLES.contains(&&***name));
        let mut listed: Vec<&Token> = of_role.chain(others.filter_map(|(_, token)| token.as_ref())).collect();
        let names: HashSet<&str> = listed.iter().map(|token| &*token.content).collect();
        listed.extend(&self.extra);
        let mut by_id: Vec<_> = self.by_id.iter().collect();
        by_id.sort_by_key(|(id, _)| **id);
        let mut have: HashSet<&str> = start.iter().map(|token| &*token.content).collect();
        have.extend(self.by_id.values().map(|token| &*token.content));
        // Tokens of one name and other flags are added one after the other.
        let mut seen = HashSet::new();
        let new = listed.iter().filter(|token| !have.contains(&*token.content) && seen.insert(token.key()));
        let again = listed.iter().filter(|_| is_plain).map(|token| Token::bare(&token.content));
        let tokens = by_id.into_iter().map(|(_, token)| token).chain(new.copied());
        let tokens = tokens.cloned().map(|mut token| {
            token.flags.special |= names.contains(&*token.content);
            token
        });
        let mut added = Added::new(start, file);
        for token in tokens.chain(again).filter(|token| !token.content.is_empty()) {
            added.add(&token)?;
        }
        Ok((added.known.into_values().collect(), added.specials))
    }
}

/// Added tokens by name, with those that were special once.
struct Added<'f> {
    file: &'f TokenizerFile,
    known: IndexMap<String, AddedToken>,
    specials: BTreeSet<String>,
    next: u64,
}

impl<'f> Added<'f> {
    fn new(start: &[AddedToken], file: &'f TokenizerFile) -> Self {
        let known = start.iter().map(|token| (token.content.clone(), token.clone())).collect();
        let specials = start.iter().filter(|token| token.flags.special);
        let specials = specials.map(|token| token.content.clone()).collect();
        let ends = start.iter().map(|token| u64::from(token.id) + 1);
        Added { file, known, specials, next: ends.fold(file.model.ids.len() as u64, u64::max) }
    }

    /// Adds a token as tokenizers does: one that has an id keeps it, and another gets the next one.
    fn add(&mut self, token: &Token) -> Result<()> {
        let (content, model) = (&token.content, &self.file.model);
        if token.flags.special {
            self.specials.insert(content.clone());
        }
        let place = model.names.find(content);
        let id = match (self.known.get(content), place) {
            (Some(known), _) => known.id,
            (None, Some(place)) => model.ids[place as usize],
            (None, None) => u32::try_from(self.next)
                .map_err(|_| refused(CONFIG, "there is no id left below 2^32 for an added token"))?,
        };
        self.next = self.next.max(u64::from(id) + 1);
        self.known.insert(content.clone(), token.added(id));
        Ok(())
    }
}

/// The post-processor that puts BOS and EOS around a text.
fn template(config: &Map<String, Value>, fields: &Fields, added: &[AddedToken]) -> Value {
    template_of(["bos_token", "eos_token"].map(|role| {
        let token = fields.named.get(role)?.as_ref();
        let token = token.filter(|_| is_true(config.get(&format!("add_{role}"))))?;
        let token = added.iter().find(|added| added.content == token.content)?;
        Some((token.content.as_str(), token.id))
    }))
}
