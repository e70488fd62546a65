//! A `tokenizer.json` that was read, and the vocabulary of its model and its added tokens.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

use super::added;
use super::model::model_of;
use super::reader;
use crate::error::{Error, Result};
use crate::formats::options::{Context, LoadOptions};
use crate::pipeline::AddedToken;
use crate::room;
use crate::spelling::META;
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::parts::place::{refused, shown};
use crate::tokenizer::{
    BPE_OPTIONS, Origin, PARTS, Pipeline, Preprocessing, Provenance, SETTINGS, Tokenizer, token_value,
};
use crate::vocab::{Additions, BpeModel, TextSpelling, Vocab};

/// The maximum number of bytes of the parts besides vocabulary, merges and added tokens.
const MAX_PARTS: usize = 16 << 20;
const MAX_CONTAINERS: usize = 1_000_000;

/// The values of fields of a file from a stranger, whose size is checked before they become objects in
/// memory.
fn values(place: &str, fields: Vec<(String, String)>) -> Result<Map<String, Value>> {
    let jsons = || fields.iter().map(|(_, json)| json.as_bytes());
    if jsons().map(<[u8]>::len).sum::<usize>() > MAX_PARTS {
        let reason = format!("more than {MAX_PARTS} bytes besides vocabulary, merges and added tokens");
        return Err(refused(place, reason));
    }
    if jsons().flatten().filter(|byte| matches!(byte, b'[' | b'{')).count() > MAX_CONTAINERS {
        let reason = format!("more than {MAX_CONTAINERS} lists and objects besides vocabulary and merges");
        return Err(refused(place, reason));
    }
    let value = |(name, json): (String, String)| match serde_json::from_str(&json) {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(refused(format!("{place}.{name}"), "nested too deep")),
    };
    fields.into_iter().map(value).collect()
}

/// A file that was read.
pub struct TokenizerFile {
    pub(crate) model: BpeModel,
    /// All fields besides the model and the added tokens.
    pub(crate) parts: Map<String, Value>,
    /// The fields of the model besides its vocabulary and merges.
    pub(crate) options: Map<String, Value>,
    /// The added tokens, with the ids that the original gives them.
    pub added: Vec<AddedToken>,
    /// A warning for each id that differs from the one in the file.
    pub warnings: Vec<String>,
    /// What lies beside the file, or would lie beside it, by name; `None` for a file of another format.
    pub(crate) files: Option<Map<String, Value>>,
}

impl TokenizerFile {
    /// Reads the content of a file. `keep_ids` says that new added tokens have the ids that the file gives
    /// them.
    pub fn read(data: &[u8], keep_ids: bool) -> Result<Self> {
        let raw = reader::read(data)?;
        let (parts, options) = (values("$", raw.parts)?, values("$.model", raw.options)?);
        if !raw.has_model {
            return Err(refused("$", "the field 'model' is missing"));
        }
        let missing = |name: &str| refused("$.model", format!("the field '{name}' is missing"));
        let vocab = raw.vocab.ok_or_else(|| missing("vocab"))?;
        let model = model_of(vocab, &raw.merges.ok_or_else(|| missing("merges"))?, &options)?;
        let rows = added::rows_of(raw.added.as_deref().unwrap_or("null"))?;
        let file = TokenizerFile::new(model, parts, options, rows, keep_ids)?;
        match file.part("version") {
            version if version.is_null() || version == "1.0" => Ok(file),
            other => Err(refused("$.version", format!("{}: toksmith reads \"1.0\"", shown(other)))),
        }
    }

    /// The file of a model, its other parts, and the rows of added tokens.
    pub(crate) fn new(
        model: BpeModel,
        parts: Map<String, Value>,
        options: Map<String, Value>,
        rows: Vec<AddedToken>,
        keep_ids: bool,
    ) -> Result<Self> {
        let (added, warnings) = added::read(rows, &model, keep_ids)?;
        Ok(TokenizerFile { model, parts, options, added, warnings, files: Some(Map::new()) })
    }

    /// A field; null if it is missing.
    pub fn part(&self, name: &str) -> &Value {
        self.parts.get(name).unwrap_or(&Value::Null)
    }

    /// A field of the model besides its vocabulary and merges; null if it is missing.
    pub(crate) fn option(&self, name: &str) -> &Value {
        self.options.get(name).unwrap_or(&Value::Null)
    }

    /// The added tokens that the vocabulary of the model does not have.
    pub fn beside(&self) -> impl Iterator<Item = &AddedToken> {
        self.added.iter().filter(|token| self.place(token).is_none())
    }

    /// The place of the name of an added token in the vocabulary of the model; `None` if it is not there.
    fn place(&self, token: &AddedToken) -> Option<u32> {
        self.model.names.find(&token.content)
    }

    /// In a byte-level file, the added tokens that ordinary text can become as well.
    pub fn kept(&self) -> impl Iterator<Item = &AddedToken> {
        let needed = self.model.needed();
        let ignores_merges = self.model.options.ignore_merges;
        self.added.iter().filter(move |token| {
            self.place(token)
                .is_some_and(|place| needed[place as usize] || !added::can_be_special(token, ignores_merges))
        })
    }

