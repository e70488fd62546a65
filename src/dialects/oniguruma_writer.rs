//! A pattern of the `regex` package, written so that Oniguruma cuts every text at the same places.
//!
//! `tokenizers` runs the patterns of its files in Oniguruma, which reads some of them differently: `$` also matches at
//! the end of a line, `{1,3}+` repeats a repetition, `\w` has other characters, and a character may fold to several. So
//! a pattern is read here in full, and written anew with constructs that mean the same in both (Oniguruma's doc/RE, Ruby
//! syntax, and the documentation of `regex`). A class of characters that is not the same in both is written as the code
//! points that `regex` takes for it. A construct that is not in this module has no proven equal, and is refused by name.

use super::cursor::{Cursor, Flags, Quantifier, control, is_category};
use super::shown::{refused, shown};
use super::tables::{Ranges, Tables};
use crate::error::{Error, Result};
use crate::pretokenize::class::{Class, class_of};

/// Flags of `regex`.
const IGNORE_CASE: u32 = 0x2;
const DOT_ALL: u32 = 0x10;
/// With UNICODE and VERSION0, the defaults.
const ALLOWED: u32 = IGNORE_CASE | DOT_ALL | 0x20 | 0x2000;
/// The maximum number of repetitions; Oniguruma unrolls them.
const MAX_REPEAT: u64 = 1000;
const MAX_DEPTH: usize = 50;
const UNPROVEN: &str = "no equal in Oniguruma is proven";
/// The code points that no text has.
const SURROGATES: std::ops::Range<u32> = 0xD800..0xE000;

/// A part that was read: its spelling for Oniguruma, and the minimum and the maximum of characters that it matches.
struct Part {
    text: String,
    shortest: u64,
    longest: u64,
}

impl Part {
    fn character(text: String) -> Self {
        Part { text, shortest: 1, longest: 1 }
    }

    fn assertion(text: impl Into<String>) -> Self {
        Part { text: text.into(), shortest: 0, longest: 0 }
    }
}

/// The spelling of a pattern for Oniguruma. `flags` are those that the pattern is compiled with.
///
/// # Errors
/// [`crate::Error::Pattern`] names a construct without a proven equal there.
pub fn to_oniguruma(pattern: &str, flags: u32, tables: &dyn Tables) -> Result<String> {
    if flags & !ALLOWED != 0 {
        return Err(refused(format!(
            "the pattern {} has flags {:#x}, which Oniguruma does not have",
            shown(pattern),
            flags & !ALLOWED
        )));
    }
    let is_switch = |switch: &str| switch.trim_start_matches(['s', '-']).starts_with('i');
    let mut reader = Reader {
        cursor: Cursor::new(pattern),
        flags: flags & (IGNORE_CASE | DOT_ALL),
        depth: 0,
        folds: pattern.split("(?").skip(1).any(is_switch),
        tables,
    };
    let part = reader.alternatives()?;
    if let Some(character) = reader.cursor.peek(0) {
        return reader.refuse(&character.to_string(), "a parenthesis without a partner");
    }
    if part.shortest == 0 {
        return Err(refused(format!(
            "the pattern {} can match the empty text, after which Oniguruma continues differently",
            shown(pattern)
        )));
    }
    Ok(part.text)
}

/// Reads a pattern from left to right, once.
struct Reader<'t> {
    cursor: Cursor,
    flags: u32,
    depth: usize,
    /// Whether a part of the pattern ignores case.
    folds: bool,
    tables: &'t dyn Tables,
}

