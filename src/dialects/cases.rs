//! Letters without regard to case, as Oniguruma's `(?i)` reads them, written without flags.
//!
//! A character matches all that share its simple case folding. Besides, 104 characters fold to two or three
//! ("ß" to "ss"), and match these sequences: as literals, and as members of a class that is not negated. The
//! sequences, as literals that stand together, match the characters. The foldings are those of regex-syntax
//! and of Rust: Oniguruma has none that is newer.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::members::{Tables, joined};
use super::unicode::SyntaxTables;
use crate::error::Result;

/// A character as `regex` reads it, alone or in a set.
pub(super) fn escaped(character: char) -> String {
    match u32::from(character) {
        _ if character.is_ascii_alphanumeric() => character.into(),
        code @ ..0x80 => format!("\\x{code:02x}"),
        code @ ..0x1_0000 => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

/// What a class matches beside its own characters.
pub(super) struct Variants {
    /// Items of a set.
    pub(super) items: String,
    /// Sequences as alternatives.
    pub(super) sequences: String,
    /// How many cased characters the class has.
    pub(super) letters: usize,
}

/// The cases of characters.
pub(super) struct Cases<'t> {
    tables: &'t dyn Tables,
    /// All cased characters.
    cased: String,
    /// By each sequence that single characters fold to, those characters.
    unfoldings: BTreeMap<String, String>,
}

impl<'t> Cases<'t> {
    pub(super) fn new(tables: &'t dyn Tables) -> Result<Self> {
        let ranges = SyntaxTables.matched(r"[\p{Lu}\p{Ll}\p{Lt}\p{CWCM}\p{CWCF}]")?;
        let cased: String = ranges.into_iter().flatten().filter_map(char::from_u32).collect();
        let mut unfoldings = BTreeMap::<String, String>::new();
        for character in cased.chars() {
            let folded = folded(character);
            if folded.chars().nth(1).is_some() {
                unfoldings.entry(folded).or_default().push(character);
            }
        }
        Ok(Cases { tables, cased, unfoldings })
    }

    /// Writes literals that stand together, without regard to case.
    ///
    /// Sequences that single characters fold to are cut from the left, the longer ones first. In a look
    /// behind, each character has variants of one character only.
    pub(super) fn literals(&self, text: &str, is_behind: bool) -> String {
        let text: Vec<char> = text.chars().collect();
        // A character that folds to several begins no sequence of others.
        let key = |&character: &char| {
            let folded = folded(character);
            if folded.chars().nth(1).is_some() { character.into() } else { folded }
        };
        let keys: Vec<String> = text.iter().map(key).collect();
        let (mut written, mut at) = (String::new(), 0);
        while at < text.len() {
            let sequence = [3, 2].into_iter().find_map(|size| {
                let key = keys.get(at..at + size)?.concat();
                self.unfoldings.contains_key(&key).then_some((size, key))
            });
            let (size, key) = sequence.filter(|_| !is_behind).unwrap_or_else(|| (1, folded(text[at])));
            written += &match self.unfoldings.get(&key).filter(|_| !is_behind) {
                None => cases(text[at]),
                Some(unfoldings) => format!("(?:{}|{})", set(unfoldings.chars()), sequence_of(&key)),
            };
            at += size;
        }
        written
    }

    /// What an expression for one character also matches without regard to case.
    pub(super) fn of_class(&self, positive: &str) -> Result<Variants> {
        let places = self.tables.matched_among(&format!("(?V0){positive}"), &self.cased)?;
        let cased: Vec<char> = self.cased.chars().collect();
        let own: BTreeSet<char> = places.into_iter().flatten().map(|at| cased[at as usize]).collect();
        let closed = closed(own.iter().copied());
        let folds_into = |unfoldings: &str| unfoldings.chars().any(|character| closed.contains(&character));
        let mut keys: Vec<(usize, &String, &String)> =
            self.unfoldings.iter().map(|(key, all)| (key.chars().count(), all, key)).collect();
        keys.retain(|(_, unfoldings, _)| folds_into(unfoldings));
        keys.sort();
        let sequences: Vec<String> = keys.into_iter().map(|(.., key)| sequence_of(key)).collect();
        let added = closed.difference(&own).copied();
        Ok(Variants { items: items(added), sequences: sequences.join("|"), letters: own.len() })
    }
}

/// The full case folding of a character. It may be another one of its cases for those that fold to one.
fn folded(character: char) -> String {
    match character {
        'ı' => character.into(),
        'ẞ' => "ss".into(),
        _ => character.to_uppercase().flat_map(char::to_lowercase).collect(),
    }
}

/// Characters, and those with the simple case folding of one of them.
fn closed(members: impl Iterator<Item = char>) -> BTreeSet<char> {
    let mut class = ClassUnicode::new(members.map(|character| ClassUnicodeRange::new(character, character)));
    class.case_fold_simple();
    class.iter().flat_map(|range| range.start()..=range.end()).collect()
}

/// Writes one literal, with its variants of one character.
fn cases(character: char) -> String {
    let variants = closed(std::iter::once(character));
    if variants.len() == 1 { escaped(character) } else { set(variants.into_iter()) }
}

fn sequence_of(key: &str) -> String {
    key.chars().map(cases).collect()
}

fn set(members: impl Iterator<Item = char>) -> String {
    format!("[{}]", members.map(escaped).collect::<String>())
}

/// Writes ordered characters as items of a set, each run of code points as a range.
fn items(ordered: impl Iterator<Item = char>) -> String {
    let one = |code: u32| char::from_u32(code).map(escaped).unwrap_or_default();
    let run = |Range { start, end }: Range<u32>| match end - start {
        1 => one(start),
        2 => one(start) + &one(start + 1),
        _ => format!("{}-{}", one(start), one(end - 1)),
    };
    let codes = ordered.map(u32::from).map(|code| code..code + 1);
    joined(codes.collect()).into_iter().map(run).collect()
}
