//! The tokenizer in the metadata of a GGUF file. No tensor is read.

use std::collections::HashMap;
use std::io::Read;

use serde_json::{Map, Value, json};

use super::llama_cpp::{PreTokenizer, expression_of};
use crate::error::Result;
use crate::formats::huggingface::file::TokenizerFile;
use crate::formats::huggingface::model::{merges_of, model_of};
use crate::formats::huggingface::reader::RawMerges;
use crate::formats::huggingface::shapes::{byte_level, fields_of, split, template_of};
use crate::formats::sentencepiece::reader::{Kind, Piece, Rules, added_of, file_of, merges_by_score};
use crate::names::Texts;
use crate::room;
use crate::tokenizer::CONFIG;
use crate::tokenizer::parts::place::{quoted, refused};

const MAX_BYTES: u64 = 512 << 20;
const MAX_FIELDS: u64 = 1 << 16;
const MAX_ITEMS: u64 = 1 << 22;
const MAX_KEY: u64 = 1 << 16;
/// What the names of the fields of a tokenizer begin with.
const PREFIX: &str = "tokenizer.ggml.";
/// What the names of the fields of chat templates begin with: one without a name, and others.
const TEMPLATE: &str = "tokenizer.chat_template";
const GEMMA: &str = "gemma4";
/// The fields of special tokens, and what a `tokenizer_config.json` calls them.
const ROLES: [(&str, &str); 4] = [
    ("bos_token_id", "bos_token"),
    ("eos_token_id", "eos_token"),
    ("unknown_token_id", "unk_token"),
    ("padding_token_id", "pad_token"),
];

enum Field {
    Integer(u64),
    Text(String),
    Texts(Vec<String>),
    Floats(Vec<f32>),
    Integers(Vec<u64>),
    /// A value that no field of a tokenizer has.
    Other,
}

struct Reader<R> {
    source: R,
    left: u64,
}

