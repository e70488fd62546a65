//! What a Hugging Face folder says besides the ids of a tokenizer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};

/// The options of a model that have no effect on the ids of a vocabulary of bytes.
pub(crate) const BPE_OPTIONS: [&str; 5] =
    ["unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback"];

/// The `tokenizer_config.json`.
pub(crate) const CONFIG: &str = "tokenizer_config.json";
/// Files beside a `tokenizer.json` that are JSON objects.
pub(crate) const OBJECTS: [&str; 5] = [CONFIG, SPECIALS, GENERATION, ADDED, MODEL];
pub(crate) const SPECIALS: &str = "special_tokens_map.json";
/// The model's configuration, of which only the fields are kept that decide the class of the tokenizer.
pub(crate) const MODEL: &str = "config.json";
pub(crate) const GENERATION: &str = "generation_config.json";
/// Added tokens with their ids, in old folders.
pub(crate) const ADDED: &str = "added_tokens.json";
/// The roles of special tokens that `transformers` knows, in its order.
pub(crate) const ROLES: [&str; 7] =
    ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];
/// The file of one chat template, and the folder of several.
pub(crate) const TEMPLATE: &str = "chat_template.jinja";
pub(crate) const TEMPLATES: &str = "additional_chat_templates/";

/// Where a tokenizer came from: the data of a Hugging Face folder that do not decide its ids, such as the
/// roles of special tokens, chat templates, and how the `tokenizer.json` spells its parts. It is no part of a
/// tokenizer's identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The parts of the `tokenizer.json` as they were spelled, without vocabulary and merges; `None` once the
    /// tokenizer has been changed.
    pub content: Option<Map<String, Value>>,
    /// The added tokens that are not in the vocabulary of the model.
    pub beside: BTreeSet<String>,
    /// The files beside the `tokenizer.json` by name: JSON objects, and the texts of chat templates.
    pub files: Map<String, Value>,
}

impl Origin {
    /// The origin of a changed tokenizer: without how the parts were spelled, and without what names the
    /// tokens that are `gone`. `new_ids` are the ids of all others; `None` if all stay as they are.
    pub(crate) fn moved(&self, new_ids: Option<&HashMap<u32, u32>>, gone: &HashSet<&str>) -> Self {
        let mut files = self.files.clone();
        files.shift_remove(ADDED);
        for name in [CONFIG, SPECIALS] {
            if let Some(fields) = files.get_mut(name).and_then(Value::as_object_mut) {
                fields.shift_remove("added_tokens_decoder");
                forget(fields, gone);
            }
        }
        if let Some((ids, fields)) = new_ids.zip(files.get_mut(GENERATION).and_then(Value::as_object_mut)) {
            fields.retain(|name, value| renumbered(name, value, ids));
        }
        Origin { files, ..Origin::default() }
    }

    /// The special tokens that the files give names, such as `bos_token`.
    pub fn special_tokens(&self) -> BTreeMap<String, String> {
        let field = |name: &str| {
            let of = |file: &str| self.files.get(file).and_then(|file| file.get(name));
            of(CONFIG).or_else(|| of(SPECIALS))
        };
        let listed = ROLES.iter().map(|role| ((*role).to_owned(), field(role)));
        let extra = field("extra_special_tokens").and_then(Value::as_object).into_iter().flatten();
        let rows = listed.chain(extra.map(|(name, token)| (name.clone(), Some(token))));
        let content = |token: &Value| token.get("content").unwrap_or(token).as_str().map(str::to_owned);
        rows.filter_map(|(role, token)| Some((role, content(token?)?))).collect()
    }

