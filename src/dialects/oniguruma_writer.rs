//! A pattern of the `regex` package, written so that Oniguruma cuts every text at the same places.
//!
//! `tokenizers` runs the patterns of its files in Oniguruma, which reads some of them differently: `$` also
//! matches at the end of a line, `{1,3}+` repeats a repetition, `\w` has other characters, and a character
//! may fold to several. So the tree of a pattern is written anew with constructs that mean the same in both
//! (Oniguruma's doc/RE, Ruby syntax, and the documentation of `regex`). A class of characters that is not the
//! same in both is written as the code points that `regex` takes for it. A construct without a proven equal
//! is refused by name.

use std::ops::Range;

use indexmap::IndexSet;

use super::cursor::{Quantifier, control, is_category};
use super::members::{Member, Ranges, Tables, joined, members};
use super::tree::{CharacterSource, DOTALL, IGNORECASE, Letters, Node, Tree, UNICODE, VERSION0};
use super::written::Written;
use crate::error::{Error, Result, show_text};
use crate::pretokenize::class::{Class, class_of};
use crate::pretokenize::compiled::Repeat;

/// Flags that Oniguruma has, or that are the defaults.
const ALLOWED: u32 = IGNORECASE | DOTALL | UNICODE | VERSION0;
/// The maximum number of repetitions; Oniguruma unrolls them.
const MAX_REPEAT: u64 = 1000;
/// The code points that no text has.
const SURROGATES: Range<u32> = 0xD800..0xE000;

/// The spelling of a pattern for Oniguruma. `flags` are those that the pattern is compiled with.
///
/// # Errors
/// [`crate::Error::Pattern`] names a construct without a proven equal there.
pub fn to_oniguruma(pattern: &str, flags: u32, tables: &dyn Tables) -> Result<String> {
    written(pattern, flags, tables).map_err(|error| match error {
        Error::Pattern(reason) => Error::Pattern(format!(
            "the pattern {} has no proven equal in Oniguruma: {reason}",
            show_text(pattern)
        )),
        error => error,
    })
}

fn written(pattern: &str, flags: u32, tables: &dyn Tables) -> Result<String> {
    if flags & !ALLOWED != 0 {
        return Err(Error::Pattern(format!("it has flags {:#x}", flags & !ALLOWED)));
    }
    let Tree { whole, sets, .. } = Tree::read(pattern, flags)?;
    let folds = sets.iter().any(|(_, letters)| letters.i);
    let whole = Writer { sets, folds, tables }.written(&whole)?;
    match whole.shortest {
        0 => Err(Error::Pattern(
            "it can match the empty text, after which Oniguruma continues differently".into(),
        )),
        _ => Ok(whole.pattern),
    }
}

/// The error of a construct.
fn unequal(construct: &str, why: &str) -> Error {
    Error::Pattern(format!("{}: {why}", show_text(construct)))
}

struct Writer<'t> {
    sets: IndexSet<(CharacterSource, Letters)>,
    /// Whether a part of the pattern ignores case.
    folds: bool,
    tables: &'t dyn Tables,
}

