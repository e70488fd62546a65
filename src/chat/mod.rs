//! Chat templates without Python: the part of Jinja that published templates use.
//!
//! Jinja runs a template in Python, with marks of who wrote each character. For many conversations that is
//! slow, so this evaluator runs the same syntax tree ([`syntax`], which Jinja's parser makes). Whatever it
//! does not know, and every error, it leaves to Jinja: then it returns nothing. What it returns is the same
//! text with the same marks.
//!
//! - [`render`]: statements and expressions; [`methods`]: methods, filters and tests; [`json`]: `tojson`.
//! - [`value`], [`text`]: values, and texts with marks.

mod json;
mod methods;
mod render;
mod syntax;
mod text;
mod value;

use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use self::render::Render;
use self::syntax::Statement;
use self::text::{Bail, Eval, Text};
use self::value::{Dict, Value};
use crate::encode::{Mark, marks};

/// A template.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Template {
    body: Vec<Statement>,
    /// What `strftime_now` returns for each format in the template.
    dates: FxHashMap<String, String>,
    /// Whether there is a block `{% generation %}`.
    pub(crate) has_generation: bool,
}

/// What a template writes around the turns of the assistant, as far as that is known.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Borders {
    /// What it writes where the assistant is to speak.
    pub(crate) generation_prompt: String,
    /// What it writes between a message of the user and a text of the assistant, the last one or another.
    pub(crate) headers: Vec<String>,
    /// The id of the special token that ends a turn.
    pub(crate) end: Option<u32>,
}

/// What a template knows besides the conversation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Surroundings {
    /// Special tokens by the names that templates know them by.
    named: Map<String, Json>,
    variables: Map<String, Json>,
    /// Names of variables that speak for the template.
    roles: Vec<String>,
    /// Roles whose messages may have special tokens.
    trusted: Vec<String>,
}

/// A conversation.
#[derive(Debug, Default)]
pub(crate) struct Chat {
    /// Objects with a `role` and content.
    pub(crate) messages: Vec<Json>,
    /// The number of the first message that may be marked as the assistant's.
    pub(crate) first: usize,
    /// Schemas of tools.
    pub(crate) tools: Option<Json>,
    /// Mappings.
    pub(crate) documents: Option<Json>,
    /// More variables.
    pub(crate) variables: Map<String, Json>,
}

/// The text that a template has laid out, and its runs of one mark.
pub(crate) type LaidOut = (String, Vec<(Range<usize>, Mark)>);

/// The fields of reasoning, as in `python/toksmith/chat/conversation.py`.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

impl Template {
    /// Lays out a conversation; `None` if that is left to Jinja. `bytes` is about the size of its texts.
    pub(crate) fn lay_out(&self, surroundings: &Surroundings, chat: Chat, bytes: usize) -> Option<LaidOut> {
        let text = self.text(surroundings, chat, bytes).ok()?;
        let runs = text.runs().collect();
        Some((text.string, runs))
    }

    fn text(&self, surroundings: &Surroundings, chat: Chat, bytes: usize) -> Eval<Text> {
        let Surroundings { named, variables, roles, trusted } = surroundings;
        let mut globals = Vec::with_capacity(4);
        for (name, json) in [("tools", chat.tools), ("documents", chat.documents)] {
            let is_list = |json: &Json| json.as_array().is_some_and(|rows| rows.iter().all(Json::is_object));
            if !json.as_ref().is_none_or(is_list) {
                return Err(Bail);
            }
            globals.push((name, Value::of_json(json.unwrap_or_default(), 0)?));
        }
        globals.push(("messages", messages(chat.messages, chat.first, trusted)?));
        globals.push(("add_generation_prompt", Value::Bool(false)));
        // A variable becomes a value where the template uses it: most use few of them.
        let others = |name: &str| {
            let variable = chat.variables.get(name).or_else(|| variables.get(name));
            let is_trusted = variable.is_none() || roles.iter().any(|role| role == name);
            let json = variable.or_else(|| named.get(name))?;
            Some(Value::of_json(json.clone(), if is_trusted { marks::TRUSTED } else { 0 }))
        };
        Render::new(globals, &others, &self.dates, bytes).run(&self.body)
    }
}

/// Whether a message has weight: OpenAI's files give `weight: 0` to those that a model is not trained on.
pub(crate) fn has_weight(message: &Json) -> bool {
    message.get("weight").and_then(Json::as_f64) != Some(0.0)
}

/// Messages with the marks of their texts.
fn messages(messages: Vec<Json>, first: usize, trusted: &[String]) -> Eval<Value> {
    let (mut rows, mut turns) = (Vec::with_capacity(messages.len()), 0_u8);
    for (at, message) in messages.into_iter().enumerate() {
        let is_own = at >= first && has_weight(&message);
        let Json::Object(message) = message else { return Err(Bail) };
        let role = message.get("role").and_then(Json::as_str);
        let is_trusted = role.is_some_and(|role| trusted.iter().any(|trusted| trusted == role));
        let flag = if is_trusted { marks::TRUSTED } else { 0 };
        let mut own = flag;
        if role == Some("assistant") && is_own {
            turns = turns.wrapping_add(1);
            own |= marks::ASSISTANT | (marks::TURN_UNIT * (turns % 4));
        }
        rows.push(self::message(message, flag, own)?);
    }
    if rows.is_empty() { Err(Bail) } else { Ok(Value::list(rows)) }
}

fn message(message: Map<String, Json>, flag: Mark, own: Mark) -> Eval<Value> {
    let mut row = Dict::with_capacity_and_hasher(message.len() + 1, Default::default());
    for (name, json) in message {
        let mark = match &*name {
            "role" if json.is_string() => marks::TRUSTED,
            "name" | "tool_call_id" => flag,
            "tool_calls" => own | marks::TOOL_CALL,
            name if REASONING.contains(&name) => own | marks::THINKING,
            _ => own,
        };
        if !json.is_null() {
            row.insert(name, (flag, Value::of_json(json, mark)?));
        }
    }
    if let Some((_, reasoning)) = REASONING.iter().find_map(|name| row.get(*name)).cloned() {
        let thinking =
            row.shift_remove("thinking").map_or_else(|| reasoning.clone(), |(_, thinking)| thinking);
        row.shift_insert(0, "thinking".to_owned(), (marks::UNKNOWN, thinking));
        row.entry("reasoning_content".to_owned()).or_insert((marks::UNKNOWN, Value::None)).1 = reasoning;
    }
    Ok(Value::Dict(row.into()))
}
