//! The tokenizer of a file that was read, and the file of a tokenizer.

use serde_json::{Map, Value, json};

use super::file::TokenizerFile;
use super::writer;
use crate::error::Result;
use crate::formats::options::{Context, LoadOptions};
use crate::room;
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::{Origin, PARTS, Pipeline, SETTINGS, Tokenizer, token_value};

/// The tokenizer of a file, with what its folder says besides: `files` by name, or `None` for a file of another format.
pub(in crate::formats) fn tokenizer_of(
    mut file: TokenizerFile,
    files: Option<Map<String, Value>>,
    Context { engines, options }: Context<'_>,
) -> Result<Tokenizer> {
    let files = files.or_else(|| file.config_files());
    let option = |name: &str| file.option(name).unwrap_or_default();
    let mut spec = Map::new();
    spec.insert("added_tokens".into(), file.added.iter().map(|token| token_value(token)).collect());
    for name in PARTS {
        spec.insert(name.into(), file.part(name)?);
    }
    for name in SETTINGS {
        let setting = file.part(name)?;
        if !setting.is_null() {
            spec.insert(name.into(), setting);
        }
    }
    let flag = |name: &str| option(name) == true;
    let characters = json!({
        "unk_token": option("unk_token"),
        "byte_fallback": flag("byte_fallback"),
        "fuse_unk": flag("fuse_unk"),
    });
    spec.insert("characters".into(), characters);
    let origin = files.map(|files| {
        let part = |name: &str| file.part(name).unwrap_or_default();
        let beside = file.beside().map(|token| token.content.clone()).collect();
        let tokens: Vec<_> = file.added.iter().map(|token| token.token.clone()).collect();
        Origin::new(&part, &option, &tokens, beside, files)
    });
    let kept: Vec<u32> = file.kept().map(|token| token.id).collect();
    let pipeline = Pipeline::new(spec, kept, engines)?;
    let names = pipeline.steps().names()?;
    let texts = file.added.iter().map(|token| names.get(&token.id).cloned().unwrap_or_default());
    let texts: Vec<String> = texts.collect();
    let vocab = file.vocab(pipeline.steps().spelling(), &texts, options.dropout_seed)?;
    let warnings = std::mem::take(&mut file.warnings);
    drop(file); // before the tables of the encoder take memory
    let tokenizer = match pipeline.is_trivial()? {
        true => Tokenizer::new(vocab, pipeline.pattern().clone())?,
        false => Tokenizer::with_steps(vocab, pipeline)?,
    };
    Ok(tokenizer.with_origin(origin).with_warnings(warnings))
}

/// The tokenizer of the content of a `tokenizer.json`, with the files beside it by name. `keep_ids` says that new added tokens
/// have the ids that the content gives them.
///
/// # Errors
/// [`crate::Error::BrokenPart`] with the place of what is malformed, or cannot be reproduced exactly.
pub fn read_huggingface(
    data: &[u8],
    files: Map<String, Value>,
    keep_ids: bool,
    options: &LoadOptions,
    engines: &dyn PatternEngines,
) -> Result<Tokenizer> {
    room::check_available(4 * data.len())?;
    tokenizer_of(TokenizerFile::read(data, keep_ids)?, Some(files), Context { engines, options })
}

/// The bytes of the `tokenizer.json` of a tokenizer.
pub(in crate::formats) fn file_content(
    tokenizer: &Tokenizer,
    engines: &dyn PatternEngines,
) -> Result<Vec<u8>> {
    Ok(format!("{:#}\n", writer::write(tokenizer, engines)?).into_bytes())
}
