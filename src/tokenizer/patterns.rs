//! The patterns of tokenizers, run by the core alone.

use std::sync::Arc;

#[cfg(feature = "train")]
use serde_json::Value;

use super::parts::PatternEngines;
use crate::dialects::{SYNTAX_UNICODE_VERSION, Steps, SyntaxTables, Translation, from_fancy_regex, size};
use crate::error::{Error, Result, show_text};
use crate::pretokenize::compiled::Automaton;
use crate::pretokenize::spellings::{ENCODINGS, NAMES, SPELLINGS};
use crate::pretokenize::{Isa, Matcher, Named, Pattern, Pretokenizer, UNICODE_VERSION, Unmatched};

/// Characters that a regular expression has and a name does not.
const METACHARACTERS: &str = r"\.^$*+?{}[]()|";
/// The maximum number of characters of a name.
const MAX_NAME: usize = 64;

impl PatternEngines for SyntaxTables {
    fn engine(&self, Translation { pattern, nullable }: &Translation) -> Result<Matcher> {
        match nullable {
            true => Err(without_regex(pattern, "matches of nothing")),
            false => compiled(pattern, 0).map(Matcher::Compiled),
        }
    }
}

/// A pattern as toksmith's own file has it, and what runs it.
#[derive(Clone)]
pub(crate) struct SourcePattern {
    /// The expression in the dialect of `regex`; `None` for no pattern.
    source: Option<String>,
    flags: u32,
    pub(super) pretokenizer: Pretokenizer,
}

impl SourcePattern {
    /// The pattern of a name, or of an expression in the dialect of `regex`.
    #[cfg(feature = "train")]
    pub(super) fn of_regex(pattern: &str) -> Result<Self> {
        match named(pattern)? {
            Some(named) => Self::of_source(Some(named.expression()), 0, Unmatched::Keep),
            None => Self::of_source(Some(pattern), 0, Unmatched::Keep),
        }
    }

    /// The pattern of a name, or of an expression in the dialect of tiktoken, which drops text that is not matched.
    pub(crate) fn of_tiktoken(pattern: &str) -> Result<Self> {
        match named(pattern)? {
            Some(named) => Self::of_source(Some(named.expression()), 0, Unmatched::Keep),
            None => Self::of_tiktoken_source(pattern),
        }
    }

    /// The pattern of an expression in the dialect of tiktoken, which is no name.
    pub(crate) fn of_tiktoken_source(source: &str) -> Result<Self> {
        match Named::of(source, &SPELLINGS) {
            Some(_) => Self::of_source(Some(source), 0, Unmatched::Keep),
            None => Self::of_source(Some(&from_fancy_regex(source, &SyntaxTables)?), 0, Unmatched::Drop),
        }
    }

    /// The pattern of an expression of `regex`, which is no name, with its flags.
    pub(crate) fn of_source(source: Option<&str>, flags: u32, unmatched: Unmatched) -> Result<Self> {
        let pattern = match source {
            None => Pattern::Whole,
            Some(source) => match Named::of(source, &SPELLINGS).filter(|_| flags == 0) {
                Some(named) => Pattern::Named(named, Isa::best()),
                None => Pattern::Compiled(compiled(source, flags)?),
            },
        };
        let pretokenizer = Pretokenizer { pattern, unmatched };
        Ok(SourcePattern { source: source.map(str::to_owned), flags, pretokenizer })
    }

    /// The fields of toksmith's own file that hold the pattern, with their JSON.
    #[cfg(feature = "train")]
    pub(crate) fn fields(&self) -> [(String, String); 4] {
        let unmatched = if self.pretokenizer.unmatched == Unmatched::Keep { "keep" } else { "drop" };
        [
            ("pattern", Value::from(self.source.clone())),
            ("pattern_flags", Value::from(self.flags)),
            ("unmatched", Value::from(unmatched)),
            ("unicode", Value::from(unicode_of(&self.pretokenizer.pattern))),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_string()))
    }
}

/// The Unicode version of a pattern's classes; `None` for a pattern without any.
pub(super) fn unicode_of(pattern: &Pattern) -> Option<&'static str> {
    match pattern {
        Pattern::Named(..) => Some(UNICODE_VERSION),
        Pattern::Compiled(_) => Some(SYNTAX_UNICODE_VERSION),
        _ => None,
    }
}

/// The pattern of a name; `None` for an expression.
///
/// # Errors
/// [`Error::Pattern`] for what looks like a name and is none: as an expression it would match its own letters alone.
fn named(text: &str) -> Result<Option<Named>> {
    let named = Named::of(text, &NAMES).or_else(|| Named::of(text, &ENCODINGS));
    let is_name = text.chars().any(char::is_alphanumeric)
        && !text.contains(|character| METACHARACTERS.contains(character))
        && (2..=MAX_NAME).contains(&text.chars().count());
    if named.is_some() || !is_name {
        return Ok(named);
    }
    let names: Vec<&str> = NAMES.iter().chain(&ENCODINGS).map(|(name, _)| *name).collect();
    Err(Error::Pattern(format!(
        "{} looks like the name of a pattern, but no pattern has this name. The names are {}. An expression for these \
         very characters is (?:{text})",
        show_text(text),
        names.join(", ")
    )))
}

/// An expression as an automaton.
fn compiled(source: &str, flags: u32) -> Result<Arc<Automaton>> {
    size::check(source, flags)?;
    match Steps::read(source, flags, &SyntaxTables).and_then(|steps| steps.compile()) {
        Err(Error::Pattern(reason)) => Err(without_regex(source, &reason)),
        compiled => compiled,
    }
}

/// The error of a pattern that only the Python package runs.
fn without_regex(source: &str, reason: &str) -> Error {
    Error::Pattern(format!(
        "the pattern {} has {reason}: toksmith for Python runs it in the package `regex`, and the crate has no engine for it",
        show_text(source)
    ))
}
