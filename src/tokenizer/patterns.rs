//! The patterns of tokenizers, run by the core alone.

use std::sync::Arc;

use super::parts::PatternEngines;
use super::pattern::SourcePattern;
use crate::dialects::{
    RegexPattern, SYNTAX_UNICODE_VERSION, SyntaxTables, Translation, from_fancy_regex, size,
};
use crate::error::{Error, Result, show_text};
use crate::pretokenize::compiled::Automaton;
use crate::pretokenize::spellings::{ENCODINGS, NAMES, SPELLINGS};
use crate::pretokenize::{Isa, Matcher, Named, Pattern, Pretokenizer, UNICODE_VERSION, Unmatched};

/// Characters that a regular expression has and a name does not.
const METACHARACTERS: &str = r"\.^$*+?{}[]()|";
const MAX_NAME: usize = 64;

impl PatternEngines for SyntaxTables {
    fn engine(&self, Translation { pattern, nullable }: &Translation) -> Result<Matcher> {
        match nullable {
            true => Err(without_regex(pattern, "matches of nothing")),
            false => compiled(pattern, 0).map(Pattern::Compiled).map(Matcher::Pattern),
        }
    }

    fn pattern(&self, source: &str, flags: u32, unmatched: Unmatched) -> Result<SourcePattern> {
        let (pattern, unicode) = match Named::of(source, &SPELLINGS).filter(|_| flags == 0) {
            Some(named) => (Pattern::Named(named, Isa::best()), UNICODE_VERSION),
            None => (Pattern::Compiled(compiled(source, flags)?), SYNTAX_UNICODE_VERSION),
        };
        Ok(SourcePattern {
            source: Some(source.to_owned()),
            flags,
            unicode: Some(unicode.to_owned()),
            pretokenizer: Pretokenizer { pattern, unmatched },
        })
    }

    fn unicode(&self) -> Result<String> {
        Ok(SYNTAX_UNICODE_VERSION.to_owned())
    }

    fn tokenizer_class(&self, _model_type: &str) -> Option<String> {
        None
    }
}

impl SourcePattern {
    /// The pattern of a name, or of an expression in the dialect of `regex`.
    pub(super) fn of_regex(pattern: &str) -> Result<Self> {
        match named(pattern)? {
            Some(named) => SyntaxTables.pattern(named.expression(), 0, Unmatched::Keep),
            None => SyntaxTables.pattern(pattern, 0, Unmatched::Keep),
        }
    }

    /// The pattern of a name, or of an expression in the dialect of tiktoken, which drops text that is not
    /// matched.
    pub(crate) fn of_tiktoken(pattern: &str) -> Result<Self> {
        match named(pattern)? {
            Some(named) => SyntaxTables.pattern(named.expression(), 0, Unmatched::Keep),
            None => Self::of_tiktoken_source(pattern, &SyntaxTables),
        }
    }

    /// The pattern of an expression in the dialect of tiktoken, which is no name.
    pub(crate) fn of_tiktoken_source(source: &str, engines: &dyn PatternEngines) -> Result<Self> {
        match Named::of(source, &SPELLINGS) {
            Some(_) => engines.pattern(source, 0, Unmatched::Keep),
            None => engines.pattern(&from_fancy_regex(source)?, 0, Unmatched::Drop),
        }
    }
}

/// The pattern of a name; `None` for an expression.
///
/// # Errors
/// [`Error::Pattern`] for what looks like a name and is none: as an expression it would match its own letters
/// alone.
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

fn compiled(source: &str, flags: u32) -> Result<Arc<Automaton>> {
    size::check(source, flags)?;
    match RegexPattern::read(source, flags, &SyntaxTables).and_then(|pattern| pattern.compile()) {
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
