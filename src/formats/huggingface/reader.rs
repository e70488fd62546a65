//! Takes a `tokenizer.json` apart in one pass. No value of a large list becomes an object of its own.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{Error, show_reason, unexpected_map};
use crate::names::Texts;
use crate::room;
use crate::source::JsonText;
use crate::tokenizer::parts::place::{quoted, refused};

/// The parts of a file, as they stand there.
#[derive(Default)]
pub(crate) struct RawFile {
    /// The JSON of all fields that have no place of their own below, by name.
    pub(crate) parts: Vec<(String, String)>,
    pub(crate) has_model: bool,
    /// The JSON of the fields of the model besides its vocabulary and merges.
    pub(crate) options: Vec<(String, String)>,
    /// The tokens of the vocabulary, and their ids; `None` if there is no vocabulary.
    pub(crate) vocab: Option<(Texts, Vec<u32>)>,
    pub(crate) merges: Option<RawMerges>,
    /// The JSON of the added tokens.
    pub(crate) added: Option<String>,
    /// The field that is read, such as `.model.merges`, and the row in it.
    field: String,
    row: Option<u32>,
}

/// Merges in the order of the file.
#[derive(Default)]
pub(crate) struct RawMerges {
    /// The two parts of each merge, one after the other.
    pub(crate) parts: Texts,
    pub(crate) rows: Vec<u32>,
    /// Whether the first merge is one text with both parts.
    are_texts: Option<bool>,
}

impl RawMerges {
    pub(crate) fn push(&mut self, left: &str, right: &str, row: u32) -> Result<(), Error> {
        self.parts.push(left)?;
        self.parts.push(right)?;
        room::push(&mut self.rows, row)
    }
}

pub(crate) fn read(data: &[u8]) -> Result<RawFile, Error> {
    let text = simdutf8::compat::from_utf8(data)
        .map_err(|error| refused("not UTF-8", format!("at byte {}", error.valid_up_to())))?;
    room::check_available(2 * text.len())?;
    let mut file = RawFile::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let done = Reader { file: &mut file, of: Of::File }.deserialize(&mut json);
    match done.and_then(|()| json.end()) {
        Ok(()) => Ok(file),
        Err(error) => Err(file.error(&error)),
    }
}

impl RawFile {
    /// An error of the parser, with the place where it stopped.
    fn error(&self, error: &serde_json::Error) -> Error {
        let whole = error.to_string();
        let said = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(said, _)| said);
        if !error.is_data() {
            return refused(format!("line {}", error.line()), format!("not JSON: {said}"));
        }
        // What serde says of a wrong type, in the words of other messages.
        let kinds = said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: "));
        let reason = match kinds.and_then(|kinds| kinds.rsplit_once(", expected ")) {
            Some((kind, expected)) => format!("expected {expected}, got {kind}"),
            None => said.to_owned(),
        };
        let row = self.row.map(|row| format!("[{row}]")).unwrap_or_default();
        let place = format!("${}{row}", self.field);
        refused(place, show_reason(&reason))
    }
}

#[derive(Clone, Copy)]
enum Of {
    File,
    Model,
    Vocab,
    Merges,
    Merge,
}

/// Reads one value into the file.
struct Reader<'f> {
    file: &'f mut RawFile,
    of: Of,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.of {
            Of::File => "a JSON object",
            Of::Model | Of::Vocab => "an object",
            Of::Merges => "a list",
            Of::Merge => "two tokens",
        })
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        let Of::Merge = self.of else { return Err(E::invalid_type(serde::de::Unexpected::Str(text), &self)) };
        self.file.add_spaced_merge(text).map_err(E::custom)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<(), M::Error> {
        match self.of {
            Of::File => self.file.read_fields(map, false),
            Of::Model => self.file.read_fields(map, true),
            Of::Vocab => self.file.read_vocab(map),
            _ => Err(unexpected_map(map, &self)),
        }
    }

    fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<(), S::Error> {
        match self.of {
            Of::Merges => self.file.read_merges(list),
            Of::Merge => self.file.read_pair(list),
            _ => Err(S::Error::invalid_type(serde::de::Unexpected::Seq, &self)),
        }
    }
}

impl RawFile {
    fn at(&mut self, field: &str, row: Option<u32>) {
        self.row = row;
        if self.field != field {
            field.clone_into(&mut self.field);
        }
    }

