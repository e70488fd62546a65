//! The post-processor of a file.

use std::sync::Arc;

use serde_json::Value;

use super::part::Part;
use super::place::{quoted, refused, shown};
use crate::error::Result;
use crate::postprocess::{PostProcessor, Step, TemplatePiece};

const MAX_STEPS: usize = 64;
const MAX_PIECES: usize = 256;
const MAX_TOKENS: usize = 4096;
/// The maximum number of times that one text may stand in a template.
const MAX_TEXTS: usize = 4;

pub fn read_post_processor(value: &Value) -> Result<PostProcessor> {
    let mut steps = Vec::new();
    for part in Part::flat(value, "$.post_processor", "processors", MAX_STEPS)? {
        steps.extend(steps_of(&part)?);
    }
    Ok(PostProcessor(steps))
}

fn steps_of(part: &Part<'_>) -> Result<Vec<Step>> {
    let trim = || -> Result<Option<Step>> {
        let is_prefixed = part.flag("add_prefix_space")?;
        Ok(part.flag("trim_offsets")?.then_some(Step::Trim { is_prefixed }))
    };
    let frame = |is_roberta| -> Result<Step> {
        Ok(Step::Frame { cls: token(part, "cls")?, sep: token(part, "sep")?, is_roberta })
    };
    let (trim, step) = match part.kind()? {
        "ByteLevel" => (trim()?, Step::Number),
        "RobertaProcessing" => (trim()?, frame(true)?),
        "BertProcessing" => (None, frame(false)?),
        "TemplateProcessing" => (None, template(part)?),
        kind => {
            return Err(part.refused(format!("the post-processor {kind} is not one that toksmith has")));
        }
    };
    Ok(trim.into_iter().chain([step]).collect())
}

/// A token with its id, as a list of the two.
fn token(part: &Part<'_>, name: &str) -> Result<TemplatePiece> {
    let pair = part.list(name)?;
    let (text, id) = match pair.as_slice() {
        [Value::String(text), id] => (text, id),
        _ => {
            let pair = Value::Array(pair.clone());
            return Err(part.refused_in(name, format!("expected a token and its id, got {}", shown(&pair))));
        }
    };
    let id = number(id).ok_or_else(|| part.refused_in(name, not_an_id(id)))?;
    Ok(TemplatePiece { sequence: None, ids: vec![id], tokens: Arc::new([text.clone()]), type_id: 0 })
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| u32::try_from(id).ok())
}

fn not_an_id(value: &Value) -> String {
    format!("the id is {}, not a whole number below 2^32", shown(value))
}

fn template(part: &Part<'_>) -> Result<Step> {
    let (single, pair) = (pieces(part, "single")?, pieces(part, "pair")?);
    if single.iter().any(|piece| piece.sequence == Some(1)) {
        return Err(part.refused_in("single", "it has the second text of a pair"));
    }
    Ok(Step::Template { single, pair })
}

fn pieces(part: &Part<'_>, name: &str) -> Result<Vec<TemplatePiece>> {
    let rows = part.list(name)?;
    if rows.len() > MAX_PIECES {
        return Err(part.refused_in(name, format!("more than {MAX_PIECES} pieces")));
    }
    let (mut pieces, mut tokens) = (Vec::new(), 0);
    for (row, value) in rows.iter().enumerate() {
        let piece = piece(value, part, format!("{}.{name}[{row}]", part.place))?;
        tokens += piece.ids.len();
        if tokens > MAX_TOKENS {
            return Err(part.refused_in(name, format!("more than {MAX_TOKENS} tokens are added")));
        }
        pieces.push(piece);
    }
    for (text, label) in [(0, "A"), (1, "B")] {
        if pieces.iter().filter(|piece: &&TemplatePiece| piece.sequence == Some(text)).count() > MAX_TEXTS {
            let reason = format!("the text {label} is there more than {MAX_TEXTS} times");
            return Err(part.refused_in(name, reason));
        }
    }
    Ok(pieces)
}

fn piece(value: &Value, template: &Part<'_>, place: String) -> Result<TemplatePiece> {
    let row = value.as_object().filter(|row| row.len() == 1).and_then(|row| row.iter().next());
    let Some((kind @ ("Sequence" | "SpecialToken"), content)) =
        row.map(|(kind, content)| (kind.as_str(), content))
    else {
        return Err(refused(place, format!("expected a Sequence or a SpecialToken, got {}", shown(value))));
    };
    let content = Part::new(content, format!("{place}.{kind}"))?;
    let id = content.text("id")?;
    let type_id = content.get("type_id").unwrap_or(&Value::Null);
    let type_id = number(type_id).ok_or_else(|| content.refused_in("type_id", not_an_id(type_id)))?;
    if kind == "Sequence" {
        return match id {
            "A" => Ok(TemplatePiece::of_text(0, type_id)),
            "B" => Ok(TemplatePiece::of_text(1, type_id)),
            _ => Err(refused(place, format!("the sequence {} is neither A nor B", quoted(id)))),
        };
    }
    let specials = template.object("special_tokens")?;
    let special = specials
        .get(id)
        .ok_or_else(|| refused(place, format!("the token {} is not in special_tokens", quoted(id))))?;
    let special = Part::new(special, format!("{}.special_tokens[{}]", template.place, quoted(id)))?;
    let (ids, names) = (special.list("ids")?, special.list("tokens")?);
    if ids.len() != names.len() {
        return Err(special.refused(format!("{} ids for {} tokens", ids.len(), names.len())));
    }
    let id = |value| number(value).ok_or_else(|| special.refused_in("ids", not_an_id(value)));
    let name = |value: &Value| {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| special.refused_in("tokens", format!("expected a text, got {}", shown(value))))
    };
    let ids = ids.iter().map(id).collect::<Result<_>>()?;
    let tokens: Vec<String> = names.iter().map(name).collect::<Result<_>>()?;
    Ok(TemplatePiece { sequence: None, ids, tokens: tokens.into(), type_id })
}
