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
    Ok(Normalizer(parts.iter().map(|part| step(part, patterns)).collect::<Result<_>>()?))
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
