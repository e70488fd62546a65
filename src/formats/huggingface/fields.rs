//! Special and added tokens as the files beside a vocabulary say them, before they have ids.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::side_files::{SideFiles, is_true};
use crate::pipeline::AddedToken;
use crate::special::Flags;
use crate::tokenizer::parts::place::{quoted, shown};
use crate::tokenizer::{ADDED, CONFIG, ROLES, SPECIALS};

/// An added token without its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Token {
    pub(super) content: String,
    pub(super) flags: Flags,
    /// Whether it is normalized; where it does not say, it is, unless it is special.
    normalized: Option<bool>,
    /// Whether it is a name alone, without flags.
    is_bare: bool,
}

impl Token {
    pub(super) fn bare(name: &str) -> Self {
        let flags = Flags { special: true, ..Flags::default() };
        Token { content: name.to_owned(), flags, normalized: Some(false), is_bare: true }
    }

    fn of_row(row: &AddedToken) -> Self {
        let (content, flags) = (row.content.clone(), row.flags);
        Token { content, flags, normalized: Some(row.normalized), is_bare: false }
    }

    pub(super) fn added(&self, id: u32) -> AddedToken {
        let (content, flags) = (self.content.clone(), self.flags);
        AddedToken { id, content, flags, normalized: self.is_normalized() }
    }

    fn read(value: &Value, place: &str, warnings: &mut Vec<String>) -> Option<Self> {
        match (value, value["content"].as_str()) {
            (Value::Null, _) => None,
            (Value::String(name), _) => Some(Token::bare(name)),
            (Value::Object(fields), Some(content)) => {
                let flag = |name: &str| is_true(fields.get(name));
                let flags = Flags {
                    single_word: flag("single_word"),
                    lstrip: flag("lstrip"),
                    rstrip: flag("rstrip"),
                    special: flag("special"),
                };
                let normalized = fields.get("normalized").filter(|value| !value.is_null());
                let normalized = normalized.map(|value| is_true(Some(value)));
                Some(Token { content: content.to_owned(), flags, normalized, is_bare: false })
            }
            _ => {
                warnings.push(format!("{place}: {} is not an added token, and is left out", shown(value)));
                None
            }
        }
    }

    fn is_normalized(&self) -> bool {
        self.normalized.unwrap_or(!self.flags.special)
    }

    /// What two tokens differ in that are added one after the other.
    pub(super) fn key(&self) -> (&str, Flags, bool, bool) {
        (&self.content, self.flags, self.is_normalized(), self.is_bare)
    }
}

/// What the files say of special and added tokens.
#[derive(Default)]
pub(super) struct Fields {
    /// Special tokens by role or by another name; `None` for a role without one.
    pub(super) named: IndexMap<String, Option<Token>>,
    pub(super) extra: Vec<Token>,
    /// Added tokens by id, in the order of the files.
    pub(super) by_id: IndexMap<u64, Token>,
}

impl Fields {
    /// Reads the files. `rows` are the added tokens of a `tokenizer.json`; `pieces` are those of a `.model`,
    /// which are among the other special tokens unless the files have a list of them.
    pub(super) fn read(
        files: &SideFiles,
        rows: &[AddedToken],
        pieces: &[AddedToken],
        warnings: &mut Vec<String>,
    ) -> Self {
        let mut fields = Fields::default();
        let mut config = files.get(CONFIG).cloned().unwrap_or_default();
        if !is_true(config.get("extra_special_tokens"))
            && let Some(list) = config.shift_remove("additional_special_tokens")
        {
            config.insert("extra_special_tokens".to_owned(), list);
        }
        if let Some(Value::Object(listed)) = config.get("added_tokens_decoder") {
            let place = format!("{CONFIG}: added_tokens_decoder");
            for (id, value) in listed {
                let token = Token::read(value, &place, warnings).filter(|token| !token.is_bare);
                let id = id.parse().ok().filter(|_| id.bytes().all(|byte| byte.is_ascii_digit()));
                fields.by_id.extend(id.zip(token));
            }
        } else {
            fields.take_old_files(files, &mut config, !pieces.is_empty(), warnings);
            fields.by_id.extend(rows.iter().map(|row| (u64::from(row.id), Token::of_row(row))));
        }
        fields.take_roles(&config, warnings);
        let listed = match config.get("extra_special_tokens") {
            Some(Value::Object(others)) if !others.is_empty() => {
                for (name, value) in others {
                    fields.named.insert(name.clone(), Token::read(value, CONFIG, warnings));
                }
                config.get("additional_special_tokens").filter(|_| pieces.is_empty())
            }
            other => other,
        };
        fields.extra = match listed {
            None => pieces.iter().map(Token::of_row).collect(),
            Some(list) => {
                let list = list.as_array().into_iter().flatten();
                list.filter_map(|value| Token::read(value, CONFIG, warnings)).collect()
            }
        };
        fields
    }

