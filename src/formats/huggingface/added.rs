//! Added tokens: the ids that the original gives them.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Result;
use crate::pipeline::AddedToken;
use crate::special::Flags;
use crate::spelling::unspelled;
use crate::tokenizer::added_token;
use crate::tokenizer::parts::place::{quoted, refused};
use crate::vocab::BpeModel;

/// Whether no ordinary text can become an added token, which is in the vocabulary of a byte-level model, if
/// no merge takes or makes it.
pub(super) fn can_be_special(token: &AddedToken, ignores_merges: bool) -> bool {
    let spelled = unspelled(&token.content);
    let is_spelled = spelled.is_some();
    if token.content.chars().nth(1).is_none()
        || spelled.is_some_and(|bytes| bytes != token.content.as_bytes())
    {
        return false;
    }
    // With `ignore_merges` a pretoken of its bytes becomes the token where it is not found as an added one.
    // Text never becomes a token marked special in this way, so that it is safe to read special tokens as
    // text.
    let Flags { single_word, lstrip, rstrip, special } = token.flags;
    let is_missed = is_spelled && (single_word || lstrip || rstrip || !token.normalized);
    special || !(ignores_merges && is_missed)
}

/// The added tokens of a list of rows or null, which is JSON.
pub(super) fn rows_of(json: &str) -> Result<Vec<AddedToken>> {
    let rows: Option<Vec<&RawValue>> =
        serde_json::from_str(json).map_err(|_| refused("$.added_tokens", "expected a list"))?;
    let row = |(number, row): (usize, &RawValue)| {
        let place = format!("$.added_tokens[{number}]");
        let row: Value = serde_json::from_str(row.get())
            .map_err(|error| refused(place.clone(), format!("not JSON: {error}")))?;
        added_token(&row, place)
    };
    rows.unwrap_or_default().into_iter().enumerate().map(row).collect()
}

/// Gives each token of the rows its id: that of the vocabulary, if it is there, else the next after the size
/// of the vocabulary and the tokens before. With `keep_ids` new tokens have the ids of their rows. Also
/// returns a warning for each id that differs from the row's.
pub(super) fn read(
    rows: Vec<AddedToken>,
    model: &BpeModel,
    keep_ids: bool,
) -> Result<(Vec<AddedToken>, Vec<String>)> {
    let mut tokens: IndexMap<String, AddedToken> = IndexMap::new();
    let (mut warnings, mut next) = (Vec::new(), model.ids.len() as u64);
    for (number, mut token) in rows.into_iter().enumerate() {
        let place = || format!("$.added_tokens[{number}]");
        let (wanted, content) = (token.id, token.content.clone());
        if content.is_empty() {
            continue;
        }
        let in_model = model.names.find(&content);
        let id = match (tokens.get(&content), in_model) {
            (Some(known), _) => known.id,
            (None, Some(at)) => model.ids[at as usize],
            (None, None) if keep_ids => wanted,
            (None, None) => {
                let id =
                    u32::try_from(next).map_err(|_| refused(place(), "there is no id left below 2^32"))?;
                next += 1;
                id
            }
        };
        if id != wanted {
            warnings.push(format!(
                "{}: {} has the id {wanted} in the file; the original gives it {id}, and so does toksmith",
                place(),
                quoted(&content)
            ));
        }
        token.id = id;
        tokens.insert(content, token);
    }
    let tokens: Vec<AddedToken> = tokens.into_values().collect();
    check(&tokens, model)?;
    Ok((tokens, warnings))
}

fn check(tokens: &[AddedToken], model: &BpeModel) -> Result<()> {
    let mut of_id: FxHashMap<u32, &AddedToken> = FxHashMap::default();
    for token in tokens {
        if let Some(other) = of_id.insert(token.id, token) {
            let (id, name) = (token.id, quoted(&other.content));
            return Err(refused("$.added_tokens", format!("two of them share the id {id}: {name} is one")));
        }
    }
    of_id.retain(|_, token| model.names.find(&token.content).is_none());
    if of_id.is_empty() {
        return Ok(());
    }
    for (id, name) in model.ids.iter().zip(model.names.texts().iter()) {
        if let Some(token) = of_id.get(id) {
            let reason = format!(
                "{} gets the id {id} from the original, the next after a vocabulary of {} tokens; but that is the id of {}",
                quoted(&token.content),
                model.ids.len(),
                quoted(name)
            );
            return Err(refused("$.added_tokens", reason));
        }
    }
    Ok(())
}
