//! Matchers: they find a literal, characters of a kind, or a pattern in a text.

use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;
use unicode_categories::UnicodeCategories;

use super::pretokenizer::{Pattern, Pretokenizer, Unmatched};
use super::script_table::SCRIPTS;
use super::splitter::Splitter;
use crate::error::Result;

/// A kind of characters, by the Unicode tables of the standard library and, for punctuation, of
/// `unicode_categories`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharKind {
    /// Numbers: Nd, Nl and No.
    Numeric,
    /// White_Space.
    Whitespace,
    /// ASCII punctuation, and the categories P*.
    Punctuation,
}

impl CharKind {
    /// `numeric`, `whitespace` or `punctuation`.
    pub const fn name(self) -> &'static str {
        match self {
            CharKind::Numeric => "numeric",
            CharKind::Whitespace => "whitespace",
            CharKind::Punctuation => "punctuation",
        }
    }

    /// Whether a character is of this kind.
    pub fn has(self, character: char) -> bool {
        match self {
            CharKind::Numeric => character.is_numeric(),
            CharKind::Whitespace => character.is_whitespace(),
            CharKind::Punctuation => character.is_ascii_punctuation() || character.is_punctuation(),
        }
    }
}

/// Something that finds matches in a text.
#[derive(Clone)]
pub enum Matcher {
    /// A text that is not empty.
    Literal(Vec<u8>),
    /// Each character of a kind.
    CharKind(CharKind),
    /// Runs of word characters, and runs of what is neither a word character nor whitespace.
    Words,
    /// Runs of characters of one script, without the characters of no script in front.
    Scripts,
    /// A number of characters at a time, at least one; the last match may have fewer.
    Length(usize),
    /// A named pattern, which matches everything, or one that was compiled.
    Pattern(Pattern),
    /// Any pattern that something outside the core runs. Unlike elsewhere, its empty matches count.
    Outside(Arc<dyn Splitter>),
}

impl Matcher {
    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Matcher::Literal(_) => "literal",
            Matcher::CharKind(_) => "kind",
            Matcher::Words => "words",
            Matcher::Scripts => "scripts",
            Matcher::Length(_) => "length",
            Matcher::Pattern(Pattern::Named(..)) => "scanner",
            Matcher::Pattern(_) | Matcher::Outside(_) => "pattern",
        }
    }

    /// Calls `on_match` with each match, in order, in bytes. Invalid UTF-8 is of no kind.
    pub fn find(&self, text: &[u8], on_match: &mut dyn FnMut(Range<usize>) -> Result<()>) -> Result<()> {
        match self {
            Matcher::Literal(literal) => {
                let mut starts = memmem::find_iter(text, literal);
                starts.try_for_each(|start| on_match(start..start + literal.len()))
            }
            Matcher::CharKind(kind) => for_each_character(text, &mut |range, character| {
                if kind.has(character) { on_match(range) } else { Ok(()) }
            }),
            Matcher::Words => find_words(text, on_match),
            Matcher::Scripts => find_scripts(text, on_match),
            Matcher::Length(length) => {
                let (mut start, mut end, mut count) = (0, 0, 0);
                for_each_character(text, &mut |range, _| {
                    if count == *length {
                        on_match(start..end)?;
                        (start, count) = (range.start, 0);
                    }
                    (end, count) = (range.end, count + 1);
                    Ok(())
                })?;
                if count > 0 { on_match(start..end) } else { Ok(()) }
            }
            Matcher::Pattern(pattern) => {
                let pattern = pattern.clone();
                Pretokenizer { pattern, unmatched: Unmatched::Drop }.for_each(text, on_match)
            }
            Matcher::Outside(splitter) => splitter.split(text, &mut |range| on_match(range).map(|()| true)),
        }
    }

    /// Whether the matcher runs without a lock.
    pub(crate) fn is_parallel(&self) -> bool {
        !matches!(self, Matcher::Outside(_))
    }
}

/// Calls `f` with each character and its place. Invalid UTF-8 is passed over.
fn for_each_character(text: &[u8], f: &mut dyn FnMut(Range<usize>, char) -> Result<()>) -> Result<()> {
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            let end = at + character.len_utf8();
            f(at..end, character)?;
            at = end;
        }
        at += chunk.invalid().len();
    }
    Ok(())
}

/// The matches of [`Matcher::Words`]. What is a word character is said by the tables of `regex-syntax`.
fn find_words(text: &[u8], on_match: &mut dyn FnMut(Range<usize>) -> Result<()>) -> Result<()> {
    // The run that ends last, and whether it is one of word characters.
    let mut run: Option<(Range<usize>, bool)> = None;
    for_each_character(text, &mut |range, character| {
        let is_word = regex_syntax::try_is_word_character(character).unwrap_or(false);
        if !is_word && character.is_whitespace() {
            return Ok(());
        }
        match &mut run {
            Some((last, kind)) if last.end == range.start && *kind == is_word => last.end = range.end,
            _ => {
                if let Some((last, _)) = run.replace((range, is_word)) {
                    on_match(last)?;
                }
            }
        }
        Ok(())
    })?;
    run.map_or(Ok(()), |(last, _)| on_match(last))
}

/// The matches of [`Matcher::Scripts`]. A character of any script belongs to the run before it.
fn find_scripts(text: &[u8], on_match: &mut dyn FnMut(Range<usize>) -> Result<()>) -> Result<()> {
    let (mut start, mut last) = (None, ANY);
    for_each_character(text, &mut |range, character| {
        let script = script_of(character);
        if script == ANY || script == last {
            return Ok(());
        }
        last = script;
        start.replace(range.start).map_or(Ok(()), |start| on_match(start..range.start))
    })?;
    start.map_or(Ok(()), |start| on_match(start..text.len()))
}

/// The number of the characters that belong to any script.
const ANY: u8 = 0;

/// Where each run of a script begins: the code point times 256, plus the number of the script.
static STARTS: [u32; SCRIPTS.len()] = {
    let (mut starts, mut at, mut point) = (SCRIPTS, 0, 0);
    while at < starts.len() {
        let run = starts[at];
        starts[at] = point << 8 | run & 0xFF;
        point += (run >> 8) + 1;
        at += 1;
    }
    starts
};

/// The number of the script that a character belongs to.
fn script_of(character: char) -> u8 {
    let code = u32::from(character);
    let behind = STARTS.partition_point(|start| start >> 8 <= code);
    behind.checked_sub(1).map_or(ANY, |at| STARTS[at] as u8)
}
