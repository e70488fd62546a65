//! Records with conversations, read without Python where that can be done.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

use crate::chat::{Borders, Chat, LaidOut, Surroundings, Template, has_weight};
use crate::formats::Entries;

/// How records are read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordOptions {
    /// The name of the messages.
    field: String,
    train_on: TrainOn,
    end_of_turn: bool,
    /// The template for conversations without tools, and with them, as JSON; `None` if Python lays them out.
    #[serde(deserialize_with = "known")]
    templates: [Option<Template>; 2],
    /// What these write around turns.
    pub(super) borders: [Borders; 2],
    surroundings: Surroundings,
}

/// Templates, if they are read: one that is nested deeply, or has half a character, is not.
fn known<'de, D: Deserializer<'de>>(json: D) -> Result<[Option<Template>; 2], D::Error> {
    let templates = <[Option<String>; 2]>::deserialize(json)?;
    Ok(templates.map(|template| serde_json::from_str(&template?).ok()))
}

/// Whose text is trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TrainOn {
    Assistant,
    Completion,
    Last,
    All,
}

/// A record as it is read.
pub enum Record {
    /// A conversation, and what else is known of it.
    Conversation {
        /// The text, and its runs of one [`Mark`](crate::encode::Mark).
        laid_out: LaidOut,
        /// As in [`Conversation`](super::training::Conversation).
        has_generation: bool,
        /// As in [`Conversation`](super::training::Conversation).
        needs_own: bool,
        /// Whether it has tools, which may choose another template.
        has_tools: bool,
        /// Whether what is appended ends a turn that is trained on.
        trains_end: bool,
    },
    /// A prompt and its completion.
    Pair(String, String),
}

impl RecordOptions {
    /// What a record has; `None` if Python is to read it.
    pub(super) fn read(&self, line: &[u8]) -> Option<Record> {
        let Entries(fields) = serde_json::from_str(simdutf8::basic::from_utf8(line).ok()?).ok()?;
        let mut record: Map<String, Json> = fields.into_iter().collect();
        let (mut messages, prompt) = match take(&mut record, &self.field) {
            Some(messages) => (list(messages)?, None),
            None => match (record.remove("prompt")?, record.remove("completion")?) {
                (Json::String(prompt), Json::String(completion)) => {
                    return Some(Record::Pair(prompt, completion));
                }
                (prompt, completion) => {
                    let (mut messages, completion) = (list(prompt)?, list(completion)?);
                    let prompt = messages.len();
                    messages.extend(completion);
                    (messages, Some(prompt))
                }
            },
        };
        let (tools, documents) = (take(&mut record, "tools"), take(&mut record, "documents"));
        let variables = match take(&mut record, "chat_template_kwargs") {
            None => Map::new(),
            Some(Json::Object(variables)) => variables,
            Some(_) => return None,
        };
        let has_tools = tools.is_some();
        let template = self.templates[usize::from(has_tools)].as_ref()?;
        let first = self.first_trained(&messages, prompt);
        let last = messages.last()?;
        let ends_own = messages.len() > first && role(last) == Some("assistant") && has_weight(last);
        let leaves_out = prompt.is_some() || !messages.iter().all(has_weight);
        let trains_end = self.train_on == TrainOn::All || self.end_of_turn && ends_own;
        let chat = Chat { messages: std::mem::take(&mut messages), first, tools, documents, variables };
        let laid_out = template.lay_out(&self.surroundings, chat, line.len())?;
        let needs_own = leaves_out || self.train_on != TrainOn::Assistant;
        let has_generation = template.has_generation;
        Some(Record::Conversation { laid_out, has_generation, needs_own, has_tools, trains_end })
    }

    /// The number of the first message of the assistant that is trained on.
    fn first_trained(&self, messages: &[Json], prompt: Option<usize>) -> usize {
        let last_of = |wanted| messages.iter().rposition(|message| role(message) == Some(wanted));
        let first = match self.train_on {
            TrainOn::Last => last_of("assistant").unwrap_or(0),
            TrainOn::Completion if prompt.is_none() => last_of("user").map_or(0, |at| at + 1),
            _ => 0,
        };
        first.max(prompt.unwrap_or(0))
    }
}

fn role(message: &Json) -> Option<&str> {
    message.get("role").and_then(Json::as_str)
}

/// Takes a value that is not null out of an object; `a.b` is the field `b` of `a`.
fn take(record: &mut Map<String, Json>, name: &str) -> Option<Json> {
    let inner = |record: &mut Map<String, Json>| {
        let (outer, name) = name.split_once('.')?;
        take(record.get_mut(outer)?.as_object_mut()?, name)
    };
    record.remove(name).or_else(|| inner(record)).filter(|json| !json.is_null())
}

/// Messages: objects with a role. What the assistant says is no number.
fn list(json: Json) -> Option<Vec<Json>> {
    let is_number = |json: &Json| json.is_number() || json.is_boolean();
    let is_message = |message: &Json| match role(message) {
        Some("assistant") => !message.get("content").is_some_and(is_number),
        role => role.is_some(),
    };
    match json {
        Json::Array(messages) if messages.iter().all(is_message) => Some(messages),
        _ => None,
    }
}
