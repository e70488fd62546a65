//! The decoder of a file.

use serde_json::Value;

use super::part::{Part, PatternCompiler};
use super::place::quoted;
use crate::decode::{Decoder, Stage};
use crate::error::Result;

/// The maximum number of stages.
const MAX_STAGES: usize = 256;

/// Reads the decoder that stands at a place; without one, tokens are joined by spaces.
///
/// # Errors
/// [`crate::Error::BrokenPart`] for a part that is malformed or cannot be reproduced exactly.
pub(super) fn read(value: &Value, place: &str, patterns: &mut dyn PatternCompiler) -> Result<Decoder> {
    if value.is_null() {
        return Ok(Decoder::new(vec![Stage::Spaced]));
    }
    let parts = Part::flat(value, place, "decoders", MAX_STAGES)?;
    Ok(Decoder::new(parts.iter().map(|part| stage(part, patterns)).collect::<Result<_>>()?))
}

fn stage(part: &Part<'_>, patterns: &mut dyn PatternCompiler) -> Result<Stage> {
    let text = |name: &str| part.text(name).map(str::to_owned);
    Ok(match part.kind()? {
        "ByteLevel" => Stage::ByteLevel,
        "ByteFallback" => Stage::ByteFallback,
        "Fuse" => Stage::Fuse,
        "Replace" => Stage::Replace(part.matcher(patterns, false)?.0, text("content")?),
        "Strip" => Stage::Strip {
            character: part.character("content")?,
            start: part.count("start", None)?,
            stop: part.count("stop", None)?,
        },
        "Metaspace" => Stage::Metaspace {
            replacement: part.character("replacement")?,
            is_prefixed: scheme(part)? != Scheme::Never,
        },
        "BPEDecoder" => Stage::Suffix(text("suffix")?),
        "WordPiece" => Stage::WordPiece { prefix: text("prefix")?, cleanup: part.flag("cleanup")? },
        "CTC" => Stage::Ctc {
            pad: text("pad_token")?,
            delimiter: text("word_delimiter_token")?,
            cleanup: part.flag("cleanup")?,
        },
        kind => {
            return Err(part.refused(format!("the decoder {kind} is not one that toksmith has")));
        }
    })
}

/// Which texts a Metaspace puts its character before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// All.
    Always,
    /// The one that begins the text.
    First,
    /// None.
    Never,
}

/// The `prepend_scheme` of a Metaspace, which older files spell `add_prefix_space`.
pub(super) fn scheme(part: &Part<'_>) -> Result<Scheme> {
    let name = part.text_or("prepend_scheme", "always")?;
    let scheme = match name {
        "always" => Scheme::Always,
        "first" => Scheme::First,
        "never" => Scheme::Never,
        _ => {
            let reason = format!("{} is none of always, first, never", quoted(name));
            return Err(part.refused_in("prepend_scheme", reason));
        }
    };
    let is_unset = part.get("add_prefix_space").is_none_or(Value::is_null);
    if !is_unset && !part.flag("add_prefix_space")? && scheme != Scheme::Never {
        let reason = format!("it is false, and prepend_scheme is {name}");
        return Err(part.refused_in("add_prefix_space", reason));
    }
    Ok(scheme)
}
