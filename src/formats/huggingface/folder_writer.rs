//! The folder of a tokenizer as `transformers` writes it: `tokenizer.json` and the files beside it.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::shapes::by_id;
use super::side_files::{SideFiles, is_true};
use super::writer;
use crate::error::{Error, Result};
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::parts::place::{quoted, shown};
use crate::tokenizer::{
    CONFIG, GENERATION, MODEL, Origin, SPECIALS, TEMPLATE, TEMPLATES, Tokenizer, json_line,
};

/// The class of transformers that reads any `tokenizer.json`.
const ANY_CLASS: &str = "PreTrainedTokenizerFast";
/// The roles of special tokens that can be chosen, with the names that are usual for each, a space between.
const USUAL: [(&str, &str); 4] = [
    ("bos_token", "<|begin_of_text|> <|startoftext|> <s> <bos> <|bos|> [BOS] <|endoftext|>"),
    ("eos_token", "<|endoftext|> <|end_of_text|> </s> <eos> <|eos|> [EOS]"),
    ("unk_token", "<unk> <|unk|> [UNK]"),
    (
        "pad_token",
        "<pad> <|pad|> [PAD] <|padding|> <|finetune_right_pad_id|> <|endoftext|> <|end_of_text|> </s> <eos> <|eos|> [EOS]",
    ),
];
/// What transformers reads as "this model has no longest input".
const NO_LIMIT: i128 = 10_i128.pow(30);

/// Special tokens by role; `None` for no such token. A role that is missing has the token that the tokenizer
/// came with.
pub type Roles = HashMap<String, Option<String>>;

/// What the files say besides what the tokenizer does.
#[derive(Default)]
pub struct FolderOptions {
    /// The special tokens that are chosen.
    pub roles: Roles,
    /// The source of a chat template.
    pub chat_template: Option<String>,
    /// How many ids the model takes.
    pub model_max_length: Option<i128>,
}

/// The files of a folder by name, `tokenizer.json` first.
pub fn folder_files(
    tokenizer: &Tokenizer,
    options: &FolderOptions,
    engines: &dyn PatternEngines,
    warnings: &mut Vec<String>,
) -> Result<Vec<(String, Vec<u8>)>> {
    let content = writer::write(tokenizer, engines)?;
    let mut beside = match tokenizer.origin().filter(|origin| !origin.files.is_empty()) {
        Some(origin) => changed(tokenizer, origin, options, engines, warnings)?,
        None => own_files(tokenizer, options, content["added_tokens"].as_array().map_or(&[], Vec::as_slice))?,
    };
    beside.shift_remove(MODEL);
    let mut files = vec![("tokenizer.json".to_owned(), pretty(&content))];
    files.extend(beside.into_iter().map(|(name, value)| match value {
        Value::String(text) => (name, text.into_bytes()),
        value => (name, pretty(&value)),
    }));
    // GPT-2's two files hold neither a pattern nor `ignore_merges`: they are written only where the usual
    // ones apply.
    let (model, is_gpt2) = (&content["model"], tokenizer.pattern().name() == Some("gpt2"));
    if let Some(merges) = model["merges"].as_array().filter(|_| is_gpt2 && model["ignore_merges"] == false) {
        let lines = merges.iter().filter_map(Value::as_str).map(|merge| format!("{merge}\n"));
        let lines: String = ["#version: 0.2\n".to_owned()].into_iter().chain(lines).collect();
        files.push(("vocab.json".to_owned(), json_line(&model["vocab"]).into_bytes()));
        files.push(("merges.txt".to_owned(), lines.into_bytes()));
    }
    Ok(files)
}

pub(crate) fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// The special token of each role: the chosen one, else one with a usual name, if any.
pub fn roles_of(tokenizer: &Tokenizer, chosen: &Roles) -> Result<IndexMap<&'static str, String>> {
    let specials: HashSet<&str> = tokenizer.special_tokens().map(|(name, _)| name).collect();
    let mut roles: IndexMap<&'static str, String> = IndexMap::new();
    for (role, names) in USUAL {
        let name = match chosen.get(role) {
            Some(name) => name.clone(),
            None => {
                let usual = names.split(' ').find(|name| specials.contains(name)).map(str::to_owned);
                usual.or_else(|| roles.get("eos_token").filter(|_| role == "pad_token").cloned())
            }
        };
        let Some(name) = name else { continue };
        check_role(role, &name, &specials)?;
        roles.insert(role, name);
    }
    Ok(roles)
}

fn check_role(role: &str, name: &str, specials: &HashSet<&str>) -> Result<()> {
    if specials.contains(name) {
        return Ok(());
    }
    let name = quoted(name);
    Err(Error::Invalid(format!("{role} is {name}, which is not a special token of this tokenizer")))
}

/// The special token that ends a text: one with a usual name, else the one that the tokenizer came with.
pub fn end_of_text(tokenizer: &Tokenizer) -> Option<String> {
    let usual = roles_of(tokenizer, &Roles::new()).ok()?.shift_remove("eos_token");
    let named = || tokenizer.origin()?.special_tokens().remove("eos_token");
    usual.or_else(|| named().filter(|name| tokenizer.special_tokens().any(|(other, _)| other == name)))
}

