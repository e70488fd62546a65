//! Vocabularies of other formats, as the content of a `tokenizer.json` that the files beside them change.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::classes::{END, of_pair};
use super::fields::Fields;
use super::side_files::SideFiles;
use super::writer::merge_list;
use crate::error::Result;
use crate::formats::gpt2::{Merge, spelled};
use crate::pipeline::AddedToken;
use crate::tokenizer::parts::place::refused;
use crate::tokenizer::{CONFIG, token_value};

/// What the code of a model says of its rank file.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::formats) struct RankFile {
    /// The name of the pattern.
    pub pattern: &'static str,
    /// Names and ids of the special tokens.
    pub special_tokens: Vec<(String, u32)>,
    /// The normalizer, as a `tokenizer.json` has it; null for none.
    pub normalizer: Value,
}

/// What stands in the code of the models that publish a rank file of this `name`, with `count` tokens: Qwen 1 and Kimi. `None`
/// for another file.
pub(in crate::formats) fn of_rank_file(
    name: &str,
    count: u32,
    files: &SideFiles,
    warnings: &mut Vec<String>,
) -> Option<RankFile> {
    if name == "qwen.tiktoken" {
        let names = [END, "<|im_start|>", "<|im_end|>"].map(str::to_owned).into_iter();
        let names = names.chain((0..205).map(|number| format!("<|extra_{number}|>")));
        let normalizer = json!({"type": "NFC"});
        return Some(RankFile { pattern: "qwen2", special_tokens: names.zip(count..).collect(), normalizer });
    }
    let class = files.field(CONFIG, "tokenizer_class");
    let code = files.field(CONFIG, "auto_map").map(Value::to_string);
    let is_kimi = class.is_some_and(|class| class == "TikTokenTokenizer")
        || code.is_some_and(|code| code.contains("tokenization_kimi"));
    if name != "tiktoken.model" || !is_kimi {
        return None;
    }
    let by_id = Fields::read(files, &[], &[], warnings).by_id;
    let name = |id: u32| {
        let listed = by_id.get(&u64::from(id)).map(|token| token.content.clone());
        (listed.unwrap_or_else(|| format!("<|reserved_token_{id}|>")), id)
    };
    let ids: IndexMap<String, u32> = (count..).take(256).map(name).collect();
    Some(RankFile { pattern: "kimi", special_tokens: ids.into_iter().collect(), normalizer: Value::Null })
}

/// The content of a `tokenizer.json` for GPT-2's two files: the text of `vocab.json`, and the merges.
///
/// # Errors
/// [`crate::Error::BrokenPart`] for a vocabulary that is no JSON.
pub(in crate::formats) fn content_of_pair(vocab: &str, merges: &[Merge]) -> Result<Vec<u8>> {
    let ([_, pre_tokenizer, decoder], mut model) = of_pair();
    let vocab = RawValue::from_string(vocab.trim_ascii().to_owned())
        .map_err(|error| refused("vocab.json", error.to_string()))?;
    let merges: Vec<String> =
        merges.iter().map(|(left, right)| format!("{} {}", spelled(left), spelled(right))).collect();
    model["merges"] = merges.into();
    let content = json!({
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": pre_tokenizer,
        "decoder": decoder,
        "model": model,
    });
    // The content ends in the two braces behind the model.
    let mut content = content.to_string();
    content.truncate(content.len() - 2);
    Ok(format!("{content},\"vocab\":{vocab}}}}}").into_bytes())
}

/// The content of a `tokenizer.json` for the pieces of a `.model`, as classes of transformers take them. `names` are those
/// of the tokens by ascending id, `rows` the added tokens, `unknown` the unknown token.
///
/// These classes ignore scores and the types of pieces: a merge ranks by the id that it makes, whatever pieces it joins.
pub(in crate::formats) fn content_of_pieces(
    names: &[(u32, String)],
    rows: &[AddedToken],
    unknown: Option<&str>,
) -> Vec<u8> {
    let vocab: IndexMap<&str, u32> = names.iter().map(|(id, name)| (&**name, *id)).collect();
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for name in vocab.keys() {
        let cuts = name.char_indices().skip(1).map(|(at, _)| name.split_at(at));
        pairs.extend(cuts.filter(|(left, right)| vocab.contains_key(left) && vocab.contains_key(right)));
    }
    let rows = rows.iter().filter(|token| Some(&*token.content) != unknown);
    let rows: Vec<_> =
        rows.map(|token| token_value(&AddedToken { normalized: false, ..token.clone() })).collect();
    let model = json!({"type": "BPE", "vocab": vocab, "merges": merge_list(&pairs)});
    json!({"version": "1.0", "added_tokens": rows, "model": model}).to_string().into_bytes()
}