impl Reader<'_> {
    fn refused(&self, construct: &str, why: &str) -> Error {
        let (pattern, construct) = (shown(&self.cursor.whole()), shown(construct));
        refused(format!("the pattern {pattern}: {construct} at {}: {why}", self.cursor.at))
    }

    fn refuse<T>(&self, construct: &str, why: &str) -> Result<T> {
        Err(self.refused(construct, why))
    }

    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn alternatives(&mut self) -> Result<Part> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.refuse("(", "nested too deep");
        }
        let mut whole = self.sequence()?;
        while self.cursor.take("|") {
            let part = self.sequence()?;
            whole = Part {
                text: format!("{}|{}", whole.text, part.text),
                shortest: whole.shortest.min(part.shortest),
                longest: whole.longest.max(part.longest),
            };
        }
        self.depth -= 1;
        Ok(whole)
    }

    fn sequence(&mut self) -> Result<Part> {
        let mut whole = Part::assertion("");
        while self.cursor.peek(0).is_some_and(|next| !"|)".contains(next)) {
            let atom = self.atom()?;
            let part = self.quantified(atom)?;
            whole.text += &part.text;
            whole.shortest = whole.shortest.saturating_add(part.shortest);
            whole.longest = whole.longest.saturating_add(part.longest);
        }
        Ok(whole)
    }

    fn quantified(&mut self, atom: Part) -> Result<Part> {
        let quantifier = self.cursor.quantifier().filter(|quantifier| quantifier.is_complete);
        let Some(Quantifier { text: sign, minimum, maximum, .. }) = quantifier else { return Ok(atom) };
        let mode = self.cursor.peek(sign.len()).filter(|mode| matches!(mode, '?' | '+'));
        let written = self.cursor.next(sign.len() + usize::from(mode.is_some()));
        if atom.shortest == 0 {
            return self
                .refuse(&written, "it repeats what can match nothing, which the two engines end otherwise");
        }
        if minimum.max(maximum.unwrap_or(0)) > MAX_REPEAT || maximum.is_some_and(|maximum| maximum < minimum)
        {
            return self.refuse(&written, &format!("it repeats more than {MAX_REPEAT} times, or not at all"));
        }
        self.cursor.at += written.len();
        let is_exact = maximum == Some(minimum);
        let count = match maximum {
            _ if is_exact => format!("{{{minimum}}}"),
            _ if !sign.starts_with('{') => sign,
            Some(maximum) => format!("{{{minimum},{maximum}}}"),
            None => format!("{{{minimum},}}"),
        };
        let lazy = if mode == Some('?') && !is_exact { "?" } else { "" };
        let text = format!("{}{count}{lazy}", atom.text);
        Ok(Part {
            // Oniguruma reads the + after an interval as one more repetition: an atomic group is the same in both.
            text: if mode == Some('+') { format!("(?>{text})") } else { text },
            shortest: minimum.saturating_mul(atom.shortest),
            longest: maximum.map_or(u64::MAX, |maximum| maximum.saturating_mul(atom.longest)),
        })
    }

    fn atom(&mut self) -> Result<Part> {
        let character = self.cursor.peek(0).unwrap_or_default();
        match character {
            '(' => return self.group(),
            '[' => return self.set(),
            '\\' => return self.escape(),
            '*' | '+' | '?' | '{' => return self.refuse(&character.to_string(), UNPROVEN),
            _ => self.cursor.at += 1,
        }
        match character {
            '^' => Ok(Part::assertion(r"\A")),
            '$' => Ok(Part::assertion(r"\Z")),
            // As a set: Oniguruma searches `.*` after a lookahead only at the starts of lines, and misses matches.
            '.' if self.has(DOT_ALL) => Ok(Part::character(r"[\s\S]".into())),
            '.' => Ok(Part::character(r"[^\n]".into())),
            _ => self.literal(character),
        }
    }

    fn literal(&mut self, character: char) -> Result<Part> {
        let text = match self.has(IGNORE_CASE) {
            true if character.is_ascii_alphanumeric() || !character.is_ascii() => {
                self.listed(&character.to_string())?
            }
            true => self.listed(&format!("\\{character}"))?,
            false => quoted(character),
        };
        Ok(Part::character(text))
    }

    fn group(&mut self) -> Result<Part> {
        let (outer, start) = (self.flags, self.cursor.at);
        let mut kind = ":";
        if let Some(look) = self.cursor.take_any(&["(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"]) {
            kind = &look[2..];
        } else if let Some(len) = self.cursor.named_group() {
            self.cursor.at += len;
        } else if let Some(flags) = self.cursor.flags() {
            self.switch(&flags, start)?;
            self.cursor.at = start + flags.len;
            if flags.end == ')' {
                return Ok(Part::assertion(""));
            }
        } else {
            self.cursor.at += 1;
            if self.cursor.next_is("?") {
                return self.refuse(&self.cursor.slice(start..start + 4), UNPROVEN);
            }
        }
        let part = self.alternatives()?;
        if !self.cursor.take(")") {
            return self.refuse("(", "a parenthesis without a partner");
        }
        self.flags = outer;
        if kind.starts_with('<') && (part.shortest != part.longest || part.text.contains('|')) {
            let why = "what is looked at behind must be of one length, without alternatives";
            return self.refuse(&format!("(?{kind}"), why);
        }
        let text = format!("(?{kind}{})", part.text);
        Ok(if matches!(kind, ":" | ">") { Part { text, ..part } } else { Part::assertion(text) })
    }

    /// Takes the flags of `(?i:…)`, or of `(?i)` at the very start of the pattern.
    fn switch(&mut self, flags: &Flags, start: usize) -> Result<()> {
        self.cursor.at += 1; // where errors say they are
        let off = flags.off.as_deref();
        let are_known = |letters: &str| letters.chars().all(|letter| "is".contains(letter));
        let is_known = are_known(&flags.on) && are_known(off.unwrap_or(""));
        if !is_known || off.map_or(flags.on.is_empty(), str::is_empty) {
            return self.refuse(&self.cursor.slice(start..start + 4), UNPROVEN);
        }
        if flags.end == ')' && start != 0 {
            let written = self.cursor.slice(start..start + flags.len);
            return self.refuse(&written, "flags for the whole pattern stand at its start");
        }
        for (letter, flag) in [('i', IGNORE_CASE), ('s', DOT_ALL)] {
            self.flags |= if flags.on.contains(letter) { flag } else { 0 };
            self.flags &= !if off.is_some_and(|off| off.contains(letter)) { flag } else { 0 };
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<Part> {
        let source = escape(&self.cursor);
        let len = source.chars().count();
        let Some(letter) = source.chars().nth(1) else { return self.refuse("\\", UNPROVEN) };
        if "AZ".contains(letter) {
            self.cursor.at += len;
            return Ok(Part::assertion(if letter == 'A' { r"\A" } else { r"\z" }));
        }
        if "pPsSdDwWh".contains(letter) {
            self.check_case(&source)?;
            let is_same = is_same(&source) && !self.has(IGNORE_CASE);
            let text = if is_same { source } else { self.listed(&source)? };
            self.cursor.at += len;
            return Ok(Part::character(text));
        }
        let character = character(&source).ok_or_else(|| self.refused(&source, UNPROVEN))?;
        self.cursor.at += len;
        self.literal(character)
    }

    /// A class in brackets: unchanged if all its items are the same in both; else listed.
    fn set(&mut self) -> Result<Part> {
        let start = self.cursor.at;
        let items = self.items();
        self.cursor.at = start;
        let Some(items) = items else {
            return self.refuse("[", "a class without an end, or with a class inside");
        };
        let source = format!("[{}]", items.concat());
        self.check_case(&source)?;
        let is_negated = items.first().is_some_and(|item| item == "^");
        let same = match self.has(IGNORE_CASE) {
            true => None,
            false => same_set(&items[usize::from(is_negated)..]),
        };
        let text = match same {
            Some(same) => format!("[{}{same}]", if is_negated { "^" } else { "" }),
            None => self.listed(&source)?,
        };
        self.cursor.at += source.chars().count();
        Ok(Part::character(text))
    }

    /// Reads the items of the class that begins here, with `^` as the first of one that is negated; none for a class of
    /// another kind.
    fn items(&mut self) -> Option<Vec<String>> {
        let cursor = &mut self.cursor;
        cursor.at += 1;
        let mut items: Vec<String> = cursor.take("^").then(|| "^".into()).into_iter().collect();
        let first = cursor.at;
        while !cursor.next_is("]") || cursor.at == first {
            let item = match cursor.peek(0)? {
                '\\' => escape(cursor),
                character => character.to_string(),
            };
            if item == "[" || item == "\\" {
                return None;
            }
            cursor.at += item.chars().count();
            items.push(item);
        }
        Some(items)
    }

    /// Refuses a class that `regex` itself makes smaller if another part of the pattern ignores case.
    ///
    /// When `regex` then looks for the start of a match, it ignores case for all parts (seen in 2026.11.15).
    fn check_case(&self, source: &str) -> Result<()> {
        if !self.folds || self.has(IGNORE_CASE) {
            return Ok(());
        }
        let (exact, folded) = (self.tables.matched(source)?, self.tables.matched(&format!("(?i){source}"))?);
        let is_within = |range: &std::ops::Range<u32>| {
            let last = folded[..folded.partition_point(|other| other.start <= range.start)].last();
            last.is_some_and(|other| range.end <= other.end)
        };
        match exact.iter().all(is_within) {
            true => Ok(()),
            false => self.refuse(source, "beside (?i:…) the package `regex` takes it for less than it says"),
        }
    }

    /// A class of all code points that `regex` matches with an expression for one.
    fn listed(&self, source: &str) -> Result<String> {
        let folds = self.has(IGNORE_CASE);
        let ranges = self.tables.matched(&format!("({}:{source})", if folds { "?i" } else { "?" }))?;
        let ranges = without_surrogates(&ranges);
        if ranges.is_empty() {
            let source = format!("{}{source}", if folds { "(?i)" } else { "" });
            return Err(refused(format!("the class {} has no characters", shown(&source))));
        }
        let point = |code| char::from_u32(code).map(quoted).unwrap_or_default();
        let items = ranges.iter().map(|range| match range.end - range.start {
            1 => point(range.start),
            _ => format!("{}-{}", point(range.start), point(range.end - 1)),
        });
        Ok(format!("[{}]", items.collect::<String>()))
    }
}

/// Ranges of characters; those on both sides of the surrogates are one.
fn without_surrogates(ranges: &Ranges) -> Ranges {
    let mut kept: Ranges = Vec::with_capacity(ranges.len());
    for range in ranges {
        let before = range.start..range.end.min(SURROGATES.start);
        let after = range.start.max(SURROGATES.end)..range.end;
        for part in [before, after].into_iter().filter(|part| part.start < part.end) {
            match kept.last_mut() {
                Some(last) if last.end == SURROGATES.start && part.start == SURROGATES.end => {
                    last.end = part.end
                }
                _ => kept.push(part),
            }
        }
    }
    kept
}

/// The escape that comes next, as it is written; a backslash alone at the end of a pattern.
fn escape(cursor: &Cursor) -> String {
    let len = match (cursor.hex(), cursor.peek(1), cursor.peek(2)) {
        (Some((_, len)), ..) => len,
        (None, Some('p' | 'P'), Some('{')) => {
            let name = cursor.run(3, |character| !matches!(character, '{' | '}')).chars().count();
            if cursor.peek(3 + name) == Some('}') { 4 + name } else { 2 }
        }
        (None, Some('p' | 'P'), Some(letter)) if letter.is_ascii_alphabetic() => 3,
        _ => 2,
    };
    cursor.next(len)
}

/// Whether an escape is a class with the same name and meaning in both: a general category, or White_Space.
fn is_same(source: &str) -> bool {
    let name = source.get(2..).and_then(|braces| braces.strip_prefix('{')?.strip_suffix('}'));
    matches!(source, r"\s" | r"\S") || (source[1..].starts_with(['p', 'P']) && name.is_some_and(is_category))
}

/// The character that an escape stands for; none if it does not stand for one.
fn character(source: &str) -> Option<char> {
    let letter = source.chars().nth(1)?;
    match (control(letter), Cursor::new(source).hex()) {
        (Some(control), _) => Some(control),
        (None, Some((code, _))) => char::from_u32(code),
        (None, None) => (!is_alphanumeric(letter)).then_some(letter),
    }
}

/// The items of a class in Oniguruma's spelling; none if an item is not the same there.
fn same_set(items: &[String]) -> Option<String> {
    let point = |item: &str| match item.starts_with('\\') {
        true => character(item),
        false => item.chars().next(),
    };
    let (mut same, mut at) = (String::new(), 0);
    while at < items.len() {
        if items[at].starts_with('\\') && is_same(&items[at]) {
            same += &items[at];
            at += 1;
            continue;
        }
        let low = point(&items[at])?;
        let is_range = at + 2 < items.len() && items[at + 1] == "-";
        let high = if is_range { point(&items[at + 2])? } else { low };
        same += &quoted(low);
        if high != low {
            same += &format!("-{}", quoted(high));
        }
        at += if is_range { 3 } else { 1 };
    }
    Some(same)
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