impl<R: Read> Reader<R> {
    fn bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        self.left = self.left.checked_sub(len).ok_or_else(|| {
            refused(
                "metadata",
                format!("more than {MAX_BYTES} bytes: the file is corrupt, or its lengths are hostile"),
            )
        })?;
        // The memory follows what the file has, not what it says.
        let mut bytes = Vec::new();
        let read = (&mut self.source).take(len).read_to_end(&mut bytes);
        let read = read.map_err(|error| refused("metadata", format!("cannot be read: {error}")))?;
        if (read as u64) < len {
            return Err(refused("metadata", "the file ends in it: it is truncated"));
        }
        Ok(bytes)
    }

    fn skip(&mut self, mut len: u64) -> Result<()> {
        while len > 0 {
            let part = len.min(1 << 16);
            self.bytes(part)?;
            len -= part;
        }
        Ok(())
    }

    fn number(&mut self, len: u64) -> Result<u64> {
        Ok(self.bytes(len)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn u32(&mut self) -> Result<u32> {
        self.number(4).map(|number| number as u32)
    }

    fn u64(&mut self) -> Result<u64> {
        self.number(8)
    }

    fn text(&mut self, place: &str) -> Result<String> {
        let len = self.u64()?;
        String::from_utf8(self.bytes(len)?).map_err(|_| refused(place, "not UTF-8"))
    }

    /// An item that is a number or a flag; of a float, its bits.
    fn integer(&mut self, kind: u32, place: &str) -> Result<u64> {
        let unknown = || refused(place, format!("values of the unknown type {kind}"));
        self.number(size_of_kind(kind).ok_or_else(unknown)?)
    }

    /// The value of a field; one that is not `kept` is skipped.
    fn value(&mut self, key: &str, kept: bool) -> Result<Field> {
        let kind = self.u32()?;
        match kind {
            8 => self.text(key).map(Field::Text),
            9 => self.list(key, kept),
            6 | 12 => self.integer(kind, key).map(|_| Field::Other),
            _ => self.integer(kind, key).map(Field::Integer),
        }
    }

    fn list(&mut self, key: &str, kept: bool) -> Result<Field> {
        let (kind, len) = (self.u32()?, self.u64()?);
        if kept && len > MAX_ITEMS {
            return Err(refused(key, format!("{len} items, more than {MAX_ITEMS}")));
        }
        if kind == 8 {
            let mut texts = Vec::new();
            for _ in 0..len {
                let text = self.text(key)?;
                if kept {
                    room::push(&mut texts, text)?;
                }
            }
            return Ok(Field::Texts(texts));
        }
        let size =
            size_of_kind(kind).ok_or_else(|| refused(key, format!("a list of values of type {kind}")))?;
        if !kept || size > 4 {
            let len = len.checked_mul(size).ok_or_else(|| refused(key, format!("{len} items")))?;
            self.skip(len)?;
            return Ok(Field::Other);
        }
        let mut numbers = Vec::new();
        for _ in 0..len {
            room::push(&mut numbers, self.integer(kind, key)?)?;
        }
        Ok(match kind {
            6 => Field::Floats(numbers.into_iter().map(|bits| f32::from_bits(bits as u32)).collect()),
            _ => Field::Integers(numbers),
        })
    }
}

fn size_of_kind(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

/// The fields of the tokenizer, by the ends of their names.
struct Fields(HashMap<String, Field>);

impl Fields {
    fn read(source: impl Read) -> Result<Self> {
        let mut reader = Reader { source, left: MAX_BYTES };
        if reader.bytes(4)? != b"GGUF" {
            return Err(refused("head", "no GGUF file"));
        }
        match reader.u32()? {
            2 | 3 => {}
            version if matches!(version.swap_bytes(), 2 | 3) => {
                return Err(refused(
                    "head",
                    "a big-endian file: convert it to little-endian with gguf-convert-endian",
                ));
            }
            version => {
                return Err(refused("head", format!("version {version}: toksmith reads versions 2 and 3")));
            }
        }
        let (_tensors, count) = (reader.u64()?, reader.u64()?);
        if count > MAX_FIELDS {
            return Err(refused("head", format!("{count} fields, more than {MAX_FIELDS}")));
        }
        let mut fields = HashMap::new();
        for at in 0..count {
            let len = reader.u64()?;
            if len > MAX_KEY {
                return Err(refused(format!("field {at}"), format!("a name of {len} bytes")));
            }
            let key = String::from_utf8(reader.bytes(len)?)
                .map_err(|_| refused(format!("field {at}"), "its name is not UTF-8"))?;
            let name = key.strip_prefix(PREFIX).or_else(|| key.starts_with(TEMPLATE).then_some(&*key));
            let value = reader.value(&key, name.is_some())?;
            if let Some(name) = name {
                fields.insert(name.to_owned(), value);
            }
        }
        Ok(Fields(fields))
    }

    fn text(&self, name: &str) -> Option<&str> {
        if let Some(Field::Text(text)) = self.0.get(name) { Some(text) } else { None }
    }

    fn pre(&self) -> Option<&str> {
        self.text("pre").filter(|name| !name.is_empty())
    }

    fn texts(&self, name: &str) -> Result<&[String]> {
        match self.0.get(name) {
            Some(Field::Texts(texts)) => Ok(texts),
            _ => Err(refused(format!("{PREFIX}{name}"), "missing, or no list of texts")),
        }
    }

    fn integer(&self, name: &str) -> Option<u64> {
        if let Some(Field::Integer(number)) = self.0.get(name) { Some(*number) } else { None }
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        self.integer(name).map_or(default, |flag| flag != 0)
    }

    fn kinds(&self, count: usize) -> Result<Vec<Kind>> {
        let place = format!("{PREFIX}token_type");
        match self.0.get("token_type") {
            None => Ok(vec![Kind::Normal; count]),
            // Llama.cpp does not treat an unused token in any other way.
            Some(Field::Integers(kinds)) if kinds.len() == count => kinds
                .iter()
                .map(|&kind| if kind == 5 { Ok(Kind::Normal) } else { Kind::of(kind, &place) })
                .collect(),
            _ => Err(refused(place, format!("no list of {count} types, one for each token"))),
        }
    }

    /// The post-processor that puts BOS before a text and EOS behind it, where the file says so.
    fn template(&self, tokens: &[String], adds_bos: bool, ids: [Option<u64>; 2]) -> Result<Value> {
        let names = [("bos_token_id", "add_bos_token", adds_bos), ("eos_token_id", "add_eos_token", false)];
        let mut around = [None, None];
        for (at, (id_name, flag_name, default)) in names.into_iter().enumerate() {
            let id = self.integer(id_name).or(ids[at]);
            // Llama.cpp adds BOS for Gemma 4 even if the file says otherwise.
            let is_always = at == 0 && self.text("model") == Some(GEMMA);
            let id = id.filter(|_| is_always || self.flag(flag_name, default));
            let Some(id) = id else { continue };
            let token = usize::try_from(id).ok().and_then(|at| tokens.get(at));
            let token =
                token.ok_or_else(|| refused(format!("{PREFIX}{id_name}"), format!("{id} is no token")))?;
            around[at] = Some((token.as_str(), id as u32));
        }
        Ok(if around == [None, None] { Value::Null } else { template_of(around) })
    }
}

impl Fields {
    /// What a `tokenizer_config.json` says: roles of special tokens, and chat templates by name.
    fn config(&self) -> Result<Map<String, Value>> {
        let (mut config, mut templates) = (Map::new(), Vec::new());
        let tokens = self.texts("tokens")?;
        for (field, role) in ROLES {
            let id = self.integer(field).and_then(|id| usize::try_from(id).ok());
            if let Some(token) = id.and_then(|id| tokens.get(id)) {
                config.insert(role.to_owned(), json!(token));
            }
        }
        for (key, value) in &self.0 {
            let name = key.strip_prefix(TEMPLATE).and_then(|name| match name {
                "" => Some("default"),
                name => name.strip_prefix('.'),
            });
            if let (Some(name), Field::Text(template)) = (name, value) {
                templates.push(json!({"name": name, "template": template}));
            }
        }
        if !templates.is_empty() {
            templates.sort_by_key(ToString::to_string);
            config.insert("chat_template".to_owned(), Value::Array(templates));
        }
        Ok(fields_of(config.into()))
    }
}

impl TokenizerFile {
    /// Reads the tokenizer of a GGUF file. `pre` is llama.cpp's name of the pre-tokenizer if a byte-level
    /// file has none.
    pub fn read_gguf(source: impl Read, pre: Option<&str>) -> Result<Self> {
        let fields = Fields::read(source)?;
        let place = format!("{PREFIX}model");
        let model = fields.text("model");
        if let Some(pre) = pre.filter(|_| model != Some("gpt2") || fields.pre().is_some()) {
            let reason = format!("the file says how text is split: leave out the pattern {}", quoted(pre));
            return Err(refused(place, reason));
        }
        let mut file = match model {
            Some("llama") => character_file(&fields, false),
            Some(GEMMA) => character_file(&fields, true),
            Some("gpt2") => byte_level_file(&fields, pre),
            Some(model) => {
                let reason = "toksmith reads the models llama (SentencePiece BPE), gemma4 and gpt2 (byte-level BPE); use llama.cpp";
                Err(refused(place, format!("{}: {reason}", quoted(model))))
            }
            None => Err(refused(place, "missing: the file has no tokenizer")),
        }?;
        let config = fields.config()?;
        file.files = (!config.is_empty()).then(|| Map::from_iter([(CONFIG.to_owned(), config.into())]));
        Ok(file)
    }
}

/// A tokenizer of characters with the bytes as pieces. Gemma 4 has ranked merges instead of scores.
///
/// For Gemma 4 llama.cpp takes runs of newlines apart from other text, and whole where they are a token.
/// Merging does the same with the merges of the model, as with its `tokenizer.json`.
fn character_file(fields: &Fields, is_gemma: bool) -> Result<TokenizerFile> {
    let tokens = fields.texts("tokens")?;
    let mut pieces = pieces_of(fields, tokens)?;
    match fields.0.get("scores") {
        _ if is_gemma => {}
        Some(Field::Floats(scores)) if scores.len() == tokens.len() => {
            pieces.iter_mut().zip(scores).for_each(|(piece, &score)| piece.score = score);
        }
        _ => return Err(refused(format!("{PREFIX}scores"), format!("no list of {} numbers", tokens.len()))),
    }
    let rules = Rules {
        byte_fallback: is_gemma || pieces.iter().any(|piece| piece.kind == Kind::Byte),
        add_dummy_prefix: !is_gemma && fields.flag("add_space_prefix", true),
        remove_extra_whitespaces: false,
        symbols_first: true,
        ..Rules::default()
    };
    let merges = if is_gemma { Some(listed_merges(fields)?) } else { None };
    let mut file = file_of(&pieces, &rules, |names| match &merges {
        Some(merges) => Ok((merges_of(merges, names, 0)?, Vec::new())),
        None => merges_by_score(&pieces, names),
    })?;
    let ids = if is_gemma { [None, None] } else { [Some(1), Some(2)] };
    let template = fields.template(tokens, true, ids)?;
    file.parts.extend(fields_of(json!({"post_processor": template})));
    Ok(file)
}

/// The tokens of a file, without their scores.
fn pieces_of<'a>(fields: &Fields, tokens: &'a [String]) -> Result<Vec<Piece<'a>>> {
    let kinds = fields.kinds(tokens.len())?;
    room::collected(tokens.iter().zip(kinds).map(|(text, kind)| Piece { text, score: 0.0, kind }))
}