    /// The vocabulary. `texts` are the texts that the added tokens stand for, in their order; `seed` is that
    /// of the dropout.
    pub fn vocab(&self, spelling: TextSpelling, texts: &[String], seed: Option<u64>) -> Result<Vocab> {
        if texts.len() != self.added.len() {
            return Err(Error::BrokenState);
        }
        let (made, additions) = match spelling {
            TextSpelling::Bytes => {
                let (additions, left_out) = self.byte_additions();
                (self.model.bytes_vocab(&left_out, &additions.specials)?, additions)
            }
            TextSpelling::Characters | TextSpelling::Spaces => {
                let additions = self.character_additions(spelling, texts);
                (self.model.characters_vocab(spelling, &additions)?, additions)
            }
        };
        if let Some(vocab) = made {
            return Ok(vocab);
        }
        let mut model = self.model.clone();
        model.options.dropout.seed = seed;
        model.spelled_vocab(spelling, &additions)
    }

    /// The additions to a byte-level model, and the places of the names that are special tokens alone.
    fn byte_additions(&self) -> (Additions, Vec<u32>) {
        let mut additions = Additions::default();
        let kept: FxHashSet<u32> = self.kept().map(|token| token.id).collect();
        let mut left_out = Vec::new();
        for token in self.added.iter().filter(|token| !kept.contains(&token.id)) {
            additions.specials.push((token.content.clone().into_bytes(), Some(token.id)));
            match self.place(token) {
                Some(place) => {
                    left_out.push(place);
                    additions.texts.push((place, token.content.clone()));
                }
                None => additions.beside.push((token.id, token.content.clone())),
            }
        }
        additions.never_whole = self.special_places();
        (additions, left_out)
    }

    /// The additions to a model that merges characters.
    fn character_additions(&self, spelling: TextSpelling, texts: &[String]) -> Additions {
        let needed = self.model.needed();
        let unknown = self.model.options.unknown.as_ref().and_then(|name| self.model.names.find(name));
        let mut additions = Additions::default();
        for (token, text) in self.added.iter().zip(texts) {
            let text = match spelling {
                TextSpelling::Spaces => text.replace(META, " "),
                _ => text.clone(),
            };
            additions.specials.push((token.content.clone().into_bytes(), Some(token.id)));
            match self.place(token) {
                None => additions.beside.push((token.id, text)),
                Some(place) => {
                    let is_symbol = token.content.chars().nth(1).is_none() || Some(place) == unknown;
                    if token.normalized && !needed[place as usize] && !is_symbol {
                        additions.texts.push((place, text));
                    }
                }
            }
        }
        additions.never_whole = self.special_places();
        additions
    }

    fn special_places(&self) -> Vec<u32> {
        self.added.iter().filter(|token| token.flags.special).filter_map(|token| self.place(token)).collect()
    }
}

/// The tokenizer of a file, with what its folder says besides.
pub(crate) fn tokenizer_of(
    mut file: TokenizerFile,
    Context { engines, options }: Context<'_>,
) -> Result<Tokenizer> {
    let mut spec = Map::new();
    spec.insert("added_tokens".into(), file.added.iter().map(token_value).collect());
    let settings = SETTINGS.into_iter().filter(|name| !file.part(name).is_null());
    for name in PARTS.into_iter().chain(settings) {
        spec.insert(name.into(), file.part(name).clone());
    }
    let flag = |name: &str| *file.option(name) == true;
    let characters = json!({
        "unk_token": file.option("unk_token"),
        "byte_fallback": flag("byte_fallback"),
        "fuse_unk": flag("fuse_unk"),
    });
    spec.insert("characters".into(), characters);
    let origin = file.files.take().map(|files| origin_of(&file, files));
    let kept: Vec<u32> = file.kept().map(|token| token.id).collect();
    let pipeline = Pipeline::new(spec, kept, engines)?;
    let names = pipeline.steps().names()?;
    let texts = file.added.iter().map(|token| names.get(&token.id).cloned().unwrap_or_default());
    let texts: Vec<String> = texts.collect();
    let vocab = file.vocab(pipeline.steps().spelling(), &texts, options.dropout_seed)?;
    let warnings = std::mem::take(&mut file.warnings);
    drop(file); // before the tables of the encoder take memory
    let preprocessing = match pipeline.is_trivial()? {
        true => pipeline.pattern().clone().into(),
        false => Preprocessing::from(pipeline),
    };
    Ok(Tokenizer::new(vocab, preprocessing, Provenance { record: None, origin })?.with_warnings(warnings))
}

/// What a file and the `files` beside it say besides the ids of its tokenizer.
fn origin_of(file: &TokenizerFile, files: Map<String, Value>) -> Origin {
    let part = |name: &&str| ((*name).to_owned(), file.part(name).clone());
    let mut content: Map<String, Value> = PARTS.iter().chain(&SETTINGS).map(part).collect();
    content.insert("added_tokens".into(), file.added.iter().map(token_value).collect());
    let option = |name: &&str| ((*name).to_owned(), file.option(name).clone());
    content.insert("model".into(), BPE_OPTIONS.iter().map(option).collect::<Map<_, _>>().into());
    let beside = file.beside().map(|token| token.content.clone()).collect();
    Origin { content: Some(content), beside, files }
}

/// The tokenizer of the content of a `tokenizer.json`, with the files beside it by name. `keep_ids` says that
/// new added tokens have the ids that the content gives them.
pub fn read_huggingface(
    data: &[u8],
    files: Map<String, Value>,
    keep_ids: bool,
    options: &LoadOptions,
    engines: &dyn PatternEngines,
) -> Result<Tokenizer> {
    room::check_available(4 * data.len())?;
    let file = TokenizerFile { files: Some(files), ..TokenizerFile::read(data, keep_ids)? };
    tokenizer_of(file, Context { engines, options })
}