impl Writer<'_> {
    fn written(&self, part: &Node) -> Result<Written> {
        let all = |parts: &[Node]| parts.iter().map(|part| self.written(part)).collect::<Result<Vec<_>>>();
        let assertion = |text: &str| Written::assertion(text.into(), false);
        Ok(match part {
            Node::Set(number) => Written::character(self.set(*number)?, 1),
            Node::Start => assertion(r"\A"),
            Node::End => assertion(r"\z"),
            Node::LineEnd => assertion(r"\Z"),
            Node::Sequence(parts) => Written::sequence(&all(parts)?),
            Node::Alternatives(branches) => Written::alternatives(&all(branches)?),
            Node::Repeated(inner, quantifier, kind) => self.repeated(inner, quantifier, *kind)?,
            Node::Group(inner) => self.written(inner)?.grouped("(?:"),
            Node::Atomic(inner) => self.written(inner)?.grouped("(?>"),
            Node::Look(opening, inner) => self.look(opening, inner)?,
        })
    }

    fn look(&self, opening: &str, inner: &Node) -> Result<Written> {
        let inner = self.written(inner)?;
        if opening.starts_with("(?<") && (inner.varies() || inner.pattern.contains('|')) {
            let why = "what is looked at behind must be of one length, without alternatives";
            return Err(unequal(opening, why));
        }
        Ok(Written::assertion(inner.grouped(opening).pattern, false))
    }

    fn repeated(&self, inner: &Node, quantifier: &Quantifier, kind: Repeat) -> Result<Written> {
        let Quantifier { text: sign, minimum, maximum, .. } = quantifier;
        let (minimum, maximum) = (*minimum, *maximum);
        let inner = self.written(inner)?;
        if inner.shortest == 0 {
            return Err(unequal(
                sign,
                "it repeats what can match nothing, which the two engines end otherwise",
            ));
        }
        if minimum.max(maximum.unwrap_or(0)) > MAX_REPEAT {
            return Err(unequal(sign, &format!("it repeats more than {MAX_REPEAT} times")));
        }
        let is_exact = maximum == Some(minimum);
        let count = match maximum {
            _ if is_exact => format!("{{{minimum}}}"),
            _ if !sign.starts_with('{') => sign.clone(),
            Some(maximum) => format!("{{{minimum},{maximum}}}"),
            None => format!("{{{minimum},}}"),
        };
        let mode = if kind == Repeat::Lazy && !is_exact { "?" } else { "" };
        let repeated = inner.repeated(&Quantifier { text: count, minimum, maximum, is_complete: true }, mode);
        // Oniguruma reads the + after an interval as one more repetition: an atomic group is the same in
        // both.
        Ok(if kind == Repeat::Possessive { repeated.grouped("(?>") } else { repeated })
    }

    /// An expression for a character of a set of the tree.
    fn set(&self, number: usize) -> Result<String> {
        let (source, letters) = &self.sets[number];
        let ignores_case = letters.i;
        match source {
            CharacterSource::Character(code) => self.literal(*code, ignores_case),
            // As a set: Oniguruma searches `.*` after a lookahead only at the starts of lines, and misses
            // matches.
            CharacterSource::Set(dot) if dot == "." => {
                Ok(if letters.s { r"[\s\S]" } else { r"[^\n]" }.into())
            }
            CharacterSource::Set(source) => {
                self.check_case(source, ignores_case)?;
                let same = match source.starts_with('[') {
                    _ if ignores_case => None,
                    true => same_set(source),
                    false => is_same(source).then(|| source.clone()),
                };
                same.map_or_else(|| self.listed(source, ignores_case), Ok)
            }
        }
    }

    fn literal(&self, code: u32, ignores_case: bool) -> Result<String> {
        let Some(character) = char::from_u32(code) else {
            return Err(unequal(&format!("\\u{code:04x}"), "no text has this character"));
        };
        match ignores_case {
            true if character.is_ascii_alphanumeric() || !character.is_ascii() => {
                self.listed(&character.to_string(), true)
            }
            true => self.listed(&format!("\\{character}"), true),
            false => Ok(quoted(character)),
        }
    }

    /// Refuses a class that `regex` itself makes smaller if another part of the pattern ignores case.
    ///
    /// When `regex` then looks for the start of a match, it ignores case for all parts (seen in 2026.11.15).
    fn check_case(&self, source: &str, ignores_case: bool) -> Result<()> {
        if !self.folds || ignores_case {
            return Ok(());
        }
        let (exact, folded) = (self.tables.matched(source)?, self.tables.matched(&format!("(?i){source}"))?);
        let is_within = |range: &Range<u32>| {
            let last = folded[..folded.partition_point(|other| other.start <= range.start)].last();
            last.is_some_and(|other| range.end <= other.end)
        };
        match exact.iter().all(is_within) {
            true => Ok(()),
            false => Err(unequal(source, "beside (?i:…) the package `regex` takes it for less than it says")),
        }
    }

    /// A class of all code points that `regex` matches with an expression for one.
    fn listed(&self, source: &str, ignores_case: bool) -> Result<String> {
        let flags = if ignores_case { "?i" } else { "?" };
        let ranges = without_surrogates(self.tables.matched(&format!("({flags}:{source})"))?);
        if ranges.is_empty() {
            return Err(unequal(source, "it has no characters"));
        }
        let items: String = ranges.into_iter().filter_map(item).collect();
        Ok(format!("[{items}]"))
    }
}

/// Ranges of characters; those on both sides of the surrogates are one.
fn without_surrogates(mut ranges: Ranges) -> Ranges {
    ranges.push(SURROGATES);
    let clipped = joined(ranges).into_iter().map(|range| match range {
        range if range.start == SURROGATES.start => SURROGATES.end..range.end,
        range if range.end == SURROGATES.end => range.start..SURROGATES.start,
        range => range,
    });
    clipped.filter(|range| !range.is_empty()).collect()
}

/// Whether an escape is a class with the same name and meaning in both: a general category, or White_Space.
fn is_same(source: &str) -> bool {
    let name = source.get(2..).and_then(|braces| braces.strip_prefix('{')?.strip_suffix('}'));
    matches!(source, r"\s" | r"\S") || (source[1..].starts_with(['p', 'P']) && name.is_some_and(is_category))
}

/// A set in Oniguruma's spelling; none if a member is not the same there.
fn same_set(source: &str) -> Option<String> {
    let (is_negated, members) = members(source)?;
    let mut same = String::new();
    for member in members {
        match member {
            Member::Class(class) if is_same(&class) => same += &class,
            Member::Class(_) => return None,
            Member::Range(range) => same += &item(range)?,
        }
    }
    Some(format!("[{}{same}]", if is_negated { "^" } else { "" }))
}

/// A range as an item of a set; none if it begins or ends with a surrogate.
fn item(range: Range<u32>) -> Option<String> {
    let (first, last) = (char::from_u32(range.start)?, char::from_u32(range.end - 1)?);
    Some(if first == last { quoted(first) } else { format!("{}-{}", quoted(first), quoted(last)) })
}

/// Whether a character is a letter or a number.
fn is_alphanumeric(character: char) -> bool {
    !matches!(class_of(character.into()), Class::Other | Class::Space | Class::Mark)
}

/// A character, escaped so that it stands for itself in a pattern and in a class of Oniguruma.
fn quoted(character: char) -> String {
    match "nrtfva".chars().find(|&letter| control(letter) == Some(character)) {
        Some(letter) => format!("\\{letter}"),
        None if is_alphanumeric(character) || " '\"_,;:!/<>=@%`".contains(character) => character.into(),
        None => format!("\\x{{{:X}}}", u32::from(character)),
    }
}
