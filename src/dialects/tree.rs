//! Patterns of the `regex` package as trees, which are compiled ([`super::automaton`]) or written for
//! Oniguruma ([`super::oniguruma_writer`]).
//!
//! A tree has what one of the two takes: characters and sets, sequences, alternatives, repeats of the three
//! kinds, groups, looks, and the ends of the text. All else is refused by name.

use indexmap::IndexSet;

use super::cursor::{Cursor, Quantifier, escaped};
use super::members::{CODE_POINTS, SET_OPERATORS, class};
use super::written::IF_NONEMPTY;
use crate::error::{Error, Result};
use crate::pretokenize::compiled::Repeat;

/// The maximum number of groups inside each other: reading, writing and freeing a tree need stack for each.
const MAX_DEPTH: usize = 60;

/// Flags of `regex`. UNICODE is the default; under version 1 sets may be nested.
pub(super) const IGNORECASE: u32 = 0x2;
pub(super) const DOTALL: u32 = 0x10;
pub(super) const UNICODE: u32 = 0x20;
pub(super) const VERSION0: u32 = 0x2000;
const VERSION1: u32 = 0x100;
pub(super) const FULLCASE: u32 = 0x4000;
const KNOWN_FLAGS: u32 = IGNORECASE | DOTALL | UNICODE | VERSION0 | VERSION1 | FULLCASE;

/// A part of a pattern.
pub(super) enum Node {
    /// A character of the set of this number.
    Set(usize),
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
    /// The end of the text, or the place before a newline that ends it.
    LineEnd,
    Sequence(Vec<Node>),
    Alternatives(Vec<Node>),
    Repeated(Box<Node>, Quantifier, Repeat),
    Group(Box<Node>),
    /// A group that keeps its first match.
    Atomic(Box<Node>),
    /// What must, or must not, follow or come before; with its opening, such as `(?=`.
    Look(&'static str, Box<Node>),
}

/// The flags "i" and "s" that hold at a place.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Letters {
    pub(super) i: bool,
    pub(super) s: bool,
}

/// What matches one character.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum CharacterSource {
    /// A code point, which may be a surrogate.
    Character(u32),
    /// A dot, the escape of a class, or a set, as it is written.
    Set(String),
}

/// A pattern.
pub(super) struct Tree {
    pub(super) whole: Node,
    /// The sets, each with the flags that hold there. The first one is the newline.
    pub(super) sets: IndexSet<(CharacterSource, Letters)>,
    pub(super) version1: bool,
    /// The first part that the compiled engine does not take, and its place.
    pub(super) irregular: Option<String>,
}

impl Tree {
    /// Reads a pattern. `flags` are those of the pattern that `regex` has compiled.
    pub(super) fn read(pattern: &str, flags: u32) -> Result<Self> {
        let mut cursor = Cursor::new(pattern);
        let flags = flags | first_flags(&mut cursor);
        let mut reader = Reader {
            cursor,
            depth: 0,
            version1: flags & VERSION1 != 0,
            full_folding: flags & (VERSION1 | FULLCASE) != 0,
            sets: IndexSet::new(),
            irregular: None,
        };
        if flags & !KNOWN_FLAGS != 0 {
            return reader.refuse("flags beside i, s, u, V0 and V1");
        }
        reader.set(CharacterSource::Character('\n'.into()), Letters::default())?;
        let whole = reader.alternatives(Letters { i: flags & IGNORECASE != 0, s: flags & DOTALL != 0 })?;
        if !reader.cursor.is_end() {
            return reader.refuse("a ) that closes nothing");
        }
        let Reader { sets, version1, irregular, .. } = reader;
        Ok(Tree { whole, sets, version1, irregular })
    }
}

/// Passes over flags for the whole pattern, if it begins with them, and returns them.
fn first_flags(cursor: &mut Cursor) -> u32 {
    let mut flags = 0;
    if cursor.take("(?") {
        while let Some(letter) = cursor.take_any(&["i", "s", "u", "V0", "V1"]) {
            flags |= match letter {
                "i" => IGNORECASE,
                "s" => DOTALL,
                "V1" => VERSION1,
                _ => 0, // the defaults
            };
        }
        if cursor.at == 2 || !cursor.take(")") {
            (cursor.at, flags) = (0, 0);
        }
    }
    flags
}