fn listed_merges(fields: &Fields) -> Result<RawMerges> {
    let mut raw = RawMerges::default();
    for (row, merge) in fields.texts("merges")?.iter().enumerate() {
        // Either part may be a space.
        let first = merge.chars().next().map_or(0, char::len_utf8);
        let (left, right) =
            merge[first..].find(' ').map(|at| (&merge[..first + at], &merge[first + at + 1..])).ok_or_else(
                || refused(format!("{PREFIX}merges[{row}]"), format!("{} has no space", quoted(merge))),
            )?;
        raw.push(left, right, row as u32)?;
    }
    Ok(raw)
}

fn pre_tokenizer_of(fields: &Fields, asked: Option<&str>) -> Result<&'static PreTokenizer> {
    let place = format!("{PREFIX}pre");
    let name = fields.pre().or(asked).ok_or_else(|| {
        let reason = "missing, as in old files: use the tokenizer.json of the model, or give the name of its \
            pre-tokenizer in llama.cpp as the pattern; llama.cpp itself takes \"default\", with a warning";
        refused(&place, reason)
    })?;
    PreTokenizer::of_name(name).ok_or_else(|| {
        let reason = match asked {
            Some(_) => "no pre-tokenizer of llama.cpp that toksmith has, such as \"default\" or \"gpt-2\"",
            None => "a pre-tokenizer that toksmith does not have; use the tokenizer.json of the model",
        };
        refused(&place, format!("{}: {reason}", quoted(name)))
    })
}

fn byte_level_file(fields: &Fields, pre: Option<&str>) -> Result<TokenizerFile> {
    let tokens = fields.texts("tokens")?;
    let pieces = pieces_of(fields, tokens)?;
    let pre = pre_tokenizer_of(fields, pre)?;
    let mut texts = Texts::default();
    tokens.iter().try_for_each(|text| texts.push(text))?;
    let stages = pre.stages.iter().map(|stage| split(expression_of(stage)));
    let stages: Vec<Value> = stages.chain([byte_level(false, false)]).collect();
    let parts = json!({
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": stages},
        "decoder": byte_level(false, false),
        "post_processor": fields.template(tokens, pre.adds_bos, [None, None])?,
    });
    let added = added_of(&pieces, true);
    let options = fields_of(json!({"ignore_merges": pre.ignores_merges}));
    let model = model_of((texts, (0..tokens.len() as u32).collect()), &listed_merges(fields)?, &options)?;
    Ok(TokenizerFile { model, parts: fields_of(parts), options, added, warnings: Vec::new(), files: None })
}
