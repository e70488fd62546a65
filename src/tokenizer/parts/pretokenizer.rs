//! The pre-tokenizer of a file: stages in which text is split.

use std::sync::Arc;

use serde_json::Value;

use super::metaspace::Metaspace;
use super::part::Part;
use super::patterns::{FilePattern, FilePatterns};
use super::place::{quoted, refused};
use crate::error::Result;
use crate::pipeline::{Prefix, Rewrite};
use crate::pretokenize::{
    Behavior, CharKind, CutRule, Matcher, Pattern, Pretokenizer, SplitStage, SplitStages, Unmatched,
};

const MAX_STAGES: usize = 64;

/// The maximum number of parts of type Metaspace. Each may double the length of a text.
const MAX_METASPACES: usize = 8;

/// The pattern by which ByteLevel splits (tokenizers, src/pre_tokenizers/byte_level.rs).
const BYTE_LEVEL: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// How text is split: changed by `rewrites`, which split it too, and then split by `after`.
#[derive(Clone, Default)]
pub(crate) struct Splits {
    pub(super) rewrites: Vec<Rewrite>,
    pub(crate) after: Vec<SplitStage>,
    /// The one pattern that splits as `after` does, in the dialect of `regex`, and whether unmatched text is
    /// kept.
    pub(crate) pattern: Option<(String, bool)>,
}

impl Splits {
    /// What is changed before the last cut: at most a prefix, or `None` for anything else.
    pub(crate) fn prefix(&self) -> Option<Prefix> {
        match &*self.rewrites {
            [] => Some(Prefix::None),
            [rewrite] if rewrite.is_only_prefix() => Some(rewrite.prefix),
            _ => None,
        }
    }

    /// A pretokenizer that splits by `after`.
    pub(super) fn pretokenizer(&self) -> Pretokenizer {
        let (Some((_, keeps_unmatched)), [stage]) = (&self.pattern, &*self.after) else {
            return in_stages(&self.after);
        };
        let Matcher::Pattern(pattern) = &stage.matcher else { return in_stages(&self.after) };
        // The named patterns match all text, so nothing is unmatched.
        let keeps_unmatched = *keeps_unmatched || matches!(pattern, Pattern::Named(..));
        let unmatched = if keeps_unmatched { Unmatched::Keep } else { Unmatched::Drop };
        Pretokenizer { pattern: pattern.clone(), unmatched }
    }
}

pub(super) fn in_stages(stages: &[SplitStage]) -> Pretokenizer {
    if stages.is_empty() {
        return Pretokenizer { pattern: Pattern::Whole, unmatched: Unmatched::Keep };
    }
    let pattern = Pattern::Custom(Arc::new(SplitStages(stages.to_vec())), CutRule::Never);
    Pretokenizer { pattern, unmatched: Unmatched::Drop }
}

/// A stage, and the pattern of a `Split` in the dialect of `regex`.
type PatternStage = (SplitStage, Option<String>);

/// Whether ByteLevel is in a pre-tokenizer: then the model merges bytes, else characters.
pub(super) fn has_byte_level(value: &Value) -> bool {
    let items = value.get("pretokenizers").and_then(Value::as_array);
    value.get("type").is_some_and(|kind| kind == "ByteLevel")
        || items.is_some_and(|items| items.iter().any(has_byte_level))
}

/// Reads the pre-tokenizer that stands at a place.
pub(super) fn read(value: &Value, place: &str, patterns: &mut FilePatterns<'_>) -> Result<Splits> {
    let parts = match value {
        Value::Null => Vec::new(),
        value => Part::flat(value, place, "pretokenizers", MAX_STAGES)?,
    };
    let (mut splits, mut stages, mut byte_level) = (Splits::default(), Vec::new(), None);
    for part in &parts {
        let kind = part.kind()?;
        if byte_level.is_some() {
            let reason = "behind ByteLevel would split the characters that stand for bytes";
            return Err(part.refused(format!("a {kind} {reason}")));
        }
        match kind {
            "ByteLevel" => byte_level = Some(part),
            "Metaspace" => {
                let Metaspace { replacement, prefix, splits: splits_before } = Metaspace::read(part)?;
                splits.rewrites.push(rewrite(&mut stages, replacement, prefix));
                if splits.rewrites.len() > MAX_METASPACES {
                    return Err(refused(
                        place,
                        format!("more than {MAX_METASPACES} parts of type Metaspace"),
                    ));
                }
                if splits_before {
                    let mark = Matcher::Literal(replacement.to_string().into_bytes());
                    stages.push((stage(mark, Behavior::MergedWithNext), None));
                }
            }
            _ => stages.extend(stages_of(kind, part, patterns)?),
        }
        if stages.len() > MAX_STAGES {
            return Err(refused(place, format!("more than {MAX_STAGES} stages")));
        }
    }
    if let Some(part) = byte_level {
        if part.flag("add_prefix_space")? {
            splits.rewrites.push(rewrite(&mut stages, ' ', Prefix::Missing));
        }
        if part.flag_or("use_regex", true)? {
            let FilePattern { matcher, source, .. } = patterns.compile(BYTE_LEVEL, &part.place)?;
            stages.push((stage(matcher, Behavior::Isolated), Some(source)));
        }
    }
    splits.pattern = single_pattern(&stages);
    splits.after = stages.into_iter().map(|(stage, _)| stage).collect();
    Ok(splits)
}