/// One pass over a pattern.
struct Reader {
    cursor: Cursor,
    depth: usize,
    version1: bool,
    full_folding: bool,
    sets: IndexSet<(CharacterSource, Letters)>,
    irregular: Option<String>,
}

impl Reader {
    fn refuse<T>(&self, what: &str) -> Result<T> {
        Err(Error::Pattern(format!("{what}, at character {}", self.cursor.at)))
    }

    // Structure

    /// Reads up to the end of a group, or of the pattern.
    fn alternatives(&mut self, letters: Letters) -> Result<Node> {
        let mut branches = vec![self.sequence(letters)?];
        while self.cursor.take("|") {
            branches.push(self.sequence(letters)?);
        }
        Ok(one_or(Node::Alternatives, branches))
    }

    fn sequence(&mut self, letters: Letters) -> Result<Node> {
        let mut parts = Vec::new();
        while self.cursor.peek(0).is_some_and(|character| !"|)".contains(character)) {
            let part = self.part(letters)?;
            parts.push(self.repeated(part)?);
        }
        Ok(one_or(Node::Sequence, parts))
    }

    /// Reads one part, without its repeat.
    fn part(&mut self, letters: Letters) -> Result<Node> {
        let character = self.cursor.peek(0).unwrap_or_default();
        match character {
            '(' => return self.group(letters),
            '\\' => return self.escape(letters),
            '[' => {
                let source = self.set_source()?;
                return self.set(CharacterSource::Set(source), letters);
            }
            '*' | '+' | '?' | '{' => return self.refuse(&format!("a bare {character}")),
            '^' => return Ok(self.start(1)),
            _ => self.cursor.at += 1,
        }
        match character {
            '$' => Ok(Node::LineEnd),
            '.' => self.set(CharacterSource::Set(".".into()), letters),
            _ => self.set(CharacterSource::Character(character.into()), letters),
        }
    }

    /// Passes over an anchor of `len` characters.
    fn start(&mut self, len: usize) -> Node {
        self.note("a look at the start of the text");
        self.cursor.at += len;
        Node::Start
    }

    /// Notes what the compiled engine does not take.
    fn note(&mut self, what: &str) {
        let at = self.cursor.at;
        self.irregular.get_or_insert_with(|| format!("{what}, at character {at}"));
    }

    /// The repeat that comes next, of counts of at most six digits.
    fn next_repeat(&self) -> Option<Quantifier> {
        let is_short = |count: &str| count.len() <= 6;
        self.cursor
            .quantifier()
            .filter(|repeat| repeat.text.trim_matches(['{', '}']).split(',').all(is_short))
    }

    fn repeated(&mut self, part: Node) -> Result<Node> {
        let Some(repeat) = self.next_repeat() else { return Ok(part) };
        if matches!(part, Node::Look(..) | Node::Start | Node::End | Node::LineEnd) {
            return self.refuse("a repeat of what takes no character");
        }
        if !repeat.is_complete {
            return self.refuse("braces without a number");
        }
        if repeat.maximum.is_some_and(|maximum| maximum < repeat.minimum.max(1)) {
            return self.refuse("a repeat of at most nothing");
        }
        self.cursor.at += repeat.text.len();
        let kind = match self.cursor.take_any(&["+", "?"]) {
            Some("+") => Repeat::Possessive,
            Some(_) => Repeat::Lazy,
            None => Repeat::Greedy,
        };
        if self.next_repeat().is_some() {
            return self.refuse("a repeat of a repeat");
        }
        Ok(Node::Repeated(Box::new(part), repeat, kind))
    }

