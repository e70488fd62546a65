//! Classes of characters, and escapes for one character, in the dialect of Oniguruma.

use super::cases::{Cases, escaped};
use super::cursor::{Cursor, escaped as stands_for, is_among, is_category, negated};
use super::members::Tables;
use crate::error::{Error, Result, show_text};

/// The maximum number of groups and classes inside each other.
pub(super) const MAX_DEPTH: usize = 50;
/// The maximum number of cased characters of all classes together where case is ignored: 100 classes of all
/// letters take a second.
const MAX_LETTERS: usize = 500_000;

/// Word characters in the tables of Oniguruma: outside of classes they include six Latin-1 numbers; joiners
/// are never word characters.
pub(super) const WORD_IN_CLASS: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}";
pub(super) const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\xb2\xb3\xb9\xbc-\xbe";
const HEX: &str = "0-9A-Fa-f";
const SCRIPTS: &str = " Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul \
     Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai Tibetan ";
const POSIX: [(&str, &str); 14] = [
    ("alnum", r"\p{Alphabetic}\p{Nd}"),
    ("alpha", r"\p{Alphabetic}"),
    ("ascii", r"\x00-\x7f"),
    ("blank", r"\t\p{Zs}"),
    ("cntrl", r"\p{Cc}"),
    ("digit", r"\p{Nd}"),
    ("graph", r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}"),
    ("lower", r"\p{Lowercase}\u0295"),
    ("print", r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs}"),
    ("punct", r"\p{P}\p{S}"),
    ("space", r"\s"),
    ("upper", r"\p{Uppercase}"),
    ("word", WORD_IN_CLASS),
    ("xdigit", HEX),
];

/// A union of characters and of classes.
#[derive(Clone, Default)]
struct Union {
    items: String,
    nested: Vec<String>,
}

impl Union {
    fn written(&self) -> String {
        let set = (!self.items.is_empty()).then(|| format!("[{}]", self.items));
        let alternatives: Vec<&str> = set.iter().chain(&self.nested).map(String::as_str).collect();
        match *alternatives {
            [only] => only.to_owned(),
            _ => format!("(?:{})", alternatives.join("|")),
        }
    }
}

/// The inside of a class, and whether it takes all other characters instead.
type Class = (String, bool);

/// Reads a pattern's classes and characters from left to right.
pub(super) struct ClassReader<'t> {
    pub(super) cursor: Cursor,
    pub(super) folds: bool,
    tables: &'t dyn Tables,
    cases: Option<Cases<'t>>,
    letters: usize,
    /// The one character of the first class that excludes one.
    excluded: String,
}

impl<'t> ClassReader<'t> {
    pub(super) fn new(pattern: &str, tables: &'t dyn Tables) -> Self {
        let cursor = Cursor::new(pattern);
        ClassReader { cursor, folds: false, tables, cases: None, letters: 0, excluded: String::new() }
    }

    pub(super) fn refuse<T>(&self, what: &str) -> Result<T> {
        self.refuse_at(what, self.cursor.at)
    }

    pub(super) fn refuse_at<T>(&self, what: &str, at: usize) -> Result<T> {
        let (pattern, what) = (show_text(&self.cursor.whole()), printable(what));
        let reason = format!("the pattern {pattern}: {what} (character {at}) has no proven equal here");
        Err(Error::Pattern(reason))
    }

