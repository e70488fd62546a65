//! The metadata of a GGUF file, written: that of a tokenizer, as llama.cpp's conversion has it.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::llama_cpp::pre_tokenizer_name;
use crate::dialects::Tables;
use crate::error::Result;
use crate::formats::sentencepiece::reader::Kind;
use crate::formats::sentencepiece::writer::{Model, unwritable};
use crate::pipeline::Prefix;
use crate::pretokenize::spellings;
use crate::room;
use crate::spelling::spelled;
use crate::tokenizer::parts::place::quoted;
use crate::tokenizer::{Origin, Tokenizer, cannot_hold};

const U32: u32 = 4;
const I32: u32 = 5;
const F32: u32 = 6;
const BOOL: u32 = 7;
const TEXT: u32 = 8;
const LIST: u32 = 9;

/// What a file has for the templates of a tokenizer.
struct Templates {
    /// The tokens that are put before and behind a text.
    around: (Vec<u32>, Vec<u32>),
    /// The BOS and the EOS token that chat templates name, where others are not around a text.
    named: [Option<u32>; 2],
    chat: Vec<(String, String)>,
}

impl Templates {
    fn of(tokenizer: &Tokenizer) -> Result<Self> {
        let template = tokenizer.pipeline().and_then(|pipeline| pipeline.template());
        let around = template.map_or(Ok(Some(Default::default())), |template| template.around())?;
        let around =
            around.ok_or_else(|| unwritable("GGUF holds tokens around a text, and no other template"))?;
        let origin = tokenizer.origin();
        let roles = origin.map(Origin::special_tokens).unwrap_or_default();
        let ids: FxHashMap<&str, u32> = tokenizer.special_tokens().collect();
        let id = |role: &str| roles.get(role).and_then(|token| ids.get(&**token).copied());
        let chat = origin.map(Origin::chat_templates).unwrap_or_default();
        Ok(Templates { around, named: [id("bos_token"), id("eos_token")], chat })
    }
}

/// The content of a GGUF file of the tokenizer alone.
pub(crate) fn write(tokenizer: &Tokenizer, tables: &dyn Tables) -> Result<Vec<u8>> {
    let (vocab, pipeline) = (tokenizer.vocab(), tokenizer.pipeline());
    let is_character_level = vocab.characters().is_some();
    if let Some(pipeline) = pipeline.filter(|_| !is_character_level) {
        let steps = pipeline.steps();
        let has_steps = !steps.parts.normalizer.0.is_empty() || steps.splits.prefix() != Some(Prefix::None);
        if has_steps || !steps.parts.irregular()?.is_empty() {
            return Err(cannot_hold("GGUF", &pipeline.reasons()?));
        }
    }
    let templates = Templates::of(tokenizer)?;
    if is_character_level {
        return of_characters(tokenizer, &templates);
    }
    let (merges, ignores_merges) = vocab.listed_merges()?;
    let pattern = tokenizer.pattern();
    let cuts = pattern.name().or(pattern.source.as_deref()).unwrap_or("none");
    let pre_tokenizer = pipeline.map(|pipeline| &pipeline.spec()["pre_tokenizer"]);
    let pre_tokenizer = pre_tokenizer.filter(|pre_tokenizer| !pre_tokenizer.is_null());
    let stages = pre_tokenizer.map_or_else(|| vec![cuts.to_owned()], stages_of);
    let pre = pre_tokenizer_name(&stages, ignores_merges, tables)?.ok_or_else(|| {
        let whole = if ignores_merges { " that takes pretokens that are tokens without merging" } else { "" };
        let stages: Vec<String> = stages.iter().map(|stage| quoted(stage)).collect();
        let stages = stages.join(" and ");
        unwritable(format!("llama.cpp has no pre-tokenizer{whole} for the pattern {stages}"))
    })?;
    of_bytes(tokenizer, &merges, pre, &templates)
}

/// What splits a text: names of patterns, and other expressions in the dialect of Oniguruma.
fn stages_of(pre_tokenizer: &Value) -> Vec<String> {
    let rows =
        pre_tokenizer["pretokenizers"].as_array().map_or(std::slice::from_ref(pre_tokenizer), Vec::as_slice);
    let stage = |row: &Value| match row["type"].as_str().unwrap_or_default() {
        "Split" if row["behavior"] == "Isolated" && row["invert"] == false => {
            let expression = row["pattern"]["Regex"].as_str().unwrap_or_default();
            let named = spellings::IN_ONIGURUMA.iter().find(|(spelling, _)| *spelling == expression);
            Some(named.map_or(expression, |(_, named)| named.name()).to_owned())
        }
        "Digits" if row["individual_digits"] == true => Some(r"\p{N}".to_owned()),
        "ByteLevel" => (row["use_regex"] != false).then(|| "gpt2".to_owned()),
        other => Some(other.to_owned()),
    };
    rows.iter().filter_map(stage).collect()
}