    fn group(&mut self, letters: Letters) -> Result<Node> {
        if self.cursor.next_is("(?<=") || self.cursor.next_is("(?<!") {
            self.note("a look behind");
        }
        let opening = self.cursor.take_any(&["(?>", "(?=", "(?!", "(?<=", "(?<!"]);
        let inner = if opening.is_some() { letters } else { self.opening(letters)? };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.refuse(&format!("more than {MAX_DEPTH} groups inside each other"));
        }
        let inner = Box::new(self.alternatives(inner)?);
        self.depth -= 1;
        if !self.cursor.take(")") {
            return self.refuse("a ( that is not closed");
        }
        Ok(match opening {
            None => Node::Group(inner),
            Some("(?>") => Node::Atomic(inner),
            Some(look) => Node::Look(look, inner),
        })
    }

    /// Reads the opening of a plain group; returns the flags that hold in it.
    fn opening(&mut self, letters: Letters) -> Result<Letters> {
        if self.cursor.next_is("(*") {
            return self.refuse("a verb");
        }
        if !self.cursor.next_is("(?") {
            self.cursor.at += 1;
            return Ok(letters);
        }
        if let Some(len) = self.cursor.named_group() {
            self.cursor.at += len;
            return Ok(letters);
        }
        let is_lower = |flags: &str| flags.bytes().all(|letter| letter.is_ascii_lowercase());
        match self.cursor.flags() {
            Some(flags) if flags.end == ':' && is_lower(&flags.on) => {
                let off = flags.off.as_deref();
                if off.is_none_or(|off| !off.is_empty() && is_lower(off)) {
                    let inner = self.scoped(letters, &flags.on, off.unwrap_or(""));
                    self.cursor.at += flags.len;
                    return inner;
                }
            }
            _ if self.cursor.next_is(IF_NONEMPTY) => return Err(Error::Pattern("matches of nothing".into())),
            _ => (),
        }
        self.refuse(&format!("a group that begins with {}", self.cursor.next(4)))
    }

    fn scoped(&self, letters: Letters, on: &str, off: &str) -> Result<Letters> {
        if !on.chars().chain(off.chars()).all(|flag| "is".contains(flag)) {
            return self.refuse("flags beside i and s");
        }
        let holds = |was: bool, flag| (was || on.contains(flag)) && !off.contains(flag);
        Ok(Letters { i: holds(letters.i, 'i'), s: holds(letters.s, 's') })
    }

    // Characters

    fn escape(&mut self, letters: Letters) -> Result<Node> {
        if self.cursor.next_is(r"\A") {
            return Ok(self.start(2));
        }
        if self.cursor.take(r"\Z") {
            return Ok(Node::End);
        }
        if let Some(class) = class(&self.cursor) {
            self.cursor.at += class.chars().count();
            return self.set(CharacterSource::Set(class), letters);
        }
        if let Some((code, len)) = self.cursor.hex() {
            if code >= CODE_POINTS {
                return self.refuse("no character of Unicode");
            }
            self.cursor.at += len;
            return self.set(CharacterSource::Character(code), letters);
        }
        let letter = self.cursor.peek(1);
        let Some(character) = letter.and_then(escaped) else {
            return self.refuse(&format!("the escape \\{}", letter.map(String::from).unwrap_or_default()));
        };
        self.cursor.at += 2;
        self.set(CharacterSource::Character(character.into()), letters)
    }

    /// Reads a set as it is written.
    fn set_source(&mut self) -> Result<String> {
        let start = self.cursor.at;
        // The first place of the innermost set, where a bracket stands for itself.
        let (mut depth, mut first) = (0, 0);
        loop {
            let is_nested = depth > 0 && self.cursor.next_is("[");
            if is_nested && (!self.version1 || self.cursor.next_is("[:")) {
                return self.refuse("a [ inside a set");
            }
            if is_nested || depth == 0 {
                self.cursor.at += 1;
                self.cursor.take("^");
                (depth, first) = (depth + 1, self.cursor.at);
            } else if self.cursor.next_is("]") && self.cursor.at > first {
                self.cursor.at += 1;
                (depth, first) = (depth - 1, 0);
                if depth == 0 {
                    return Ok(self.cursor.slice(start..self.cursor.at));
                }
            } else if self.cursor.is_end() {
                return self.refuse("a [ that is not closed");
            } else if self.cursor.next_is("\\") {
                self.cursor.at += 2;
            } else {
                if !self.version1 && SET_OPERATORS.iter().any(|operator| self.cursor.next_is(operator)) {
                    self.note("a set operation without version 1");
                }
                self.cursor.at += 1;
            }
        }
    }

    /// The part that matches a character of a source.
    fn set(&mut self, source: CharacterSource, letters: Letters) -> Result<Node> {
        if letters.i && self.full_folding {
            // "ß" would also match "ss", two characters.
            return self.refuse("the flag i with full case folding, as in version 1");
        }
        let is_set = matches!(source, CharacterSource::Set(_));
        let letters = Letters { s: letters.s && is_set, ..letters };
        Ok(Node::Set(self.sets.insert_full((source, letters)).0))
    }
}

/// The only part of a list, or the list as one part.
fn one_or(all: fn(Vec<Node>) -> Node, mut parts: Vec<Node>) -> Node {
    if parts.len() == 1 { parts.remove(0) } else { all(parts) }
}