/// The configuration and the map of special tokens of a tokenizer that came without any.
fn own_files(tokenizer: &Tokenizer, options: &FolderOptions, rows: &[Value]) -> Result<Map<String, Value>> {
    let roles = roles_of(tokenizer, &options.roles)?;
    let ordinary =
        rows.iter().filter(|row| row["special"] == false).filter_map(|row| row["content"].as_str());
    let used: HashSet<&str> = roles.values().map(String::as_str).chain(ordinary).collect();
    let mut others: Vec<(u32, &str)> = tokenizer.special_tokens().map(|(name, id)| (id, name)).collect();
    others.retain(|(_, name)| !used.contains(name));
    others.sort_unstable();
    let mut specials: Map<String, Value> =
        roles.into_iter().map(|(role, name)| (role.to_owned(), name.into())).collect();
    if !others.is_empty() {
        let others = others.into_iter().map(|(_, name)| name).collect();
        specials.insert("additional_special_tokens".into(), others);
    }
    let mut config = Map::new();
    config.insert("tokenizer_class".into(), ANY_CLASS.into());
    config.insert("added_tokens_decoder".into(), by_id(rows.iter().cloned()));
    config.insert("clean_up_tokenization_spaces".into(), false.into());
    config.insert("model_max_length".into(), json!(options.model_max_length.unwrap_or(NO_LIMIT)));
    config.extend(specials.clone());
    config.extend(options.chat_template.iter().map(|source| ("chat_template".into(), source.clone().into())));
    Ok(Map::from_iter([(CONFIG.to_owned(), config.into()), (SPECIALS.to_owned(), specials.into())]))
}

/// The files that the tokenizer came with, changed by the options.
fn changed(
    tokenizer: &Tokenizer,
    origin: &Origin,
    options: &FolderOptions,
    engines: &dyn PatternEngines,
    warnings: &mut Vec<String>,
) -> Result<Map<String, Value>> {
    let mut files = SideFiles(origin.files.clone());
    let ids: HashMap<&str, u32> = tokenizer.special_tokens().collect();
    let names = ids.keys().copied().collect();
    let generation = files.get(GENERATION).cloned().unwrap_or_default();
    let mut config = files.get(CONFIG).cloned().unwrap_or_default();
    let mut specials = files.get(SPECIALS).cloned().unwrap_or_default();
    if !is_true(config.get("tokenizer_class")) {
        let class = files.tokenizer_class(&|model| engines.tokenizer_class(model), warnings);
        config.insert("tokenizer_class".into(), class.as_deref().unwrap_or(ANY_CLASS).into());
    }
    if let Some(code) = config.get("auto_map") {
        warnings.push(format!(
            "{CONFIG}: auto_map names code beside it ({}), which is not kept: copy those files if you trust them",
            shown(code)
        ));
    }
    config.extend(options.model_max_length.map(|length| ("model_max_length".into(), json!(length))));
    for (role, name) in USUAL.iter().filter_map(|(role, _)| Some((*role, options.roles.get(*role)?))) {
        name.iter().try_for_each(|name| check_role(role, name, &names))?;
        config.insert(role.into(), name.clone().into());
        specials.shift_remove(role);
        if let Some(name) = name.as_ref().filter(|_| !specials.is_empty()) {
            specials.insert(role.into(), name.as_str().into());
        }
        let id = name.as_ref().map(|name| ids[name.as_str()].into());
        warnings.extend(generation_warning(&generation, role, name.as_deref(), id.as_ref()));
    }
    if files.get(SPECIALS).is_some() {
        files.0.insert(SPECIALS.into(), specials.into());
    }
    if let Some(source) = &options.chat_template {
        let is_file = files.0.keys().any(|name| name == TEMPLATE || name.starts_with(TEMPLATES));
        config.shift_remove("chat_template");
        let fields = if is_file { &mut files.0 } else { &mut config };
        fields.insert(if is_file { TEMPLATE } else { "chat_template" }.into(), source.as_str().into());
    }
    files.0.insert(CONFIG.into(), config.into());
    Ok(files.0)
}

/// A warning if generation_config.json gives a role to another token than the chosen one.
fn generation_warning(
    generation: &Map<String, Value>,
    role: &str,
    name: Option<&str>,
    id: Option<&Value>,
) -> Option<String> {
    let ids = generation.get(&format!("{role}_id")).filter(|ids| !ids.is_null())?;
    let allowed = ids.as_array().map_or(std::slice::from_ref(ids), Vec::as_slice);
    (!id.is_some_and(|id| allowed.contains(id))).then(|| {
        format!(
            "{GENERATION} keeps {role}_id {}, which is not the {role} that is chosen here, {}: change it there, too",
            shown(ids).replace(',', ", "),
            name.map_or_else(|| "none".to_owned(), quoted)
        )
    })
}