    /// Takes the special tokens by role, whose flags are those of the added token of the same name, and by
    /// other names.
    fn take_roles(&mut self, config: &Map<String, Value>, warnings: &mut Vec<String>) {
        let place = |name: &str| format!("{CONFIG}: {name}");
        let of_content: HashMap<&str, &Token> =
            self.by_id.values().map(|token| (&*token.content, token)).collect();
        for role in ROLES {
            if let Some(value) = config.get(role) {
                let token = Token::read(value, &place(role), warnings);
                let known =
                    |token: Token| of_content.get(&*token.content).map_or(token, |&known| known.clone());
                self.named.insert(role.to_owned(), token.map(known));
            }
        }
        for (name, value) in config {
            let is_token = matches!(value, Value::String(_) | Value::Object(_));
            if name.ends_with("_token") && !ROLES.contains(&&**name) && is_token {
                self.named.insert(name.clone(), Token::read(value, &place(name), warnings));
            }
        }
    }

    /// Takes what stands in `special_tokens_map.json` and `added_tokens.json`: only without
    /// `added_tokens_decoder`.
    ///
    /// `has_pieces`: whether the added tokens of a `.model` take the place of its
    /// `additional_special_tokens`.
    fn take_old_files(
        &mut self,
        files: &SideFiles,
        config: &mut Map<String, Value>,
        has_pieces: bool,
        warnings: &mut Vec<String>,
    ) {
        let specials = files.get(SPECIALS);
        let mut taken = None;
        let has_no_list = config.get("extra_special_tokens").is_none_or(Value::is_object);
        for (name, value) in specials.into_iter().flatten() {
            let mut value = value.clone();
            match (&**name, &mut value) {
                ("extra_special_tokens", Value::Array(list)) => {
                    let old = config.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
                    let known: HashSet<&Value> = old.iter().collect();
                    list.retain(|token| !known.contains(token));
                    list.splice(..0, old.iter().cloned());
                }
                ("extra_special_tokens", _) => (),
                ("additional_special_tokens", _) if has_pieces || !has_no_list => continue,
                (_, Value::Object(token)) => {
                    token.insert("special".to_owned(), true.into());
                    token.entry("normalized").or_insert(false.into());
                }
                _ => (),
            }
            let is_said = config.get(name).is_some_and(Value::is_string);
            if name.ends_with("_token") && !ROLES.contains(&&**name) && is_said {
                continue; // the one in the configuration counts
            }
            if name == "additional_special_tokens" && !config.contains_key("extra_special_tokens") {
                taken = Some(value); // which makes no token of the other file special
            } else {
                config.insert(name.clone(), value);
            }
        }
        // transformers converts an object in the configuration later, so that its name is not special here.
        let is_converted = |role: &&str| {
            !config.get(*role).is_some_and(Value::is_object)
                || specials.is_some_and(|specials| specials.contains_key(*role))
        };
        let extra = config.get("extra_special_tokens").and_then(Value::as_array).filter(|_| taken.is_none());
        let named = ROLES.iter().filter(|role| is_converted(role)).filter_map(|role| config.get(*role));
        let contents = named.chain(extra.into_iter().flatten());
        let special = contents.filter_map(|value| value.as_str().or(value["content"].as_str())).collect();
        self.take_added(files, &special, warnings);
        if let Some(list) = taken {
            config.insert("extra_special_tokens".to_owned(), list);
        }
    }

    /// Takes the tokens of the file of added tokens, of which those in `special` are special.
    fn take_added(&mut self, files: &SideFiles, special: &HashSet<&str>, warnings: &mut Vec<String>) {
        for (content, id) in files.get(ADDED).into_iter().flatten() {
            let Some(id) = id.as_u64() else {
                let (name, id) = (quoted(content), shown(id));
                warnings.push(format!("{ADDED}: the id of {name} is {id}; it is left out"));
                continue;
            };
            let flags = Flags { special: special.contains(&**content), ..Flags::default() };
            let (content, normalized) = (content.clone(), Some(!flags.special));
            self.by_id.insert(id, Token { content, flags, normalized, is_bare: false });
        }
    }
}