    /// The chat templates by name; a single one is `default`.
    pub fn chat_templates(&self) -> Vec<(String, String)> {
        let stem = |name: &str| name.strip_prefix(TEMPLATES)?.strip_suffix(".jinja").map(str::to_owned);
        let files = self.files.iter();
        let mut named: Map<String, Value> =
            files.filter_map(|(name, source)| Some((stem(name)?, source.clone()))).collect();
        named.extend(self.files.get(TEMPLATE).map(|source| ("default".to_owned(), source.clone())));
        if named.is_empty() {
            named = match self.files.get(CONFIG).and_then(|config| config.get("chat_template")) {
                Some(Value::Array(rows)) => {
                    let name = |row: &Value| row["name"].as_str().map(str::to_owned);
                    rows.iter().filter_map(|row| Some((name(row)?, row["template"].clone()))).collect()
                }
                Some(Value::Object(rows)) => rows.clone(),
                Some(source) => Map::from_iter([("default".to_owned(), source.clone())]),
                None => Map::new(),
            };
        }
        named.into_iter().filter_map(|(name, source)| Some((name, source.as_str()?.to_owned()))).collect()
    }

    /// The origin as toksmith's own file has it.
    pub(crate) fn to_value(&self) -> Value {
        json!(self)
    }

    /// Reads the field `huggingface` of toksmith's own file.
    pub(crate) fn read(value: &Value) -> Result<Self> {
        let refused = |reason: String| Error::BrokenPart("$.huggingface".into(), reason);
        let origin =
            Origin::deserialize(value).map_err(|_| refused("it is not what save() writes".into()))?;
        for (name, file) in &origin.files {
            let is_object = OBJECTS.contains(&&**name);
            if !is_known(name) || file.is_object() != is_object || file.is_string() == is_object {
                return Err(refused(format!("{name:?} is not a file that toksmith reads")));
            }
        }
        let has_parts = |content: &Map<String, Value>| {
            content.contains_key("added_tokens") && content.get("model").is_some_and(Value::is_object)
        };
        match origin.content.as_ref().is_none_or(has_parts) {
            true => Ok(origin),
            false => Err(refused("there are no parts of a tokenizer.json".into())),
        }
    }
}

/// Takes tokens out of roles and lists. A role becomes null: a class may have a token of its own for it.
fn forget(fields: &mut Map<String, Value>, gone: &HashSet<&str>) {
    let is_gone = |token: &Value| {
        token.get("content").unwrap_or(token).as_str().is_some_and(|name| gone.contains(name))
    };
    for (name, value) in fields.iter_mut() {
        match value {
            Value::Array(tokens) if name.ends_with("_special_tokens") => {
                tokens.retain(|token| !is_gone(token))
            }
            Value::Object(tokens) if name.ends_with("_special_tokens") => {
                tokens.retain(|_, token| !is_gone(token));
            }
            token if ROLES.contains(&&**name) && is_gone(token) => *token = Value::Null,
            _ => {}
        }
    }
}

/// Gives a field of `generation_config.json` new ids. Returns whether it stays: it does not if it names no
/// token that is left, or is a list of ids in another form.
fn renumbered(name: &str, value: &mut Value, new_ids: &HashMap<u32, u32>) -> bool {
    let new_id = |id: &Value| new_ids.get(&u32::try_from(id.as_u64()?).ok()?).copied().map(Value::from);
    match value {
        Value::Array(ids) if name.ends_with("_token_id") || name.ends_with("_tokens") => {
            *ids = ids.iter().filter_map(new_id).collect();
            !ids.is_empty()
        }
        Value::Object(ids) if name.ends_with("_to_id") => {
            ids.retain(|_, id| new_id(id).map(|new| *id = new).is_some());
            !ids.is_empty()
        }
        Value::Number(_) if name.ends_with("_token_id") => new_id(value).map(|id| *value = id).is_some(),
        Value::Array(_) | Value::Object(_) => {
            !["token", "_ids", "bias"].iter().any(|part| name.contains(part))
        }
        _ => true,
    }
}

/// Whether a file of this name is read and written beside a `tokenizer.json`.
pub(crate) fn is_known(name: &str) -> bool {
    let template = name.strip_prefix(TEMPLATES).filter(|name| !name.contains(['/', '\\']));
    OBJECTS.contains(&name) || name == TEMPLATE || template.is_some_and(|name| name.ends_with(".jinja"))
}
