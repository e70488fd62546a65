//! The normalizer of a file.

use serde_json::Value;

use super::part::{Part, PatternCompiler};
use crate::error::Result;
use crate::normalize::{NormalizeStep, Normalizer};

/// The maximum number of steps.
const MAX_STEPS: usize = 256;

/// Reads the normalizer that stands at a place.
///
/// # Errors
/// [`crate::Error::BrokenPart`] for a part that is malformed or cannot be reproduced exactly.
pub(super) fn read(value: &Value, place: &str, patterns: &mut dyn PatternCompiler) -> Result<Normalizer> {
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

fn step(part: &Part<'_>, patterns: &mut dyn PatternCompiler) -> Result<NormalizeStep> {
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
        kind => {
            return Err(part.refused(format!("the normalizer {kind} is not one that toksmith has")));
        }
    })
}
