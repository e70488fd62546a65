//! The tokenizer of a file that was read.

use serde_json::{Map, Value, json};

use super::file::TokenizerFile;
use crate::error::Result;
use crate::formats::options::{Context, LoadOptions};
use crate::room;
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::{
    BPE_OPTIONS, Origin, PARTS, Pipeline, Preprocessing, Provenance, SETTINGS, Tokenizer, token_value,
};

/// The tokenizer of a file, with what its folder says besides.
pub(in crate::formats) fn tokenizer_of(
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
