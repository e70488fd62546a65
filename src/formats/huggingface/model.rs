//! The model of a file: its vocabulary, merges and options, checked.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::reader::RawMerges;
use crate::error::Result;
use crate::names::{Names, Texts};
use crate::room;
use crate::tokenizer::parts::part::Part;
use crate::tokenizer::parts::place::{quoted, refused, wrong};
use crate::vocab::{BpeModel, BpeOptions, Dropout};

pub(crate) fn model_of(
    (texts, ids): (Texts, Vec<u32>),
    merges: &RawMerges,
    options: &Map<String, Value>,
) -> Result<BpeModel> {
    let options = options_of(options)?;
    let names = names_of(texts)?;
    let merges = merges_of(merges, &names, options.prefix.len())?;
    Ok(BpeModel { names, ids, merges, ties: Vec::new(), options })
}

/// Gives a model other options, which have no prefix of parts of words, so that some merges may make other
/// tokens.
pub(super) fn set_options(model: &mut BpeModel, options: &Map<String, Value>) -> Result<()> {
    let had_prefix = !model.options.prefix.is_empty();
    model.options = options_of(options)?;
    if had_prefix {
        let (mut raw, texts) = (RawMerges::default(), model.names.texts());
        for (row, &[left, right, _]) in (0..).zip(&model.merges) {
            raw.push(texts.get(left as usize), texts.get(right as usize), row)?;
        }
        model.merges = merges_of(&raw, &model.names, 0)?;
    }
    Ok(())
}

/// Puts tokens in front of those of a model; those that it has keep their ids.
pub(super) fn put_first(model: &mut BpeModel, tokens: &[(String, u32)]) -> Result<()> {
    let old = model.names.texts();
    let first: FxHashSet<&str> = tokens.iter().map(|(name, _)| &**name).collect();
    let others = old.iter().zip(&model.ids).filter(|(name, _)| !first.contains(name));
    let id = |name: &str| model.names.find(name).map(|place| &model.ids[place as usize]);
    let tokens = tokens.iter().map(|(name, new)| (&**name, id(name).unwrap_or(new)));
    let (mut texts, mut ids) = (Texts::default(), Vec::new());
    for (name, id) in tokens.chain(others) {
        texts.push(name)?;
        room::push(&mut ids, *id)?;
    }
    let names = names_of(texts)?;
    let place = |place: u32| names.find(old.get(place as usize)).unwrap_or_default();
    for merge in &mut model.merges {
        *merge = merge.map(place);
    }
    (model.names, model.ids) = (names, ids);
    Ok(())
}

/// The index of names that are all different.
fn names_of(texts: Texts) -> Result<Names> {
    let (names, repeated) = Names::new(texts)?;
    if let Some(at) = repeated {
        return Err(refused("$.model.vocab", format!("{} is there twice", quoted(names.texts().get(at)))));
    }
    Ok(names)
}

/// The merges as places of names. Of a merge that is listed twice the last place counts, as in the original.
pub(crate) fn merges_of(raw: &RawMerges, names: &Names, prefix_len: usize) -> Result<Vec<[u32; 3]>> {
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

fn options_of(fields: &Map<String, Value>) -> Result<BpeOptions> {
    let fields = fields.iter().filter(|(_, value)| !value.is_null());
    let fields: Map<_, _> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    let fields = Value::from(fields);
    let part = Part::new(&fields, "$.model".into())?;
    let rate = part.get("dropout").map_or(Some(0.0), Value::as_f64).filter(|rate| (0.0..=1.0).contains(rate));
    let rate = rate.ok_or_else(|| wrong("$.model.dropout", "a number from 0 to 1", &fields["dropout"]))?;
    Ok(BpeOptions {
        prefix: part.text_or("continuing_subword_prefix", "")?.to_owned(),
        suffix: part.text_or("end_of_word_suffix", "")?.to_owned(),
        unknown: part.get("unk_token").map(|_| part.text("unk_token")).transpose()?.map(str::to_owned),
        fuse_unknown: part.flag_or("fuse_unk", false)?,
        byte_fallback: part.flag_or("byte_fallback", false)?,
        ignore_merges: part.flag_or("ignore_merges", false)?,
        dropout: Dropout { rate: rate as f32, seed: None },
    })
}
