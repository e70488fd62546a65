//! What a Hugging Face folder says besides the ids of a tokenizer.

use std::collections::{BTreeMap, BTreeSet};

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
    /// The origin of a tokenizer whose ids have changed: without ids and without flags by id.
    pub(crate) fn moved(&self) -> Self {
        let mut files = self.files.clone();
        files.shift_remove(GENERATION);
        files.shift_remove(ADDED);
        if let Some(config) = files.get_mut(CONFIG).and_then(Value::as_object_mut) {
            config.shift_remove("added_tokens_decoder");
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

/// Whether a file of this name is read and written beside a `tokenizer.json`.
pub(crate) fn is_known(name: &str) -> bool {
    let template = name.strip_prefix(TEMPLATES).filter(|name| !name.contains(['/', '\\']));
    OBJECTS.contains(&name) || name == TEMPLATE || template.is_some_and(|name| name.ends_with(".jinja"))
}
