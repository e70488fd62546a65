//! Sets of characters, `[…]`, and escapes for one character, in the dialect of fancy-regex.
//!
//! `regex` has set operations only under its version 1, where `(?i)` also matches one character by several ("ß", "ss");
//! fancy-regex does not. So operations are written with lookaheads, which mean the same in both engines.

use super::cursor::{Cursor, control, is_among, negated};
use super::size::MAX_LENGTH;
use super::tables::Tables;
use crate::error::{Error, Result, show_text};

/// Properties whose names both engines know, beside any script: general categories and a few others.
const PROPERTIES: &str = " l lc lu ll lt lm lo m mn mc me n nd nl no p pc pd ps pe pi pf po s sm sc sk so z zs zl zp c \
     cc cf co cn letter casedletter uppercaseletter lowercaseletter titlecaseletter modifierletter otherletter mark \
     nonspacingmark spacingmark enclosingmark number decimalnumber letternumber othernumber punctuation \
     connectorpunctuation dashpunctuation openpunctuation closepunctuation initialpunctuation finalpunctuation \
     otherpunctuation symbol mathsymbol currencysymbol modifiersymbol othersymbol separator spaceseparator \
     lineseparator paragraphseparator other control format privateuse unassigned any ascii assigned alphabetic \
     lowercase uppercase whitespace emoji ideographic math ";
const POSIX: [(&str, &str); 14] = [
    ("alnum", "0-9A-Za-z"),
    ("alpha", "A-Za-z"),
    ("ascii", r"\x00-\x7f"),
    ("blank", r"\t\ "),
    ("cntrl", r"\x00-\x1f\x7f"),
    ("digit", "0-9"),
    ("graph", "!-~"),
    ("lower", "a-z"),
    ("print", r"\ -~"),
    ("punct", r"!-/:-@\[-`{-~"),
    ("space", r"\t-\r\ "),
    ("upper", "A-Z"),
    ("word", "0-9A-Za-z_"),
    ("xdigit", "0-9A-Fa-f"),
];
/// Letters that `regex` matches with i and I under `(?i)`. By simple case folding, as in fancy-regex, each matches
/// itself alone.
const TURKISH: &str = "\u{130}\u{131}";
/// The maximum number of groups, and of sets, inside each other.
pub(super) const MAX_DEPTH: usize = 100;

/// The meaning of an escape: one character, or a class as it is written.
pub(super) enum Escape {
    Character(char),
    Class(String),
}

/// The error of a construct that has no equal.
pub(super) fn refused(cursor: &Cursor, what: &str, at: usize) -> Error {
    let pattern = show_text(&cursor.whole());
    Error::Pattern(format!(
        "the pattern {pattern} has {what} at character {at}, which has no proven equal in the `regex` package: write it \
         in another way"
    ))
}

/// The error of a pattern with more than [`MAX_DEPTH`] groups or sets inside each other.
pub(super) fn nested(cursor: &Cursor) -> Error {
    Error::Pattern(format!("the pattern {} is nested too deep", show_text(&cursor.whole())))
}

/// A character as it is written, alone or in a set.
fn escaped(character: char) -> String {
    let is_plain = character.is_alphanumeric() || !character.is_ascii() || character == '_';
    if is_plain { character.into() } else { format!("\\{character}") }
}

/// An expression that matches one character, with `folds` in either case.
pub(super) fn single(character: char, folds: bool) -> String {
    let has_cases = !character.to_lowercase().eq(character.to_uppercase());
    match character {
        _ if !folds || TURKISH.contains(character) || !has_cases => escaped(character),
        'i' | 'I' => "[Ii]".into(),
        _ => format!("(?i:{})", escaped(character)),
    }
}

/// What stands in a set: characters, ranges and classes, and whole expressions.
#[derive(Default)]
struct Members {
    items: Vec<String>,
    nested: Vec<String>,
}

/// Reads a set, or an escape, from a place on, and writes it as an expression that matches one character.
pub(super) struct SetReader<'c> {
    pub(super) cursor: &'c mut Cursor,
    /// Whether `(?i)` holds.
    pub(super) folds: bool,
    pub(super) tables: &'c dyn Tables,
}

