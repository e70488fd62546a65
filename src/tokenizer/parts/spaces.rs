//! Spaces in a tokenizer that merges characters: SentencePiece replaces them by U+2581, and puts one in
//! front.
//!
//! The vocabulary has plain spaces where it can: a token that the file spells with U+2581 has a space in its
//! bytes, and a text needs no copy in which spaces are replaced. That is exact if a text has no space left
//! when it is merged.

use serde_json::Value;

use super::metaspace::Metaspace;
use super::part::Part;
use crate::error::Result;
use crate::normalize::{NormalizeStep, Normalizer};
use crate::pipeline::Prefix;
use crate::spelling::META;

#[derive(Clone)]
pub(super) struct Spaces {
    /// Whether the vocabulary has a plain space for each U+2581.
    pub(super) are_plain: bool,
    /// Which stretches get a space in front after normalization.
    pub(super) prefix: Prefix,
    /// Which get one in all, if that is all that happens to a text.
    pub(super) only_prefix: Option<Prefix>,
    /// Whether a pretoken begins at each space.
    pub(super) splits: bool,
}

/// Reads what a pre-tokenizer does to spaces; `None` if it does anything else.
pub(super) fn read(value: &Value, place: &str, normalizer: &Normalizer) -> Result<Option<Spaces>> {
    let leaves_no_space = leaves_no_space(normalizer);
    let Some(part) = only_part(value, place.to_owned()) else {
        return Ok(value.is_null().then(|| of_prefix(Prefix::None, false, leaves_no_space, normalizer)));
    };
    if part.get("type").is_some_and(|kind| kind == "Metaspace") {
        let Metaspace { replacement, prefix, splits } = Metaspace::read(&part)?;
        return Ok((replacement == META).then(|| of_prefix(prefix, splits, true, normalizer)));
    }
    // Gemma's pre-tokenizer splits at spaces, and the normalizer leaves none.
    let is_at_spaces = part.get("type").is_some_and(|kind| kind == "Split")
        && part.get("pattern").is_some_and(|pattern| *pattern == serde_json::json!({"String": " "}))
        && part.get("invert") == Some(&Value::Bool(false));
    Ok((is_at_spaces && leaves_no_space).then(|| of_prefix(Prefix::None, false, true, normalizer)))
}

/// The only part of a pre-tokenizer, which may be alone in a sequence.
fn only_part(value: &Value, place: String) -> Option<Part<'_>> {
    let items = value.get("pretokenizers").and_then(Value::as_array);
    match items.map(Vec::as_slice) {
        Some([item]) if value.get("type").is_some_and(|kind| kind == "Sequence") => {
            only_part(item, format!("{place}.pretokenizers[0]"))
        }
        _ => Part::new(value, place).ok(),
    }
}

fn of_prefix(prefix: Prefix, splits: bool, are_plain: bool, normalizer: &Normalizer) -> Spaces {
    let prepended = normalizer.0.iter().filter(|step| is_prepend(step)).count();
    let is_about_spaces = normalizer.0.iter().all(|step| is_prepend(step) || step.is_of_spaces());
    let only_prefix = match (prefix, prepended) {
        _ if !are_plain => Some(Prefix::None),
        _ if !is_about_spaces => None,
        (Prefix::None, 1) => Some(Prefix::Always),
        (prefix, 0) => Some(prefix),
        _ => None,
    };
    Spaces { are_plain, prefix, only_prefix, splits }
}

fn is_prepend(step: &NormalizeStep) -> bool {
    matches!(step, NormalizeStep::Prepend(text) if text.chars().eq([META]))
}

/// Whether a normalized text has no space.
fn leaves_no_space(normalizer: &Normalizer) -> bool {
    let escapes =
        |step: &NormalizeStep| matches!(step, NormalizeStep::SentencePiece(rule) if rule.escape_whitespaces);
    let mut steps = normalizer.0.iter().skip_while(|step| !(step.is_of_spaces() || escapes(step)));
    steps.next().is_some() && steps.all(makes_no_space)
}

fn makes_no_space(step: &NormalizeStep) -> bool {
    match step {
        NormalizeStep::Nfc
        | NormalizeStep::Nfd
        | NormalizeStep::Lowercase
        | NormalizeStep::StripAccents
        | NormalizeStep::StripNonspacing
        | NormalizeStep::SpellBytes
        | NormalizeStep::Strip { .. } => true,
        NormalizeStep::Prepend(text) | NormalizeStep::Replace(_, text) => !text.contains(' '),
        NormalizeStep::Nfkc
        | NormalizeStep::Nfkd
        | NormalizeStep::Nmt
        | NormalizeStep::CleanText
        | NormalizeStep::SpaceIdeographs
        | NormalizeStep::SentencePiece(_) => false,
    }
}