/// The file of a byte-level tokenizer. `merges` are pairs of indices, and `pre` is llama.cpp's name of the
/// pre-tokenizer.
fn of_bytes(
    tokenizer: &Tokenizer,
    merges: &[(u32, u32)],
    pre: &str,
    templates: &Templates,
) -> Result<Vec<u8>> {
    let tokens = tokenizer.vocab().tokens();
    if tokens.iter().zip(0..).any(|((id, _), place)| id != place) {
        return Err(unwritable("the ids are not 0, 1, 2, …: a list of tokens has no gaps"));
    }
    let name = |index: u32| spelled(tokens.bytes_at(index));
    let mut texts = room::collected((0..tokens.len() as u32).map(name))?;
    let mut kinds = room::filled(Kind::Normal, texts.len())?;
    for (name, id) in tokenizer.special_tokens() {
        texts[id as usize] = name.to_owned();
        kinds[id as usize] = Kind::Control;
    }
    let added = tokenizer.pipeline().into_iter().flat_map(|pipeline| pipeline.added_tokens());
    for token in added.filter(|token| !token.flags.special) {
        if let Some(kind) = kinds.get_mut(token.id as usize) {
            *kind = Kind::UserDefined;
        }
    }
    let mut metadata = Metadata::new("gpt2", pre);
    metadata.texts("tokens", &texts)?;
    metadata.numbers("token_type", I32, kinds.iter().map(|&kind| kind as u32))?;
    let merges = merges.iter().map(|&(left, right)| format!("{} {}", name(left), name(right)));
    metadata.texts("merges", &room::collected(merges)?)?;
    metadata.finished(templates)
}

/// The file of a tokenizer that merges characters.
fn of_characters(tokenizer: &Tokenizer, templates: &Templates) -> Result<Vec<u8>> {
    let model = Model::new(tokenizer)?;
    let rules = ["remove_extra_whitespaces", "treat_whitespace_as_suffix"];
    let mut others: Vec<&str> = rules.into_iter().filter(|rule| model.does(rule)).collect();
    others.extend((!model.charsmap().is_empty()).then_some("precompiled_charsmap"));
    others.extend((!model.falls_back()).then_some("models without tokens for bytes"));
    if !others.is_empty() {
        return Err(unwritable(format!("llama.cpp does not have {}", others.join(" and "))));
    }
    let mut metadata = Metadata::new("llama", "default");
    let texts = room::collected(model.pieces.iter().map(|(text, ..)| text.as_str()))?;
    metadata.texts("tokens", &texts)?;
    metadata.numbers("scores", F32, model.pieces.iter().map(|(_, score, _)| score.to_bits()))?;
    metadata.numbers("token_type", I32, model.pieces.iter().map(|&(.., kind)| kind as u32))?;
    metadata.flag("add_space_prefix", model.does("add_dummy_prefix"));
    metadata.finished(templates)
}

/// Fields, one after the other.
struct Metadata {
    bytes: Vec<u8>,
    count: u64,
}

impl Metadata {
    fn new(model: &str, pre: &str) -> Self {
        let mut metadata = Metadata { bytes: Vec::new(), count: 1 };
        metadata.text("general.architecture");
        metadata.bytes.extend(TEXT.to_le_bytes());
        metadata.text("llama");
        for (name, value) in [("model", model), ("pre", pre)] {
            metadata.field(name, TEXT);
            metadata.text(value);
        }
        metadata
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend((text.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn field(&mut self, name: &str, kind: u32) {
        self.count += 1;
        self.text(&format!("tokenizer.ggml.{name}"));
        self.bytes.extend(kind.to_le_bytes());
    }

    fn list(&mut self, name: &str, kind: u32, len: usize) {
        self.field(name, LIST);
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend((len as u64).to_le_bytes());
    }

    fn texts(&mut self, name: &str, texts: &[impl AsRef<str>]) -> Result<()> {
        self.list(name, TEXT, texts.len());
        room::reserve(&mut self.bytes, texts.iter().map(|text| text.as_ref().len() + 8).sum())?;
        texts.iter().for_each(|text| self.text(text.as_ref()));
        Ok(())
    }

    fn numbers(&mut self, name: &str, kind: u32, numbers: impl ExactSizeIterator<Item = u32>) -> Result<()> {
        self.list(name, kind, numbers.len());
        room::reserve(&mut self.bytes, 4 * numbers.len())?;
        self.bytes.extend(numbers.flat_map(u32::to_le_bytes));
        Ok(())
    }

    fn flag(&mut self, name: &str, value: bool) {
        self.field(name, BOOL);
        self.bytes.push(value.into());
    }

    fn finished(
        mut self,
        Templates { around: (before, behind), named, chat }: &Templates,
    ) -> Result<Vec<u8>> {
        if before.len() > 1 || behind.len() > 1 {
            return Err(unwritable("GGUF holds at most one token before a text and one behind it"));
        }
        self.flag("add_bos_token", !before.is_empty());
        self.flag("add_eos_token", !behind.is_empty());
        let around = [("bos_token_id", before), ("eos_token_id", behind)];
        for ((name, ids), named) in around.into_iter().zip(named) {
            if let Some(id) = ids.first().or(named.as_ref()) {
                self.field(name, U32);
                self.bytes.extend(id.to_le_bytes());
            }
        }
        for (name, source) in chat {
            let suffix = if name == "default" { String::new() } else { format!(".{name}") };
            self.count += 1;
            self.text(&format!("tokenizer.chat_template{suffix}"));
            self.bytes.extend(TEXT.to_le_bytes());
            self.text(source);
        }
        let mut file = room::for_items(self.bytes.len() + 24)?;
        file.extend_from_slice(b"GGUF");
        file.extend(3_u32.to_le_bytes());
        file.extend(0_u64.to_le_bytes()); // tensors
        file.extend(self.count.to_le_bytes());
        file.extend_from_slice(&self.bytes);
        Ok(file)
    }
}
