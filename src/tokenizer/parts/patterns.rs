//! The regular expressions of a file, which are in the dialect of Oniguruma, and what runs each.

use std::collections::HashMap;

use serde_json::Value;

use crate::dialects::{Tables, Translation, from_oniguruma, size};
use crate::error::{Error, Result};
use crate::pretokenize::spellings::IN_ONIGURUMA;
use crate::pretokenize::{Isa, Matcher, Named, Pattern, Unmatched};
use crate::tokenizer::pattern::SourcePattern;

/// A regular expression of a file, made ready for the core.
pub(crate) struct FilePattern {
    pub(super) matcher: Matcher,
    /// The same pattern in the dialect of the `regex` package.
    pub(super) source: String,
    /// Whether it may match the empty text.
    pub(super) is_nullable: bool,
}

/// What runs regular expressions: the core alone, or the package `regex` as well.
pub trait PatternEngines: Tables {
    /// What runs a pattern without a scanner, in the dialect of `regex`.
    fn engine(&self, pattern: &Translation) -> Result<Matcher>;

    /// The pattern of an expression of `regex`, which is no name, with its flags.
    fn pattern(&self, source: &str, flags: u32, unmatched: Unmatched) -> Result<SourcePattern>;

    /// The Unicode version of the classes of its patterns.
    fn unicode(&self) -> Result<String>;

    /// The class of `transformers` for the tokenizers of a type of model; `None` if that is not known.
    fn tokenizer_class(&self, model_type: &str) -> Option<String>;
}

/// The scanner of a pattern that is proven equal to a named one.
fn scanner(pattern: &str) -> Option<Named> {
    Named::of(pattern, &IN_ONIGURUMA)
}

pub(crate) struct FilePatterns<'e> {
    engines: &'e dyn PatternEngines,
    translations: HashMap<String, Translation>,
}

impl<'e> FilePatterns<'e> {
    /// Translates the patterns of JSON (fields `Regex`), and refuses those that are together larger than one
    /// may be, before any is compiled. One that cannot be translated, or is too large by itself, does not
    /// count: it is refused where it is read.
    pub(super) fn of(parts: &[Value], engines: &'e dyn PatternEngines) -> Result<Self> {
        let mut patterns = FilePatterns { engines, translations: HashMap::new() };
        let (mut total, mut pending) = (0, Vec::from_iter(parts));
        while let Some(part) = pending.pop() {
            match part {
                Value::Array(items) => pending.extend(items),
                Value::Object(fields) => {
                    pending.extend(fields.values());
                    if let Some(Value::String(pattern)) = fields.get("Regex") {
                        total += patterns.size(pattern)?;
                    }
                }
                _ => (),
            }
        }
        match total > size::MAX_PARTS {
            true => Err(Error::Pattern(format!(
                "all patterns together come to {total} parts, more than {}",
                size::MAX_PARTS
            ))),
            false => Ok(patterns),
        }
    }

    /// The parts of a pattern that is not refused later, and has no scanner.
    fn size(&mut self, pattern: &str) -> Result<u64> {
        if scanner(pattern).is_some() {
            return Ok(0);
        }
        let size = match self.translation(pattern) {
            Ok(translation) => size::parts(&translation.pattern, 0),
            Err(Error::Pattern(_)) => 0,
            Err(error) => return Err(error),
        };
        Ok(if size <= size::MAX_PARTS { size } else { 0 })
    }

    fn translation(&mut self, pattern: &str) -> Result<Translation> {
        if let Some(known) = self.translations.get(pattern) {
            return Ok(known.clone());
        }
        let translation = from_oniguruma(pattern, self.engines)?;
        self.translations.insert(pattern.to_owned(), translation.clone());
        Ok(translation)
    }

    /// Compiles the pattern that stands at a place.
    pub(super) fn compile(&mut self, pattern: &str, place: &str) -> Result<FilePattern> {
        if let Some(named) = scanner(pattern) {
            let matcher = Matcher::Pattern(Pattern::Named(named, Isa::best()));
            return Ok(FilePattern { matcher, source: named.expression().to_owned(), is_nullable: false });
        }
        let compiled = self.translation(pattern).and_then(|translation| {
            let matcher = self.engines.engine(&translation)?;
            let Translation { pattern: source, nullable: is_nullable } = translation;
            Ok(FilePattern { matcher, source, is_nullable })
        });
        compiled.map_err(|error| match error {
            Error::Pattern(reason) => Error::BrokenPart(place.to_owned(), reason),
            other => other,
        })
    }
}
