//! A tokenizer as `tokenizers` writes it: the content of a `tokenizer.json`.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::shapes::{byte_level, meta_to_spaces};
use crate::dialects::to_oniguruma;
use crate::error::{Error, Result};
use crate::pipeline::AddedToken;
use crate::pretokenize::spellings::IN_ONIGURUMA;
use crate::pretokenize::{Named, Unmatched};
use crate::spelling::spelled;
use crate::tokenizer::parts::PatternEngines;
use crate::tokenizer::{BPE_OPTIONS, SourcePattern, Tokenizer, token_value};
use crate::vocab::Vocab;

/// The fields besides the model, in the order of a file.
const FIELDS: [&str; 7] =
    ["truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder"];

/// Writes the content of a `tokenizer.json`.
pub fn write(tokenizer: &Tokenizer, engines: &dyn PatternEngines) -> Result<Value> {
    let mut content = json!({"version": "1.0"});
    let fields = fields(tokenizer, engines)?;
    for name in FIELDS {
        content[name] = fields.get(name).cloned().unwrap_or_default();
    }
    let spells_characters = !tokenizer.vocab().covers_text_exactly()
        || tokenizer.pipeline().is_some_and(|pipeline| pipeline.merges_characters());
    content["model"] = if spells_characters { character_model(tokenizer)? } else { byte_model(tokenizer)? };
    Ok(content)
}

fn fields(tokenizer: &Tokenizer, engines: &dyn PatternEngines) -> Result<Map<String, Value>> {
    if let Some(content) = tokenizer.origin().and_then(|origin| origin.content.as_ref()) {
        return Ok(content.clone());
    }
    let Some(pipeline) = tokenizer.pipeline() else { return own_fields(tokenizer, engines) };
    let mut fields = pipeline.spec().as_object().cloned().unwrap_or_default();
    // SentencePiece's own decoder becomes that of converters.
    if let Some(decoder) = fields.get_mut("decoder").filter(|decoder| decoder["type"] == "SentencePiece") {
        *decoder = meta_to_spaces(decoder["add_dummy_prefix"] == true);
    }
    Ok(fields)
}

/// The fields of a tokenizer that has no parts from a `tokenizer.json`.
fn own_fields(tokenizer: &Tokenizer, engines: &dyn PatternEngines) -> Result<Map<String, Value>> {
    let mut specials: Vec<(u32, &str)> = tokenizer.special_tokens().map(|(name, id)| (id, name)).collect();
    specials.sort_unstable();
    let added: Value =
        specials.into_iter().map(|(id, name)| token_value(&AddedToken::special(id, name))).collect();
    let mut fields = Map::new();
    fields.insert("added_tokens".into(), added);
    fields.insert("pre_tokenizer".into(), pre_tokenizer(tokenizer.pattern(), engines)?);
    fields.insert("decoder".into(), byte_level(false, false));
    Ok(fields)
}

/// The pre-tokenizer that cuts text at the places of a pattern: `ByteLevel`, after a `Split` if need be.
///
/// # Errors
/// [`Error::Pattern`], which names a construct without a proven equal in Oniguruma.
pub fn pre_tokenizer(pattern: &SourcePattern, engines: &dyn PatternEngines) -> Result<Value> {
    let is_dropped = pattern.pretokenizer.unmatched == Unmatched::Drop;
    let Some(source) = &pattern.source else { return Ok(byte_level(false, false)) };
    let expression = match pattern.named() {
        Some(Named::Gpt2) if !is_dropped => return Ok(byte_level(false, true)),
        Some(named) => {
            let spelling = IN_ONIGURUMA.iter().find(|(_, other)| *other == named);
            spelling.map_or_else(|| source.clone(), |(spelling, _)| (*spelling).to_owned())
        }
        None => to_oniguruma(source, pattern.flags, engines)?,
    };
    let split = json!({
        "type": "Split",
        "pattern": {"Regex": expression},
        "behavior": if is_dropped { "Removed" } else { "Isolated" },
        "invert": is_dropped,
    });
    Ok(json!({"type": "Sequence", "pretokenizers": [split, byte_level(false, false)]}))
}

fn byte_model(tokenizer: &Tokenizer) -> Result<Value> {
    let (vocab, origin) = (tokenizer.vocab(), tokenizer.origin());
    let is_beside = |name: &str| origin.is_some_and(|origin| origin.beside.contains(name));
    let specials = tokenizer.special_tokens().filter(|(name, _)| !is_beside(name));
    let names = vocab.spelled_with(specials.map(|(name, id)| (name.to_owned(), id)).collect())?;
    let (merges, ignores_merges) = vocab.listed_merges()?;
    let name = |index: u32| spelled(vocab.tokens().bytes_at(index));
    // A merge as one string is read by every version; no spelling of a token holds a space.
    let merge = |(left, right)| Value::from(format!("{} {}", name(left), name(right)));
    let mut model = json!({"type": "BPE", "dropout": null});
    let listed = origin.and_then(|origin| origin.content.as_ref()).map(|content| &content["model"]);
    for name in BPE_OPTIONS {
        let default = if matches!(name, "fuse_unk" | "byte_fallback") { false.into() } else { Value::Null };
        let option = listed.and_then(|model| model.get(name)).filter(|option| !option.is_null());
        model[name] = option.cloned().unwrap_or(default);
    }
    model["ignore_merges"] = ignores_merges.into();
    let names: Map<String, Value> = names.into_iter().map(|(name, id)| (name, id.into())).collect();
    model["vocab"] = names.into();
    model["merges"] = merges.into_iter().map(merge).collect();
    Ok(model)
}