    fn reader(&mut self, field: &str, of: Of) -> Reader<'_> {
        self.at(field, None);
        Reader { file: self, of }
    }

    /// Reads the fields of the file, or those of its model.
    fn read_fields<'de, M: MapAccess<'de>>(&mut self, mut map: M, of_model: bool) -> Result<(), M::Error> {
        let (place, mut names) = (if of_model { ".model" } else { "" }, HashSet::new());
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(M::Error::custom(format_args!("the field {} is there twice", quoted(&name))));
            }
            match (of_model, name.as_str()) {
                (false, "model") => {
                    self.has_model = true;
                    map.next_value_seed(self.reader(".model", Of::Model))?;
                }
                (true, "vocab") => {
                    map.next_value_seed(self.reader(".model.vocab", Of::Vocab))?;
                }
                (true, "merges") => {
                    map.next_value_seed(self.reader(".model.merges", Of::Merges))?;
                }
                (_, field) => {
                    self.at(&format!("{place}.{field}"), None);
                    let raw = map.next_value::<&RawValue>()?.get().to_owned();
                    match (of_model, field) {
                        (false, "added_tokens") => self.added = Some(raw),
                        (false, _) => self.parts.push((name, raw)),
                        (true, "type") if raw != "\"BPE\"" => {
                            self.at(".model", None);
                            return Err(M::Error::custom(format_args!(
                                "a model of type {}: toksmith reads BPE, and neither Unigram, WordPiece nor WordLevel",
                                show_reason(&raw).trim_matches('"')
                            )));
                        }
                        (true, _) => self.options.push((name, raw)),
                    }
                }
            }
            self.at(place, None);
        }
        Ok(())
    }

    fn read_vocab<'de, M: MapAccess<'de>>(&mut self, mut map: M) -> Result<(), M::Error> {
        let (mut texts, mut ids) = (Texts::default(), Vec::new());
        while let Some(token) = map.next_key::<JsonText<'de>>()? {
            texts.push(&token.0).map_err(M::Error::custom)?;
            let id = map.next_value::<u32>();
            if id.is_err() {
                self.at(&format!(".model.vocab[{}]", quoted(&token.0)), None);
            }
            room::push(&mut ids, id?).map_err(M::Error::custom)?;
        }
        self.vocab = Some((texts, ids));
        Ok(())
    }

    fn read_merges<'de, S: SeqAccess<'de>>(&mut self, mut list: S) -> Result<(), S::Error> {
        self.merges = Some(RawMerges::default());
        for row in 0.. {
            self.row = Some(row);
            if list.next_element_seed(Reader { file: self, of: Of::Merge })?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Adds a merge whose parts are in one text, with a space between.
    fn add_spaced_merge(&mut self, text: &str) -> Result<(), String> {
        // `tokenizers` ignores such a line wherever it stands.
        if text.starts_with("#version") {
            return Ok(());
        }
        let parts = text.split_once(' ').filter(|(_, right)| !right.contains(' '));
        let (left, right) = parts
            .ok_or_else(|| format!("expected two tokens with one space between, got {}", quoted(text)))?;
        self.add_merge(left, right, true)
    }

    fn read_pair<'de, S: SeqAccess<'de>>(&mut self, mut list: S) -> Result<(), S::Error> {
        let parts = (list.next_element::<JsonText<'de>>()?, list.next_element::<JsonText<'de>>()?);
        match (parts, list.next_element::<IgnoredAny>()?) {
            ((Some(left), Some(right)), None) => {
                self.add_merge(&left.0, &right.0, false).map_err(S::Error::custom)
            }
            ((Some(_), Some(_)), Some(_)) => Err(S::Error::custom("expected two tokens, got more")),
            _ => Err(S::Error::custom("expected two tokens, got fewer")),
        }
    }

    fn add_merge(&mut self, left: &str, right: &str, is_text: bool) -> Result<(), String> {
        let row = self.row.unwrap_or_default();
        let merges = self.merges.get_or_insert_default();
        if *merges.are_texts.get_or_insert(is_text) != is_text {
            self.row = None;
            return Err("some merges are texts and some are lists".to_owned());
        }
        merges.push(left, right, row).map_err(|error| error.to_string())
    }
}
