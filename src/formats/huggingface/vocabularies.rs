//! Vocabularies of other formats, as a `tokenizer.json` that the files beside them change.

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

use super::classes::{END, of_pair};
use super::fields::Fields;
use super::file::TokenizerFile;
use super::model::model_of;
use super::reader::RawMerges;
use super::side_files::SideFiles;
use crate::error::Result;
use crate::formats::gpt2::Merge;
use crate::names::Texts;
use crate::pipeline::AddedToken;
use crate::spelling::spelled;
use crate::tokenizer::CONFIG;

/// What the code of a model says of its rank file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RankFile {
    /// The name of the pattern.
    pub pattern: &'static str,
    /// Names and ids of the special tokens.
    pub special_tokens: Vec<(String, u32)>,
    /// The normalizer, as a `tokenizer.json` has it; null for none.
    pub normalizer: Value,
}

/// What stands in the code of the models that publish a rank file of this `name`, with `count` tokens: Qwen 1
/// and Kimi. `None` for another file.
pub(crate) fn of_rank_file(
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

/// The `tokenizer.json` of GPT-2's two files: names with their ids, and merges.
pub(crate) fn file_of_pair(names: &[(String, u32)], merges: &[Merge]) -> Result<TokenizerFile> {
    let (parts, options) = of_pair();
    let parts_of = |(left, right): &Merge| [spelled(left), spelled(right)];
    let merges = raw_merges(merges.iter().map(parts_of))?;
    let model = model_of(texts_of(names.iter().map(|(name, id)| (&**name, *id)))?, &merges, &options)?;
    TokenizerFile::new(model, parts, options, Vec::new(), false)
}

/// The `tokenizer.json` of the pieces of a `.model`, as classes of transformers take them. `names` are those
/// of the tokens by ascending id, `rows` the added tokens, `unknown` the unknown token.
///
/// These classes ignore scores and the types of pieces: a merge ranks by the id that it makes, whatever
/// pieces it joins.
pub(crate) fn file_of_pieces(
    names: &[(u32, String)],
    rows: &[AddedToken],
    unknown: Option<&str>,
) -> Result<TokenizerFile> {
    let known: FxHashSet<&str> = names.iter().map(|(_, name)| &**name).collect();
    let cuts = |(_, name): &'_ (u32, String)| {
        let cuts = name.char_indices().skip(1).map(|(at, _)| name.split_at(at));
        cuts.filter(|(left, right)| known.contains(left) && known.contains(right))
            .map(|(left, right)| [left.to_owned(), right.to_owned()])
            .collect::<Vec<_>>()
    };
    let merges = raw_merges(names.iter().flat_map(cuts))?;
    let model = model_of(texts_of(names.iter().map(|(id, name)| (&**name, *id)))?, &merges, &Map::new())?;
    let rows = rows.iter().filter(|token| Some(&*token.content) != unknown);
    let rows = rows.map(|token| AddedToken { normalized: false, ..token.clone() }).collect();
    TokenizerFile::new(model, Map::new(), Map::new(), rows, false)
}

fn texts_of<'n>(names: impl Iterator<Item = (&'n str, u32)>) -> Result<(Texts, Vec<u32>)> {
    let (mut texts, mut ids) = (Texts::default(), Vec::new());
    for (name, id) in names {
        texts.push(name)?;
        ids.push(id);
    }
    Ok((texts, ids))
}

fn raw_merges(merges: impl Iterator<Item = [String; 2]>) -> Result<RawMerges> {
    let mut raw = RawMerges::default();
    (0..).zip(merges).try_for_each(|(row, [left, right])| raw.push(&left, &right, row))?;
    Ok(raw)
}
