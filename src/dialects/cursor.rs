//! A place in a pattern, and what all dialects write alike: escapes, quantifiers, groups of flags.

use std::ops::Range;

/// The general categories that have the same names and meaning in all dialects.
const CATEGORIES: &str =
    " L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp ";

/// Whether a name is among names that have a space on each side.
pub(super) fn is_among(name: &str, names: &str) -> bool {
    !name.contains(' ') && names.contains(&format!(" {name} "))
}

pub(super) fn is_category(name: &str) -> bool {
    is_among(name, CATEGORIES)
}

/// The control character of a letter behind a backslash.
pub(super) fn control(letter: char) -> Option<char> {
    let letters = [('t', '\t'), ('n', '\n'), ('r', '\r'), ('f', '\x0c'), ('v', '\x0b'), ('a', '\x07')];
    letters.iter().find(|pair| pair.0 == letter).map(|pair| pair.1)
}

/// The character that a letter or a sign stands for behind a backslash, in all dialects.
pub(super) fn escaped(letter: char) -> Option<char> {
    let is_plain = letter.is_ascii() && !letter.is_ascii_alphanumeric();
    control(letter).or(is_plain.then_some(letter))
}

/// An expression for one character that is not in a set, given the items of the set.
///
/// `regex` 2026.11.15 matches every character by a negated set that has a class and the opposite class, such
/// as `[^\s\S]`, which should match none. So a lookahead excludes the items where that could be.
pub(super) fn negated(items: &str) -> String {
    let has = |letters: &str| {
        items.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && letters.contains(char::from(pair[1])))
    };
    if has("dswp") && has("DSWP") { format!("(?:(?![{items}])[\\s\\S])") } else { format!("[^{items}]") }
}

/// A number of any length; one that is too large is the largest.
fn number(digits: &str) -> Option<u64> {
    (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
}

/// A quantifier without its mode.
pub(super) struct Quantifier {
    /// The quantifier as it is written.
    pub(super) text: String,
    pub(super) minimum: u64,
    /// None for no maximum.
    pub(super) maximum: Option<u64>,
    /// Whether it is a sign, or has a number in its braces.
    pub(super) is_complete: bool,
}

/// A group of flags, such as `(?i-s:` or `(?i)`.
pub(super) struct Flags {
    pub(super) on: String,
    pub(super) off: Option<String>,
    /// `:` or `)`.
    pub(super) end: char,
    /// Its length in characters.
    pub(super) len: usize,
}

/// A place in a pattern.
pub(super) struct Cursor {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Self {
        Cursor { text: text.chars().collect(), at: 0 }
    }

    pub(super) fn is_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The character `ahead` characters from here.
    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn next_is(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, character)| self.peek(ahead) == Some(character))
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_next = self.next_is(text);
        self.at += if is_next { text.chars().count() } else { 0 };
        is_next
    }

    /// The whole pattern.
    pub(super) fn whole(&self) -> String {
        self.text.iter().collect()
    }

    /// The first of some texts that comes next.
    pub(super) fn take_any<'t>(&mut self, texts: &[&'t str]) -> Option<&'t str> {
        texts.iter().find(|text| self.take(text)).copied()
    }

    /// The text of a range, cut at the end of the pattern.
    pub(super) fn slice(&self, range: Range<usize>) -> String {
        let end = range.end.min(self.text.len());
        self.text[range.start.min(end)..end].iter().collect()
    }

    /// The next characters, at most `len`.
    pub(super) fn next(&self, len: usize) -> String {
        self.slice(self.at..self.at + len)
    }

    /// The characters from `ahead` on that are of a kind.
    pub(super) fn run(&self, ahead: usize, is_kind: impl Fn(char) -> bool) -> String {
        self.text.iter().skip(self.at + ahead).take_while(|&&character| is_kind(character)).collect()
    }

    /// Where a character is next, from here on.
    pub(super) fn find(&self, character: char) -> Option<usize> {
        (self.at..self.text.len()).find(|&at| self.text[at] == character)
    }

    /// The quantifier that comes next.
    pub(super) fn quantifier(&self) -> Option<Quantifier> {
        let sign = self.peek(0)?;
        if sign != '{' {
            let (minimum, maximum) = (u64::from(sign == '+'), (sign == '?').then_some(1));
            let text = "?*+".contains(sign).then(|| sign.into())?;
            return Some(Quantifier { text, minimum, maximum, is_complete: true });
        }
        let inside = self.run(1, |character| character.is_ascii_digit() || character == ',');
        let (minimum, maximum) =
            inside.split_once(',').map_or((&*inside, None), |(low, high)| (low, Some(high)));
        if self.peek(1 + inside.len()) != Some('}') || maximum.is_some_and(|high| high.contains(',')) {
            return None;
        }
        let is_complete = inside.bytes().any(|byte| byte.is_ascii_digit());
        let minimum = number(minimum).unwrap_or(0);
        let maximum = maximum.map_or(Some(minimum), number);
        Some(Quantifier { text: format!("{{{inside}}}"), minimum, maximum, is_complete })
    }

    pub(super) fn flags(&self) -> Option<Flags> {
        if !self.next_is("(?") {
            return None;
        }
        let letter = |character: char| character.is_ascii_alphabetic();
        let on = self.run(2, letter);
        let mut len = 2 + on.len();
        let off = (self.peek(len) == Some('-')).then(|| self.run(len + 1, letter));
        len += off.as_ref().map_or(0, |off| 1 + off.len());
        let end = self.peek(len).filter(|end| matches!(end, ':' | ')'))?;
        Some(Flags { on, off, end, len: len + 1 })
    }

    /// The length of the opening of a group with a name: `(?<name>` or `(?P<name>`.
    pub(super) fn named_group(&self) -> Option<usize> {
        let lead = ["(?<", "(?P<"].iter().find(|lead| self.next_is(lead))?.len();
        let name = self.run(lead, |character| character.is_ascii_alphanumeric() || character == '_');
        let is_name = !name.is_empty() && !name.as_bytes()[0].is_ascii_digit();
        (is_name && self.peek(lead + name.len()) == Some('>')).then_some(lead + name.len() + 1)
    }

    /// The number of an escape `\xHH`, `\uHHHH` or `\UHHHHHHHH`, and its length in characters.
    pub(super) fn hex(&self) -> Option<(u32, usize)> {
        let digits = match (self.peek(0), self.peek(1)) {
            (Some('\\'), Some('x')) => 2,
            (Some('\\'), Some('u')) => 4,
            (Some('\\'), Some('U')) => 8,
            _ => return None,
        };
        let text = self.next(2 + digits);
        let is_hex = text.len() == 2 + digits && text[2..].bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(&text[2..], 16).ok().map(|code| (code, 2 + digits)))?
    }

    /// A POSIX bracket such as `[:^alpha:]`: whether it is negated, its name, and its length.
    pub(super) fn posix(&self) -> Option<(bool, String, usize)> {
        if !self.next_is("[:") {
            return None;
        }
        let is_negated = self.peek(2) == Some('^');
        let start = 2 + usize::from(is_negated);
        let name = self.run(start, |character| character.is_ascii_lowercase());
        let len = start + name.len();
        let is_closed = self.peek(len) == Some(':') && self.peek(len + 1) == Some(']');
        is_closed.then_some((is_negated, name, len + 2))
    }
}