impl SetReader<'_> {
    fn refuse<T>(&self, what: &str) -> Result<T> {
        self.refuse_at(what, self.cursor.at)
    }

    fn refuse_at<T>(&self, what: &str, at: usize) -> Result<T> {
        Err(refused(self.cursor, what, at))
    }

    /// The set that begins here, including sets inside it.
    pub(super) fn written(&mut self, depth: usize) -> Result<String> {
        if depth > MAX_DEPTH {
            return Err(nested(self.cursor));
        }
        let start = self.cursor.at;
        self.cursor.at += 1;
        let is_negated = self.cursor.take("^");
        let mut members = Members { items: self.first_items(), nested: Vec::new() };
        let (mut left, mut operator) = (String::new(), "");
        while !self.cursor.take("]") {
            if self.cursor.is_end() {
                return self.refuse_at("a [ without its ]", start);
            }
            if let Some(sign) = ["&&", "--", "~~"].into_iter().find(|sign| self.cursor.next_is(sign)) {
                let right = self.union(std::mem::take(&mut members))?;
                left = self.combined(&left, operator, right)?;
                operator = sign;
                self.cursor.at += 2;
            } else {
                self.item(&mut members, depth)?;
            }
        }
        if operator.is_empty() && members.nested.is_empty() {
            return self.leaf(&members.items, is_negated);
        }
        let right = self.union(members)?;
        let whole = self.combined(&left, operator, right)?;
        Ok(if is_negated { format!("(?:(?!{whole})(?s:.))") } else { whole })
    }

    /// Writes an operation on two sets. A symmetric difference writes both sides twice: its size is limited.
    fn combined(&self, left: &str, operator: &str, right: String) -> Result<String> {
        let written = match operator {
            "&&" => format!("(?:(?={left}){right})"),
            "--" => format!("(?:(?!{right}){left})"),
            "~~" => format!("(?:(?!{right}){left}|(?!{left}){right})"),
            _ => right,
        };
        match written.chars().count() > MAX_LENGTH {
            true => self.refuse(&format!("operations on sets that take more than {MAX_LENGTH} characters")),
            false => Ok(written),
        }
    }

    /// Reads characters that stand for themselves only at the start of a set: hyphens, or a bracket.
    fn first_items(&mut self) -> Vec<String> {
        let mut items = Vec::new();
        while self.cursor.take("-") {
            items.push(r"\-".into());
        }
        if items.is_empty() && self.cursor.take("]") {
            items.push(r"\]".into());
        }
        items
    }

    /// Writes the union of all members.
    fn union(&self, Members { items, mut nested }: Members) -> Result<String> {
        if !items.is_empty() {
            nested.insert(0, self.leaf(&items, false)?);
        }
        match &*nested {
            [] => self.refuse("an operation on an empty set"),
            [part] => Ok(part.clone()),
            parts => Ok(format!("(?:{})", parts.join("|"))),
        }
    }

    /// Writes a set without sets inside.
    fn leaf(&self, items: &[String], is_negated: bool) -> Result<String> {
        if items.is_empty() {
            return self.refuse("an empty set");
        }
        let set = |items: String| if is_negated { negated(&items) } else { format!("[{items}]") };
        let body = set(items.concat());
        let others: String = items.iter().filter(|item| !TURKISH.contains(&***item)).cloned().collect();
        if !self.folds || others.is_empty() {
            return Ok(body);
        }
        Ok(format!("(?:(?![{TURKISH}])(?i:{})|(?=[{TURKISH}]){body})", set(others)))
    }

    /// Reads a character, a range, a class, or a set.
    fn item(&mut self, members: &mut Members, depth: usize) -> Result<()> {
        if let Some((is_negated, name, len)) = self.cursor.posix() {
            let written = self.cursor.next(len);
            self.cursor.at += len;
            let Some((_, body)) = POSIX.iter().find(|class| class.0 == name) else {
                return self.refuse(&format!("the class {}", show_text(&written)));
            };
            match is_negated {
                true => members.nested.push(self.leaf(&[(*body).to_owned()], true)?),
                false => members.items.push((*body).to_owned()),
            }
            return Ok(());
        }
        if self.cursor.next_is("[") {
            members.nested.push(self.written(depth + 1)?);
            return Ok(());
        }
        self.range(members)
    }

    /// Reads a character, a range, or a class.
    fn range(&mut self, members: &mut Members) -> Result<()> {
        let first = self.character()?;
        let is_hyphen = self.cursor.next_is("-");
        let next = self.cursor.peek(1);
        let first = match first {
            Escape::Character(first) => first,
            Escape::Class(class) => {
                // The class `\h` becomes a set, and a set cannot stand inside a set.
                let list = if class.starts_with('[') { &mut members.nested } else { &mut members.items };
                list.push(class);
                if is_hyphen && !matches!(next, Some(']' | '-')) {
                    return self.refuse("a range that begins with a class");
                }
                return Ok(());
            }
        };
        if !is_hyphen || matches!(next, Some(']' | '-') | None) {
            members.items.push(escaped(first));
            return Ok(());
        }
        self.cursor.at += 1;
        match self.character()? {
            Escape::Character(last) if first <= last && self.folds => {
                members.items.extend(without_turkish(first, last));
            }
            Escape::Character(last) if first <= last => members.items.push(range(first, last)),
            _ => return self.refuse("a range that ends before it begins, or in no character"),
        }
        Ok(())
    }

    /// Reads a character, escaped or not.
    fn character(&mut self) -> Result<Escape> {
        match self.cursor.peek(0) {
            Some('\\') => self.escape(),
            Some('[') => self.refuse("a range that ends in a set"),
            character => {
                self.cursor.at += 1;
                Ok(Escape::Character(character.unwrap_or_default()))
            }
        }
    }

    /// Reads an escape that stands for one character, or for a class of them.
    pub(super) fn escape(&mut self) -> Result<Escape> {
        let start = self.cursor.at;
        if let Some((code, len)) = self.cursor.hex().or_else(|| self.hex_in_braces()) {
            let written = self.cursor.next(len);
            self.cursor.at += len;
            return match char::from_u32(code) {
                Some(character) => Ok(Escape::Character(character)),
                None => self.refuse_at(&format!("the character {written}"), start),
            };
        }
        if let Some(property) = self.property()? {
            return Ok(Escape::Class(property));
        }
        self.cursor.at += 2;
        let letter = self.cursor.text.get(start + 1).copied();
        Ok(match letter {
            Some(letter @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => Escape::Class(format!("\\{letter}")),
            Some('h') => Escape::Class("[0-9A-Fa-f]".into()),
            Some('H') => Escape::Class("[^0-9A-Fa-f]".into()),
            Some('e') => Escape::Character('\x1b'),
            Some(letter) if control(letter).is_some() => Escape::Character(control(letter).unwrap_or(letter)),
            Some(letter)
                if letter.is_ascii() && !letter.is_ascii_alphanumeric() && !matches!(letter, '<' | '>') =>
            {
                Escape::Character(letter)
            }
            _ => {
                let escape = self.cursor.slice(start..start + 2);
                return self.refuse_at(&format!("the escape {}", show_text(&escape)), start);
            }
        })
    }

    /// The number of an escape such as `\x{1F600}`, and its length.
    fn hex_in_braces(&self) -> Option<(u32, usize)> {
        let is_hex = matches!(self.cursor.peek(1), Some('x' | 'u' | 'U')) && self.cursor.peek(2) == Some('{');
        let end = self.cursor.find('}').filter(|_| is_hex && self.cursor.next_is("\\"))?;
        let inside = self.cursor.slice(self.cursor.at + 3..end);
        let digits = inside.trim();
        let is_number =
            (1..=8).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_number.then(|| Some((u32::from_str_radix(digits, 16).ok()?, end + 1 - self.cursor.at)))?
    }

    /// Reads a property, and returns it as `regex` writes it, if both engines are known to read it alike.
    fn property(&mut self) -> Result<Option<String>> {
        let is_big = self.cursor.next_is("\\P");
        if !is_big && !self.cursor.next_is("\\p") {
            return Ok(None);
        }
        let (name, is_negated, len) = match self.cursor.peek(2) {
            Some(letter @ 'A'..='Z') => (letter.to_string(), false, 3),
            Some('{') => {
                let name = self.cursor.run(3, |character| !matches!(character, '{' | '}'));
                let len = 3 + name.chars().count();
                if self.cursor.peek(len) != Some('}') {
                    return Ok(None);
                }
                let plain = name.strip_prefix('^').unwrap_or(&name);
                (plain.to_owned(), name.starts_with('^'), len + 1)
            }
            _ => return Ok(None),
        };
        let written = self.cursor.next(len);
        self.cursor.at += len;
        if self.folds {
            return self.refuse(&format!("the property {} under (?i)", show_text(&written)));
        }
        if !is_known(&name) && !self.is_script(&name)? {
            return self.refuse(&format!("the property {}", show_text(&written)));
        }
        Ok(Some(format!("\\{}{{{name}}}", if is_big != is_negated { 'P' } else { 'p' })))
    }

    /// Whether `regex` knows this name as that of a script.
    fn is_script(&self, name: &str) -> Result<bool> {
        let prefixes = ["script", "sc", "script_extensions", "scx"];
        let script = match name.split_once('=') {
            Some((prefix, script)) if prefixes.iter().any(|known| known.eq_ignore_ascii_case(prefix)) => {
                script
            }
            Some(_) => return Ok(false),
            None => name,
        };
        let is_name =
            !script.is_empty() && script.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        if !is_name {
            return Ok(false);
        }
        match self.tables.matched_among(&format!("\\p{{Script={script}}}"), "") {
            Err(Error::Pattern(_)) => Ok(false),
            matched => matched.map(|_| true),
        }
    }
}

/// Whether a name is among [`PROPERTIES`].
pub(super) fn is_known(name: &str) -> bool {
    let lower = name.to_lowercase();
    let prefix = ["gc=", "general_category="].into_iter().find(|prefix| lower.starts_with(prefix));
    is_among(&lower[prefix.map_or(0, str::len)..].replace('_', ""), PROPERTIES)
}

fn range(first: char, last: char) -> String {
    format!("{}-{}", escaped(first), escaped(last))
}

/// The items of a range, with each Turkish letter as an item of its own.
fn without_turkish(first: char, last: char) -> Vec<String> {
    let inside = TURKISH.chars().filter(|letter| (first..=last).contains(letter)).map(String::from);
    let below = (first < '\u{130}').then(|| range(first, last.min('\u{12f}')));
    let above = (last > '\u{131}').then(|| range(first.max('\u{132}'), last));
    below.into_iter().chain(inside).chain(above).collect()
}