    fn cases(&mut self) -> Result<&Cases<'t>> {
        let cases = match self.cases.take() {
            Some(cases) => cases,
            None => Cases::new(self.tables)?,
        };
        Ok(self.cases.insert(cases))
    }

    /// Writes literals that stand together.
    pub(super) fn literals(&mut self, text: &str, is_behind: bool) -> Result<String> {
        match self.folds && !text.is_empty() {
            true => Ok(self.cases()?.literals(text, is_behind)),
            false => Ok(text.chars().map(escaped).collect()),
        }
    }

    /// Reads an escape of many characters, if one comes next.
    pub(super) fn type_escape(&mut self) -> Result<Option<Class>> {
        let (start, letter) = (self.cursor.at, self.cursor.peek(1).unwrap_or_default());
        if let Some(class) = class(letter.to_ascii_lowercase()) {
            self.cursor.at += 2;
            return Ok(Some((class.to_owned(), letter.is_ascii_uppercase())));
        }
        if !matches!(letter, 'p' | 'P') {
            return Ok(None);
        }
        let is_negated = self.cursor.peek(3) == Some('^');
        let first = 3 + usize::from(is_negated);
        let name = self.cursor.run(first, |c| c.is_ascii_alphabetic() || c == '_');
        let is_property =
            self.cursor.peek(2) == Some('{') && self.cursor.peek(first + name.len()) == Some('}');
        if !is_property || !(is_category(&name) || is_among(&name, SCRIPTS)) {
            let end = self.cursor.find('}').unwrap_or(start) + 1;
            return self.refuse(&format!("the property {}", self.cursor.slice(start..end.min(start + 40))));
        }
        self.cursor.at += first + name.len() + 1;
        Ok(Some((format!("\\p{{{name}}}"), (letter == 'P') != is_negated)))
    }

    /// Reads an escape of one character.
    pub(super) fn character_escape(&mut self) -> Result<char> {
        let letter = self.cursor.peek(1);
        let character = if letter == Some('e') { Some('\x1b') } else { letter.and_then(stands_for) };
        let Some((character, len)) = character.map(|character| (character, 2)).or_else(|| self.hex()) else {
            return self.refuse(&format!("the escape \\{}", letter.map(String::from).unwrap_or_default()));
        };
        self.cursor.at += len;
        Ok(character)
    }

    /// The character of an escape such as `\x{1F600}`, `\x41` or `\u4e00`, and its length.
    fn hex(&self) -> Option<(char, usize)> {
        let is_known = |&(code, len): &(u32, usize)| len == 6 || (len == 4 && code < 0x80);
        let (code, len) = self.cursor.hex().filter(is_known).or_else(|| {
            let digits = self.cursor.run(3, |character| character.is_ascii_hexdigit());
            let len = digits.len() + 4;
            let is_braced = self.cursor.next_is(r"\x{") && self.cursor.peek(len - 1) == Some('}');
            let is_short = is_braced && (1..=6).contains(&digits.len());
            is_short.then_some((u32::from_str_radix(&digits, 16).ok()?, len))
        })?;
        Some((char::from_u32(code)?, len))
    }

    /// Reads the class that begins here. Case is folded in the whole, before it is negated.
    pub(super) fn char_class(&mut self, depth: usize) -> Result<String> {
        let (mut positive, is_negated) = self.class_inside(depth)?;
        let mut sequences = String::new();
        if self.folds {
            let variants = self.cases()?.of_class(&positive.written())?;
            self.letters += variants.letters;
            if self.letters > MAX_LETTERS {
                return self
                    .refuse(&format!("classes of more than {MAX_LETTERS} letters without regard to case"));
            }
            positive.items += &variants.items;
            sequences = variants.sequences;
        }
        match (is_negated, sequences.is_empty()) {
            (true, _) => Ok(self.negation(&positive)),
            (false, true) => Ok(positive.written()),
            (false, false) => Ok(format!("(?:{}|{sequences})", positive.written())),
        }
    }

    /// An expression for any character that a class does not list.
    ///
    /// `regex` 2026.11.15 reads alternatives that each exclude one character, such as `[^a]|[^b]`, as
    /// `[^ab]`. So only one character of a pattern is excluded by a set.
    fn negation(&mut self, positive: &Union) -> String {
        let items = &positive.items;
        if !positive.nested.is_empty() {
            return format!("(?:(?!{})[\\s\\S])", positive.written());
        }
        if !is_one(items) {
            return negated(items);
        }
        if self.excluded.is_empty() {
            self.excluded.clone_from(items);
        }
        match *items == self.excluded {
            true => format!("[^{items}]"),
            false => format!("(?:(?![{items}])[\\s\\S])"),
        }
    }

    /// Reads the characters that a class lists, and whether it takes all others instead.
    fn class_inside(&mut self, depth: usize) -> Result<(Union, bool)> {
        if depth > MAX_DEPTH {
            return self.refuse(&format!("more than {MAX_DEPTH} classes inside each other"));
        }
        let start = self.cursor.at;
        self.cursor.at += 1;
        let is_negated = self.cursor.take("^");
        if self.cursor.next_is("]") {
            return self.refuse_at("an empty class, or one that begins with ],", start);
        }
        let mut looks = String::new();
        let mut last = self.union(depth, start)?;
        while self.cursor.take("&&") {
            looks += &format!("(?={})", last.written());
            last = self.union(depth, start)?;
        }
        self.cursor.at += 1;
        if looks.is_empty() {
            return Ok((last, is_negated));
        }
        let both = format!("(?:{looks}{})", last.written());
        Ok((Union { items: String::new(), nested: vec![both] }, is_negated))
    }

    /// Reads what stands up to the end of a class, or up to `&&`.
    fn union(&mut self, depth: usize, start: usize) -> Result<Union> {
        let mut union = Union::default();
        while !self.cursor.next_is("]") && !self.cursor.next_is("&&") {
            if self.cursor.is_end() {
                return self.refuse_at("a class without an end", start);
            }
            if self.cursor.next_is("[") && !self.cursor.next_is("[:") {
                let (inner, is_negated) = self.class_inside(depth + 1)?;
                union.nested.push(if is_negated { self.negation(&inner) } else { inner.written() });
                continue;
            }
            let class = match self.cursor.peek(0) {
                Some('[') => Some(self.posix()?),
                Some('\\') => self.type_escape()?,
                _ => None,
            };
            match class {
                None => union.items += &self.range()?,
                Some((class, false)) => union.items += &class,
                // One escape has a negation of its own.
                Some((class, true)) if class == r"\s" => union.items += r"\S",
                Some((class, true))
                    if class.starts_with(r"\p") && class.find('}') == Some(class.len() - 1) =>
                {
                    union.items += &class.replace(r"\p", r"\P");
                }
                Some((class, true)) => union.nested.push(format!("[^{class}]")),
            }
        }
        match union.items.is_empty() && union.nested.is_empty() {
            true => self.refuse("an empty side of &&"),
            false => Ok(union),
        }
    }

    fn posix(&mut self) -> Result<Class> {
        let bracket = self.cursor.posix();
        let class = bracket.and_then(|(is_negated, name, len)| {
            Some((POSIX.iter().find(|class| class.0 == name)?.1, is_negated, len))
        });
        let Some((class, is_negated, len)) = class else {
            return self.refuse("a [: that begins no POSIX bracket");
        };
        self.cursor.at += len;
        Ok((class.to_owned(), is_negated))
    }

    fn range(&mut self) -> Result<String> {
        let low = self.class_character()?;
        if !self.cursor.next_is("-") || self.cursor.next_is("-]") || self.cursor.next_is("-&&") {
            return Ok(escaped(low));
        }
        self.cursor.at += 1;
        if self.cursor.next_is("[") {
            return self.refuse("a range up to a class");
        }
        let is_class = |letter: char| class(letter).is_some() || letter == 'p';
        if self.cursor.next_is("\\") && self.cursor.peek(1).is_some_and(|c| is_class(c.to_ascii_lowercase()))
        {
            return self.refuse("a range up to a property");
        }
        let high = self.class_character()?;
        match high.cmp(&low) {
            std::cmp::Ordering::Less => self.refuse(&format!("the range {low}-{high}, which is empty,")),
            std::cmp::Ordering::Equal => Ok(escaped(low)),
            std::cmp::Ordering::Greater => Ok(format!("{}-{}", escaped(low), escaped(high))),
        }
    }

    fn class_character(&mut self) -> Result<char> {
        match self.cursor.peek(0) {
            None => self.refuse("a class without an end"),
            Some('\\') => self.character_escape(),
            Some(character) => {
                self.cursor.at += 1;
                Ok(character)
            }
        }
    }
}

/// The inside of a class for an escape of many characters, by its letter in lower case.
fn class(letter: char) -> Option<&'static str> {
    Some(match letter {
        's' => r"\s",
        'd' => r"\p{Nd}",
        'w' => WORD_IN_CLASS,
        'h' => HEX,
        _ => return None,
    })
}

/// Whether the items of a set are one character, written once or more often.
fn is_one(items: &str) -> bool {
    let len = match items.as_bytes() {
        [b'\\', b'x', ..] => 4,
        [b'\\', b'u', ..] => 6,
        [b'\\', b'U', ..] => 10,
        [b'\\', ..] | [] => return false,
        _ => items.chars().next().map_or(0, char::len_utf8),
    };
    items.get(..len).is_some_and(|first| items == first.repeat(items.len() / len))
}

/// A part of a pattern, with an escape for each character that a terminal could obey.
fn printable(text: &str) -> String {
    let shown = |character: char| match character {
        '\\' | '"' | '\'' => character.to_string(),
        _ => character.escape_debug().to_string(),
    };
    text.chars().map(shown).collect()
}
