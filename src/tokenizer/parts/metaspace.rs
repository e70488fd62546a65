//! The options of a Metaspace, as a pre-tokenizer or a decoder.

use serde_json::Value;

use super::part::Part;
use super::place::quoted;
use crate::error::Result;
use crate::pipeline::Prefix;

/// A pre-tokenizer that replaces spaces.
pub(super) struct Metaspace {
    /// The character that stands for a space.
    pub(super) replacement: char,
    pub(super) prefix: Prefix,
    /// Whether a pretoken begins at each of them.
    pub(super) splits: bool,
}

impl Metaspace {
    pub(super) fn read(part: &Part<'_>) -> Result<Self> {
        let splits = part.get("split").is_none_or(Value::is_null) || part.flag("split")?;
        Ok(Metaspace { replacement: part.character("replacement")?, prefix: prefix(part)?, splits })
    }
}

/// The `prepend_scheme` of a Metaspace, which older files spell `add_prefix_space`.
pub(super) fn prefix(part: &Part<'_>) -> Result<Prefix> {
    let name = part.text_or("prepend_scheme", "always")?;
    let prefix = match name {
        "always" => Prefix::Missing,
        "first" => Prefix::First,
        "never" => Prefix::None,
        _ => {
            let reason = format!("{} is not one of always, first, never", quoted(name));
            return Err(part.refused_in("prepend_scheme", reason));
        }
    };
    let is_unset = part.get("add_prefix_space").is_none_or(Value::is_null);
    if !is_unset && !part.flag("add_prefix_space")? && prefix != Prefix::None {
        let reason = format!("it is false, and prepend_scheme is {name}");
        return Err(part.refused_in("add_prefix_space", reason));
    }
    Ok(prefix)
}