fn character_model(tokenizer: &Tokenizer) -> Result<Value> {
    let vocab = tokenizer.vocab();
    let mut steps =
        tokenizer.pipeline().into_iter().flat_map(|pipeline| &pipeline.steps().parts.normalizer.0);
    if steps.any(|step| step.name() == "SentencePiece") {
        return Err(Error::Unwritable("tokenizer.json cannot hold SentencePiece's normalizer".into()));
    }
    if !vocab.ties().is_empty() {
        return Err(Error::Unwritable(
            "tokenizer.json ranks merges, and cannot hold pieces of one score, of which the leftmost in a text comes first"
                .into(),
        ));
    }
    if let Some(model) = spelled_model(vocab) {
        return Ok(model);
    }
    let (names, beside) = (names(tokenizer)?, beside(tokenizer));
    let ids: HashMap<u32, &str> = names.iter().map(|(id, name)| (*id, &**name)).collect();
    let name = |id: u32| ids.get(&id).copied().unwrap_or_default();
    let pairs: Vec<_> = vocab.merges().into_iter().map(|(left, right)| (name(left), name(right))).collect();
    let listed = names.iter().filter(|(id, _)| !beside.contains(id));
    let listed: Map<String, Value> = listed.map(|(id, name)| (name.clone(), (*id).into())).collect();
    let nulls = ["dropout", "continuing_subword_prefix", "end_of_word_suffix"];
    let mut model = json!({"type": "BPE"});
    nulls.into_iter().for_each(|name| model[name] = Value::Null);
    let options = tokenizer.pipeline().and_then(|pipeline| pipeline.spec()["characters"].as_object());
    for (name, option) in options.into_iter().flatten() {
        model[name] = option.clone();
    }
    model["ignore_merges"] = false.into();
    model["vocab"] = listed.into();
    model["merges"] = merge_list(&pairs);
    Ok(model)
}

/// The model of a vocabulary that merges by names; `None` for any other vocabulary.
fn spelled_model(vocab: &Vocab) -> Option<Value> {
    let bpe = vocab.spelled()?;
    let id = |token| vocab.tokens().id_at(token);
    let names: Map<String, Value> =
        bpe.names().map(|(name, token)| (name.to_owned(), id(token).into())).collect();
    let name = |token| bpe.name(token).unwrap_or_default();
    let pairs: Vec<_> = bpe.merges().iter().map(|&((left, right), _)| (name(left), name(right))).collect();
    let options = &bpe.options;
    let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Some(json!({
        "type": "BPE",
        "dropout": Some(options.dropout.rate).filter(|&rate| rate > 0.0),
        "unk_token": options.unknown,
        "continuing_subword_prefix": text(&options.prefix),
        "end_of_word_suffix": text(&options.suffix),
        "fuse_unk": options.fuse_unknown,
        "byte_fallback": options.byte_fallback,
        "ignore_merges": options.ignore_merges,
        "vocab": names,
        "merges": merge_list(&pairs),
    }))
}

/// The tokens as the file spells them, with their ids, which ascend.
pub(crate) fn names(tokenizer: &Tokenizer) -> Result<Vec<(u32, String)>> {
    let added = tokenizer.pipeline().into_iter().flat_map(|pipeline| pipeline.added_tokens());
    let added: HashMap<u32, &str> = added.map(|token| (token.id, &*token.content)).collect();
    let name = |id| match added.get(&id).filter(|name| !name.is_empty()) {
        Some(name) => Ok((id, (*name).to_owned())),
        None => tokenizer.spelled(id).map(|name| (id, name)),
    };
    tokenizer.tokens().map(|(id, _)| name(id)).collect()
}

/// A merge as one text is read by every version of the original, but cannot hold a space.
pub(super) fn merge_list(pairs: &[(&str, &str)]) -> Value {
    let have_spaces = pairs.iter().any(|(left, right)| left.contains(' ') || right.contains(' '));
    let merge = |&(left, right): &(&str, &str)| match have_spaces {
        true => json!([left, right]),
        false => format!("{left} {right}").into(),
    };
    pairs.iter().map(merge).collect()
}

/// The ids that the vocabulary of the model does not have.
fn beside(tokenizer: &Tokenizer) -> BTreeSet<u32> {
    if let Some(origin) = tokenizer.origin().filter(|origin| origin.content.is_some()) {
        let specials = tokenizer.special_tokens();
        return specials.filter(|(name, _)| origin.beside.contains(*name)).map(|(_, id)| id).collect();
    }
    let outside = tokenizer.vocab().characters().map(|characters| &characters.outside);
    let is_outside = |id: &u32| outside.is_some_and(|outside| outside.contains(id));
    let highest = tokenizer.tokens().map(|(id, _)| id).filter(|id| !is_outside(id)).max();
    // Others would get another id there.
    tokenizer.tokens().map(|(id, _)| id).filter(|id| is_outside(id) && Some(*id) > highest).collect()
}
