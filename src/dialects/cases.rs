//! Letters without regard to case, as Oniguruma's `(?i)` reads them, written without flags.
//!
//! A character matches all that share its simple case folding, by the tables of `regex`, except that "İ" and "ı" are
//! no cases of "i". Besides, 104 characters fold to two or three ("ß" to "ss"), and match these sequences: as literals,
//! and as members of a class that is not negated. The sequences, as literals that stand together, match the characters.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::tables::Tables;
use crate::error::Result;

/// Letters with cases in `regex` alone: those of Turkish, and those whose other cases are newer than Oniguruma's Unicode,
/// such as a letter that Unicode 18 has for "ß".
const ALONE: &str = "\u{130}\u{131}\u{277}\u{27c}\u{a7d3}\u{a7d5}\u{ab4b}\u{ab4c}\u{1df95}";

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
#[derive(Clone)]
pub(super) struct Variants {
    /// Items of a set.
    pub(super) items: String,
    /// Sequences as alternatives.
    pub(super) sequences: String,
    /// How many cased characters the class has.
    pub(super) letters: usize,
}

/// The cases of characters. What was asked of `regex` is kept.
pub(super) struct Cases<'t> {
    tables: &'t dyn Tables,
    /// All cased characters.
    cased: Vec<char>,
    /// The full case folding of those that have another one.
    folding: HashMap<char, String>,
    /// By each sequence that single characters fold to, those characters.
    unfoldings: BTreeMap<String, String>,
    variants: HashMap<char, String>,
    classes: HashMap<String, Variants>,
}

impl<'t> Cases<'t> {
    pub(super) fn new(tables: &'t dyn Tables) -> Result<Self> {
        let ranges = tables.matched(r"[\p{Lu}\p{Ll}\p{Lt}\p{CWCM}\p{CWCF}]")?;
        let cased: Vec<char> = ranges.into_iter().flatten().filter_map(char::from_u32).collect();
        let mut unfoldings = BTreeMap::<String, String>::new();
        let mut folding = HashMap::new();
        for (&character, folded) in cased.iter().zip(tables.folded(&cased.iter().collect::<String>())?) {
            if folded.chars().nth(1).is_some() {
                unfoldings.entry(folded.clone()).or_default().push(character);
            }
            folding.insert(character, folded);
        }
        Ok(Cases { tables, cased, folding, unfoldings, variants: HashMap::new(), classes: HashMap::new() })
    }

    fn folded(&self, character: char) -> String {
        self.folding.get(&character).cloned().unwrap_or_else(|| character.into())
    }

    /// Writes literals that stand together, without regard to case.
    ///
    /// Sequences that single characters fold to are cut from the left, the longer ones first. In a look behind, each
    /// character has variants of one character only.
    pub(super) fn literals(&mut self, text: &str, is_behind: bool) -> Result<String> {
        let text: Vec<char> = text.chars().collect();
        let folded: Vec<String> = text.iter().map(|&character| self.folded(character)).collect();
        // A character that folds to several begins no sequence of others.
        let key = |at: usize| match folded[at].chars().count() {
            1 => folded[at].clone(),
            _ => text[at].into(),
        };
        let keys: Vec<String> = (0..text.len()).map(key).collect();
        let (mut written, mut at) = (String::new(), 0);
        while at < text.len() {
            let sequence = [3, 2].into_iter().filter(|_| !is_behind).find_map(|size| {
                let key = keys.get(at..at + size)?.concat();
                self.unfoldings.contains_key(&key).then_some((size, key))
            });
            let (size, key) = sequence.unwrap_or_else(|| (1, folded[at].clone()));
            match self.unfoldings.get(&key).filter(|_| !is_behind).cloned() {
                None => written += &self.cases(text[at])?,
                Some(unfoldings) => {
                    written += &format!("(?:{}|{})", set(unfoldings.chars()), self.sequence(&key)?);
                }
            }
            at += size;
        }
        Ok(written)
    }

    /// Writes one literal, with its variants of one character.
    fn cases(&mut self, character: char) -> Result<String> {
        if self.cased.binary_search(&character).is_err() {
            return Ok(escaped(character));
        }
        if let Some(written) = self.variants.get(&character) {
            return Ok(written.clone());
        }
        let variants = self.closed(BTreeSet::from([character]))?;
        let written = if variants.len() == 1 { escaped(character) } else { set(variants.into_iter()) };
        self.variants.insert(character, written.clone());
        Ok(written)
    }

    fn sequence(&mut self, key: &str) -> Result<String> {
        key.chars().map(|character| self.cases(character)).collect()
    }

    /// Characters, and the cased ones with the simple case folding of one of them.
    fn closed(&self, members: BTreeSet<char>) -> Result<BTreeSet<char>> {
        let (alone, others): (BTreeSet<char>, BTreeSet<char>) =
            members.iter().partition(|&&character| ALONE.contains(character));
        if others.is_empty() {
            return Ok(alone);
        }
        let matched = self.matched(&format!("(?V0)(?i)[{}]", items(others.iter().copied())))?;
        let is_other = |character: &char| !ALONE.contains(*character) || alone.contains(character);
        Ok(members.iter().copied().chain(matched).filter(is_other).collect())
    }

    /// The cased characters that an expression for one character matches.
    fn matched(&self, source: &str) -> Result<Vec<char>> {
        let places = self.tables.matched_among(source, &self.cased.iter().collect::<String>())?;
        Ok(places.into_iter().flatten().map(|at| self.cased[at as usize]).collect())
    }

    /// What an expression for one character also matches without regard to case.
    pub(super) fn of_class(&mut self, positive: &str) -> Result<Variants> {
        if let Some(variants) = self.classes.get(positive) {
            return Ok(variants.clone());
        }
        let own = self.matched(&format!("(?V0){positive}"))?;
        let own: BTreeSet<char> = own.into_iter().collect();
        let closed = self.closed(own.clone())?;
        let folds_into = |unfoldings: &str| unfoldings.chars().any(|character| closed.contains(&character));
        let mut sequences: Vec<String> = Vec::new();
        let keys = self.unfoldings.iter().filter(|(_, unfoldings)| folds_into(unfoldings));
        let mut keys: Vec<(usize, char, String)> = keys
            .map(|(key, all)| (key.chars().count(), all.chars().next().unwrap_or_default(), key.clone()))
            .collect();
        keys.sort();
        for (_, _, key) in keys {
            sequences.push(self.sequence(&key)?);
        }
        let added = closed.difference(&own).copied();
        let variants = Variants { items: items(added), sequences: sequences.join("|"), letters: own.len() };
        self.classes.insert(positive.to_owned(), variants.clone());
        Ok(variants)
    }
}

fn set(members: impl Iterator<Item = char>) -> String {
    format!("[{}]", members.map(escaped).collect::<String>())
}

/// Writes ordered characters as items of a set, each run of code points as a range.
fn items(ordered: impl Iterator<Item = char>) -> String {
    let mut runs: Vec<(char, char)> = Vec::new();
    for character in ordered {
        match runs.last_mut() {
            Some((_, last)) if u32::from(*last) + 1 == u32::from(character) => *last = character,
            _ => runs.push((character, character)),
        }
    }
    let run = |(first, last): (char, char)| match u32::from(last) - u32::from(first) {
        0 => escaped(first),
        1 => escaped(first) + &escaped(last),
        _ => format!("{}-{}", escaped(first), escaped(last)),
    };
    runs.into_iter().map(run).collect()
}