/// A rewrite of the pieces that the stages so far make, which are taken.
fn rewrite(stages: &mut Vec<PatternStage>, mark: char, prefix: Prefix) -> Rewrite {
    let stages: Vec<_> = std::mem::take(stages).into_iter().map(|(stage, _)| stage).collect();
    Rewrite { splits: (!stages.is_empty()).then(|| in_stages(&stages)), mark, prefix }
}

fn stage(matcher: Matcher, behavior: Behavior) -> SplitStage {
    SplitStage { matcher, behavior, invert: false }
}

fn stages_of(kind: &str, part: &Part<'_>, patterns: &mut FilePatterns<'_>) -> Result<Vec<PatternStage>> {
    let spaces = || stage(Matcher::CharKind(CharKind::Whitespace), Behavior::Removed);
    let punctuation = |behavior| stage(Matcher::CharKind(CharKind::Punctuation), behavior);
    let stages = match kind {
        "Split" => return Ok(vec![split(part, patterns)?]),
        "Digits" => {
            let is_each = part.flag("individual_digits")?;
            let behavior = if is_each { Behavior::Isolated } else { Behavior::Contiguous };
            vec![stage(Matcher::CharKind(CharKind::Numeric), behavior)]
        }
        "Punctuation" => vec![punctuation(behavior(part, Some("Isolated"))?)],
        "WhitespaceSplit" => vec![spaces()],
        "Whitespace" => vec![SplitStage { invert: true, ..stage(Matcher::Words, Behavior::Removed) }],
        "UnicodeScripts" => vec![SplitStage { invert: true, ..stage(Matcher::Scripts, Behavior::Removed) }],
        "BertPreTokenizer" => vec![spaces(), punctuation(Behavior::Isolated)],
        "CharDelimiterSplit" => {
            let delimiter = part.character("delimiter")?.to_string();
            vec![stage(Matcher::Literal(delimiter.into_bytes()), Behavior::Removed)]
        }
        "FixedLength" => match part.count("length", Some(5))? {
            0 => return Err(part.refused_in("length", "0 is not a number of characters")),
            length => vec![stage(Matcher::Length(length), Behavior::Isolated)],
        },
        _ => {
            return Err(part.refused(format!("the pre-tokenizer {kind} is not one that toksmith has here")));
        }
    };
    Ok(stages.into_iter().map(|stage| (stage, None)).collect())
}

fn split(part: &Part<'_>, patterns: &mut FilePatterns<'_>) -> Result<PatternStage> {
    let (behavior, invert) = (behavior(part, None)?, part.flag("invert")?);
    let (matcher, pattern) = part.matcher(patterns, false)?;
    let source = pattern.filter(|pattern| !pattern.is_nullable).map(|pattern| pattern.source);
    Ok((SplitStage { matcher, behavior, invert }, source))
}

fn behavior(part: &Part<'_>, default: Option<&'static str>) -> Result<Behavior> {
    let name = match default {
        Some(default) => part.text_or("behavior", default)?,
        None => part.text("behavior")?,
    };
    let behavior = Behavior::NAMES.into_iter().find(|(known, _)| *known == name);
    behavior.map(|(_, behavior)| behavior).ok_or_else(|| {
        let names = Behavior::NAMES.map(|(name, _)| name).join(", ");
        part.refused_in("behavior", format!("{} is not one of {names}", quoted(name)))
    })
}

/// The one pattern that splits as the stages do, and whether unmatched text is kept.
fn single_pattern(stages: &[PatternStage]) -> Option<(String, bool)> {
    let [(stage, Some(source))] = stages else { return None };
    let keeps_all = stage.behavior == Behavior::Isolated;
    let keeps_matches = stage.behavior == Behavior::Removed && stage.invert;
    (keeps_all || keeps_matches).then(|| (source.clone(), keeps_all))
}
