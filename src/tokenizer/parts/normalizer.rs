//! The normalizer of a file.

use std::sync::Arc;

use base64::Engine;
use serde_json::Value;

use super::part::Part;
use super::patterns::FilePatterns;
use crate::error::Result;
use crate::normalize::{Charsmap, NormalizeStep, Normalizer, SentencePieceRule};

const MAX_STEPS: usize = 256;

/// Reads the normalizer that stands at a place.
pub(super) fn read(value: &Value, place: &str, patterns: &mut FilePatterns<'_>) -> Result<Normalizer> {
    let parts = match value {
        Value::Null => Vec::new(),
        value => Part::flat(value, place, "normalizers", MAX_STEPS)?,
    };
    let mut steps = Vec::new();
    for part in &parts {
        match part.kind()? {
            "BertNormalizer" => steps.extend(bert(part)?),
            _ => steps.push(step(part, patterns)?),
        }
    }
    Ok(Normalizer(steps))
}

/// The steps of a BertNormalizer, in the order of the original.
fn bert(part: &Part<'_>) -> Result<impl Iterator<Item = NormalizeStep>> {
    let lowercase = part.flag("lowercase")?;
    let strips = match part.get("strip_accents") {
        None | Some(Value::Null) => lowercase,
        Some(_) => part.flag("strip_accents")?,
    };
    let steps = [
        (part.flag("clean_text")?, NormalizeStep::CleanText),
        (part.flag("handle_chinese_chars")?, NormalizeStep::SpaceIdeographs),
        (strips, NormalizeStep::Nfd),
        (strips, NormalizeStep::StripNonspacing),
        (lowercase, NormalizeStep::Lowercase),
    ];
    Ok(steps.into_iter().filter_map(|(is_done, step)| is_done.then_some(step)))
}

fn step(part: &Part<'_>, patterns: &mut FilePatterns<'_>) -> Result<NormalizeStep> {
    Ok(match part.kind()? {
        "NFC" => NormalizeStep::Nfc,
        "NFD" => NormalizeStep::Nfd,
        "NFKC" => NormalizeStep::Nfkc,
        "NFKD" => NormalizeStep::Nfkd,
        "Lowercase" => NormalizeStep::Lowercase,
        "StripAccents" => NormalizeStep::StripAccents,
        "Nmt" => NormalizeStep::Nmt,
        "ByteLevel" => NormalizeStep::SpellBytes,
        "Strip" => NormalizeStep::Strip { left: part.flag("strip_left")?, right: part.flag("strip_right")? },
        "Prepend" => match part.text("prepend")? {
            "" => return Err(part.refused("an empty text to prepend, on which the original fails")),
            text => NormalizeStep::Prepend(text.to_owned()),
        },
        "Replace" => {
            NormalizeStep::Replace(part.matcher(patterns, true)?.0, part.text("content")?.to_owned())
        }
        "SentencePiece" => NormalizeStep::SentencePiece(Arc::new(sentencepiece_rule(part)?)),
        kind => {
            return Err(part.refused(format!("the normalizer {kind} is not one that toksmith has")));
        }
    })
}

/// What SentencePiece does to a text: the part that the format `sentencepiece` writes.
fn sentencepiece_rule(part: &Part<'_>) -> Result<SentencePieceRule> {
    let charsmap = base64::engine::general_purpose::STANDARD
        .decode(part.text("precompiled_charsmap")?)
        .map_err(|error| part.refused_in("precompiled_charsmap", format!("not base64: {error}")))?;
    let symbols = part.list("symbols")?.iter().map(|symbol| {
        let symbol = symbol.as_str().filter(|symbol| !symbol.is_empty());
        symbol
            .map(str::to_owned)
            .ok_or_else(|| part.refused_in("symbols", "a symbol that is no text, or empty"))
    });
    Ok(SentencePieceRule {
        charsmap: Charsmap::read(&charsmap)
            .map_err(|reason| part.refused_in("precompiled_charsmap", reason))?,
        symbols: symbols.collect::<Result<_>>()?,
        add_dummy_prefix: part.flag("add_dummy_prefix")?,
        remove_extra_whitespaces: part.flag("remove_extra_whitespaces")?,
        escape_whitespaces: part.flag("escape_whitespaces")?,
        whitespace_as_suffix: part.flag("treat_whitespace_as_suffix")?,
    })
}
