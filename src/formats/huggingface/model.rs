//! The model of a file: its vocabulary, merges and options, checked.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::reader::{RawFile, RawMerges};
use crate::error::Result;
use crate::names::Names;
use crate::room;
use crate::tokenizer::parts::place::{quoted, refused, shown};
use crate::vocab::{BpeModel, BpeOptions, Dropout};

/// Makes the model of what was read.
///
/// # Errors
/// [`crate::Error::BrokenPart`] for an id that two tokens have, a merge of unknown tokens, and an option of the wrong type.
pub(in crate::formats) fn model_of(file: &mut RawFile) -> Result<BpeModel> {
    if !file.has_model {
        return Err(refused("$", "the field 'model' is missing"));
    }
    let missing = |name: &str| refused("$.model", format!("the field '{name}' is missing"));
    let options = options_of(&file.options)?;
    let (texts, ids) = file.vocab.take().ok_or_else(|| missing("vocab"))?;
    let merges = file.merges.take().ok_or_else(|| missing("merges"))?;
    let (names, repeated) = Names::new(texts)?;
    if let Some(at) = repeated {
        return Err(refused("$.model.vocab", format!("{} is there twice", quoted(names.texts().get(at)))));
    }
    check_ids(&ids, &names)?;
    let merges = merges_of(&merges, &names, options.prefix.len())?;
    Ok(BpeModel { names, ids, merges, ties: Vec::new(), options })
}

/// Checks that no id is given to two tokens.
fn check_ids(ids: &[u32], names: &Names) -> Result<()> {
    let mut order: Vec<u64> = room::collected((0..).zip(ids).map(|(at, &id)| u64::from(id) << 32 | at))?;
    order.sort_unstable();
    let Some(pair) = order.windows(2).find(|pair| pair[0] >> 32 == pair[1] >> 32) else { return Ok(()) };
    let name = |entry: u64| quoted(names.texts().get(entry as u32 as usize));
    let (id, left, right) = (pair[0] >> 32, name(pair[0]), name(pair[1]));
    Err(refused("$.model.vocab", format!("the id {id} is given to both {left} and {right}")))
}

/// The merges as places of names. Of a merge that is listed twice the last place counts, as in the original.
pub(in crate::formats) fn merges_of(
    raw: &RawMerges,
    names: &Names,
    prefix_len: usize,
) -> Result<Vec<[u32; 3]>> {
    let mut merges: Vec<[u32; 3]> = room::for_items(raw.rows.len())?;
    let mut last: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    last.try_reserve(raw.rows.len()).map_err(|_| room::out_of_memory(raw.rows.len()))?;
    let mut made = String::new();
    for (at, &row) in raw.rows.iter().enumerate() {
        let parts = [raw.parts.get(2 * at), raw.parts.get(2 * at + 1)];
        // The original removes that many bytes of the second part, whatever they are.
        let end = parts[1].get(prefix_len..).ok_or_else(|| {
            let reason =
                format!("the token {} is shorter than the continuing_subword_prefix", quoted(parts[1]));
            refused(format!("$.model.merges[{row}]"), reason)
        })?;
        made.clear();
        made.push_str(parts[0]);
        made.push_str(end);
        let mut places = [0; 3];
        for (place, name) in places.iter_mut().zip([parts[0], parts[1], &made]) {
            *place = names.find(name).ok_or_else(|| {
                let [left, right] = parts.map(quoted);
                let reason = format!(
                    "the merge of {left} and {right} needs {}, which is not in the vocabulary",
                    quoted(name)
                );
                refused(format!("$.model.merges[{row}]"), reason)
            })?;
        }
        last.insert((places[0], places[1]), at);
        merges.push(places);
    }
    if last.len() < merges.len() {
        let mut at = 0..;
        merges.retain(|places| at.next() == last.get(&(places[0], places[1])).copied());
    }
    Ok(merges)
}

/// The options of a model.
fn options_of(fields: &[(String, String)]) -> Result<BpeOptions> {
    let value = |name: &str| {
        let json = fields.iter().find(|(other, _)| other == name).map_or("null", |(_, json)| json);
        serde_json::from_str::<Value>(json)
            .map_err(|error| refused(format!("$.model.{name}"), error.to_string()))
    };
    let wrong = |name: &str, expected: &str, value: &Value| {
        refused(format!("$.model.{name}"), format!("expected {expected}, got {}", shown(value)))
    };
    let text = |name: &str| match value(name)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => Err(wrong(name, "a text", &other)),
    };
    let flag = |name: &str| match value(name)? {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(flag),
        other => Err(wrong(name, "true or false", &other)),
    };
    let rate = match value("dropout")? {
        Value::Null => 0.0,
        other => match other.as_f64() {
            Some(rate) if (0.0..=1.0).contains(&rate) => rate,
            _ => return Err(wrong("dropout", "a number from 0 to 1", &other)),
        },
    };
    Ok(BpeOptions {
        prefix: text("continuing_subword_prefix")?.unwrap_or_default(),
        suffix: text("end_of_word_suffix")?.unwrap_or_default(),
        unknown: text("unk_token")?,
        fuse_unknown: flag("fuse_unk")?,
        byte_fallback: flag("byte_fallback")?,
        ignore_merges: flag("ignore_merges")?,
        dropout: Dropout { rate: rate as f32, seed: None },
    })
}
