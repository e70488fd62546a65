//! From Oniguruma's regular expressions, the dialect of Hugging Face's files, to those of the `regex`
//! package.
//!
//! Each construct that is translated has a spelling in `regex` that means the same; the two engines are
//! compared in tests/python/regex_dialects/test_oniguruma.py. Any other construct is refused by name.
//! Sources: Oniguruma's doc/RE for its default syntax, and the engine itself as `tokenizers` carries it. The
//! dialects differ more than they seem to: `$` is the end of a line, `{1,3}+` repeats, `\w` has other
//! characters, and `(?i)` folds differently.

use super::cursor::{Cursor, Flags, Quantifier};
use super::members::Tables;
use super::oniguruma_classes::{ClassReader, MAX_DEPTH, WORD, WORD_IN_CLASS};
use super::size;
use super::written::NEWLINE;
use crate::error::{Error, Result, show_text};

/// The maximum number of characters of a pattern.
const MAX_LENGTH: usize = 1 << 14;
/// The maximum number of repetitions of a part: the limit of Oniguruma itself.
const MAX_REPEAT: u64 = 100_000;

const LINE_START: &str = r"(?:\A|(?<=\n)(?!\Z))";
const LINE_END: &str = r"(?=\n|\Z)";

/// A pattern of `regex`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The pattern, for version 0 without flags.
    pub pattern: String,
    /// Whether it may match the empty text.
    pub nullable: bool,
}

/// The pattern of `regex` that means what `pattern` means to Oniguruma.
///
/// # Errors
/// [`crate::Error::Pattern`] names the construct without a proven equal, and its place.
pub fn from_oniguruma(pattern: &str, tables: &dyn Tables) -> Result<Translation> {
    if pattern.chars().count() > MAX_LENGTH {
        return Err(Error::Pattern(format!(
            "the pattern {} has more than {MAX_LENGTH} characters",
            show_text(pattern)
        )));
    }
    let mut reader = Reader {
        classes: ClassReader::new(pattern, tables),
        dot_all: false,
        before: Before::Nothing,
        behind: 0,
    };
    while let Some(options) = options(reader.cursor()).filter(|options| options.end == ')') {
        reader.switch(&options);
    }
    let whole = reader.alternatives(0)?;
    if !reader.cursor().is_end() {
        return reader.classes.refuse("a closing bracket without an opening one");
    }
    let length = whole.pattern.chars().count();
    if length > size::MAX_LENGTH {
        return Err(Error::Pattern(format!(
            "the pattern {} takes {length} characters in the dialect of `regex`, more than {}: write it shorter, or in \
             several steps",
            show_text(pattern),
            size::MAX_LENGTH
        )));
    }
    Ok(Translation { nullable: whole.is_nullable(), pattern: whole.pattern })
}

/// What a pattern has before a place.
///
/// Oniguruma looks for a pattern that begins with a repeated dot only at the starts of lines (with `m`, at
/// one place alone), also if an assertion before the dot rules these out, and so passes over matches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    Character,
    Nothing,
    Start,
    Assertion,
}

/// Whether a part takes a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Always,
    Maybe,
    Never,
}

/// A dot, behind an assertion, that Oniguruma must not see repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dot {
    None,
    Single,
    Repeated,
}

/// A part of a pattern.
#[derive(Clone)]
struct Atom {
    pattern: String,
    takes: Takes,
    dot: Dot,
    /// The characters of a part that has nothing else.
    literals: String,
    /// Those of a group of several, which may join the parts before and behind it.
    parts: Vec<Atom>,
}

impl Atom {
    fn new(pattern: String, takes: Takes) -> Self {
        Atom { pattern, takes, dot: Dot::None, literals: String::new(), parts: Vec::new() }
    }

    /// A part of others, all or one of which it takes.
    fn of(pattern: String, is_nullable: bool, parts: Vec<Atom>) -> Self {
        let takes = if is_nullable { Takes::Maybe } else { Takes::Always };
        Atom { parts, ..Atom::new(pattern, takes) }
    }

    fn is_nullable(&self) -> bool {
        self.takes != Takes::Always
    }
}

/// Reads a pattern from left to right, and writes its translation.
struct Reader<'t> {
    classes: ClassReader<'t>,
    dot_all: bool,
    before: Before,
    /// How many looks behind are open.
    behind: usize,
}

impl Reader<'_> {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.classes.cursor
    }

    /// Reads options. In Ruby's syntax, `m` lets a dot match a newline.
    fn switch(&mut self, options: &Flags) {
        self.cursor().at += options.len;
        let off = options.off.as_deref().unwrap_or("");
        let holds = |was: bool, flag| !off.contains(flag) && (was || options.on.contains(flag));
        (self.classes.folds, self.dot_all) = (holds(self.classes.folds, 'i'), holds(self.dot_all, 'm'));
    }

    /// Reads alternatives. The parts of a single one are kept.
    fn alternatives(&mut self, depth: usize) -> Result<Atom> {
        if depth > MAX_DEPTH {
            return self.classes.refuse(&format!("more than {MAX_DEPTH} groups inside each other"));
        }
        let before = self.before;
        let mut branches = vec![self.sequence(depth)?];
        let mut end = self.before;
        while self.cursor().take("|") {
            self.before = before;
            branches.push(self.sequence(depth)?);
            end = either(end, self.before);
        }
        self.before = end;
        if branches.len() == 1 {
            return Ok(branches.remove(0));
        }
        let patterns: Vec<&str> = branches.iter().map(|branch| &*branch.pattern).collect();
        Ok(Atom::of(patterns.join("|"), branches.iter().any(Atom::is_nullable), Vec::new()))
    }

    /// Reads one alternative. The parts are those of Oniguruma, which folds the case of neighbouring
    /// literals.
    fn sequence(&mut self, depth: usize) -> Result<Atom> {
        let mut parts: Vec<Atom> = Vec::new();
        let mut extends = false; // the last part is a string that goes on at the next literal
        while self.cursor().peek(0).is_some_and(|next| !"|)".contains(next)) {
            let (is_group, before) = (self.cursor().next_is("("), self.before);
            let atom = self.atom(depth)?;
            let end = self.cursor().at;
            let mut part = self.repeats(atom, before)?;
            let is_string = !part.literals.is_empty() && !is_group;
            if extends && is_string {
                let start = parts.pop().map(|last| last.literals).unwrap_or_default();
                part.literals = start + &part.literals;
            }
            extends = is_string && self.cursor().at == end;
            match parts.is_empty() || part.parts.is_empty() {
                true => parts.push(part),
                false => parts.append(&mut part.parts),
            }
        }
        Ok(Atom::of(self.joined(&parts)?, parts.iter().all(Atom::is_nullable), parts))
    }

    fn joined(&mut self, parts: &[Atom]) -> Result<String> {
        let (mut text, mut run) = (String::new(), String::new());
        for part in parts {
            if part.literals.is_empty() {
                text += &self.literals(&run)?;
                run.clear();
                text += &part.pattern;
            } else {
                run += &part.literals;
            }
        }
        Ok(text + &self.literals(&run)?)
    }

    fn literals(&mut self, text: &str) -> Result<String> {
        self.classes.literals(text, self.behind > 0)
    }

    /// Reads the quantifiers of a part, if any, given what is before it.
    fn repeats(&mut self, mut part: Atom, before: Before) -> Result<Atom> {
        let mut count = 0;
        while self.cursor().peek(0).is_some_and(|next| "?*+{".contains(next)) {
            let start = self.cursor().at;
            if part.takes == Takes::Never {
                return self.classes.refuse("a quantifier behind what matches no character");
            }
            count += 1;
            if count > 3 {
                return self.classes.refuse("more than three quantifiers in a row");
            }
            if count > 1 {
                part.pattern = format!("(?:{})", part.pattern);
            }
            let quantifier = self.quantifier()?;
            part = self.repeated(part, &quantifier, start)?;
            if quantifier.minimum == 0 && self.before != Before::Character {
                let is_never = quantifier.maximum == Some(0);
                self.before = if is_never { before } else { either(before, self.before) };
            } else if quantifier.maximum == Some(0) {
                self.before = before;
            }
        }
        Ok(part)
    }

    fn repeated(&mut self, part: Atom, quantifier: &Quantifier, start: usize) -> Result<Atom> {
        let Quantifier { text, minimum, maximum, .. } = quantifier;
        let is_lazy = text.ends_with("}?") || text.get(1..) == Some("?");
        let is_greedy = maximum.is_none() && !is_lazy;
        if part.dot == Dot::Repeated || (part.dot == Dot::Single && is_greedy) {
            let what = "a repeated dot behind an assertion, where Oniguruma misses matches,";
            return self.classes.refuse_at(what, start);
        }
        let is_once = (*minimum, *maximum) == (1, Some(1));
        Ok(Atom {
            pattern: part.pattern + text,
            takes: if part.takes == Takes::Always && *minimum > 0 { Takes::Always } else { Takes::Maybe },
            dot: if part.dot == Dot::None { Dot::None } else { Dot::Repeated },
            literals: if is_once { part.literals } else { String::new() },
            parts: if is_once { part.parts } else { Vec::new() },
        })
    }

    /// Reads a quantifier with its mode.
    fn quantifier(&mut self) -> Result<Quantifier> {
        let start = self.cursor().at;
        let Some(mut quantifier) = self.cursor().quantifier().filter(|quantifier| quantifier.is_complete)
        else {
            return self.classes.refuse("a brace that is no quantifier");
        };
        let Quantifier { text, minimum, maximum, .. } = &mut quantifier;
        if (*minimum).max(maximum.unwrap_or(0)) > MAX_REPEAT || maximum.is_some_and(|most| most < *minimum) {
            return self.classes.refuse(&format!("the quantifier {text}"));
        }
        self.cursor().at += text.len();
        // Only after signs is a further + a part of the quantifier.
        let is_sign = !text.starts_with('{');
        let modes: &[&str] = if is_sign { &["?", "+"] } else { &["?"] };
        if let Some(mode) = self.cursor().take_any(modes) {
            if !is_sign && !text.contains(',') {
                return self.classes.refuse_at(&format!("{text}?, which is optional there,"), start);
            }
            *text += mode;
            self.check_behind(text, start)?;
        }
        Ok(quantifier)
    }

    fn atom(&mut self, depth: usize) -> Result<Atom> {
        let character = self.cursor().peek(0).unwrap_or_default();
        match character {
            '(' => return self.group(depth),
            '?' | '*' | '+' | '{' => {
                return self.classes.refuse(&format!("the quantifier {character} behind nothing"));
            }
            '^' | '$' => {
                self.cursor().at += 1;
                let is_start = character == '^';
                let pattern = if is_start { LINE_START } else { LINE_END };
                return Ok(self.assertion(pattern.into(), is_start));
            }
            '\\' => return self.escape(),
            _ => (),
        }
        let before = std::mem::replace(&mut self.before, Before::Character);
        if character == '[' {
            return Ok(Atom::new(self.classes.char_class(depth)?, Takes::Always));
        }
        self.cursor().at += 1;
        if character == '.' {
            let is_risky = before >= if self.dot_all { Before::Start } else { Before::Assertion };
            let pattern = if self.dot_all { r"[\s\S]" } else { "." };
            let dot = if is_risky { Dot::Single } else { Dot::None };
            return Ok(Atom { dot, ..Atom::new(pattern.into(), Takes::Always) });
        }
        self.literal(character)
    }

    fn literal(&mut self, character: char) -> Result<Atom> {
        let literals = String::from(character);
        Ok(Atom { pattern: self.literals(&literals)?, literals, ..Atom::new(String::new(), Takes::Always) })
    }

    fn assertion(&mut self, pattern: String, is_start: bool) -> Atom {
        if self.before != Before::Character && (is_start || self.before != Before::Start) {
            self.before = if is_start { Before::Start } else { Before::Assertion };
        }
        Atom::new(pattern, Takes::Never)
    }

    fn group(&mut self, depth: usize) -> Result<Atom> {
        let (start, outside) = (self.cursor().at, (self.classes.folds, self.dot_all));
        let opening = self.cursor().take_any(&["(?<=", "(?<!", "(?:", "(?=", "(?!", "(?>"]).unwrap_or("");
        if opening.is_empty() {
            match options(self.cursor()).filter(|options| options.end == ':') {
                Some(options) => self.switch(&options),
                None if self.cursor().next_is("(?") => {
                    let what = format!("the group {}…", self.cursor().next(4));
                    return self.classes.refuse(&what);
                }
                // Nothing asks what a group captured: there are no references.
                None => self.cursor().at += 1,
            }
        }
        if opening == "(?>" {
            self.check_behind("(?>", start)?;
        }
        let is_look = opening.ends_with(['=', '!']);
        let inner = if is_look { self.inside_look(depth, opening)? } else { self.alternatives(depth + 1)? };
        if !self.cursor().take(")") {
            return self.classes.refuse_at("a group without an end", start);
        }
        if opening.starts_with("(?<") && inner.is_nullable() {
            self.check_empty_behind(opening, start)?;
        }
        (self.classes.folds, self.dot_all) = outside;
        let text = format!("{}{})", if opening.is_empty() { "(?:" } else { opening }, inner.pattern);
        if is_look {
            return Ok(self.assertion(text, false));
        }
        let is_nullable = inner.is_nullable();
        let mut parts = if opening == "(?:" { inner.parts } else { Vec::new() };
        if parts.len() == 1 {
            return Ok(Atom { pattern: text, ..parts.remove(0) });
        }
        Ok(Atom::of(text, is_nullable, parts))
    }

    /// Reads the alternatives of a look. What is before it does not matter in it.
    fn inside_look(&mut self, depth: usize, opening: &str) -> Result<Atom> {
        let before = std::mem::replace(&mut self.before, Before::Character);
        let is_behind = usize::from(opening.starts_with("(?<"));
        self.behind += is_behind;
        let inner = self.alternatives(depth + 1)?;
        self.behind -= is_behind;
        self.before = before;
        Ok(inner)
    }

    /// Refuses a look behind that may be empty where Oniguruma reads it in another way.
    fn check_empty_behind(&mut self, opening: &str, start: usize) -> Result<()> {
        if opening == "(?<!" && self.behind > 0 {
            return self.classes.refuse_at("a (?<!…) that may be empty inside another", start);
        }
        let end = self.cursor().at - 1;
        let inside = self.cursor().slice(start + opening.len()..end);
        // At the start of the text, Oniguruma does not see the next character there.
        if (inside.contains(r"\b") || inside.contains(r"\B")) && !is_assertions(&inside) {
            let what = r"\b or \B in a look behind that may be empty, or not,";
            return self.classes.refuse_at(what, start);
        }
        Ok(())
    }

    /// Refuses what stops early in a look behind, whose starts Oniguruma tries in another order than `regex`.
    fn check_behind(&self, what: &str, start: usize) -> Result<()> {
        match self.behind {
            0 => Ok(()),
            _ => self.classes.refuse_at(&format!("{what} inside a look behind"), start),
        }
    }

    fn escape(&mut self) -> Result<Atom> {
        let (start, letter) = (self.cursor().at, self.cursor().peek(1).unwrap_or_default());
        if let Some(anchor) = anchor(letter) {
            self.cursor().at += 2;
            return Ok(self.assertion(anchor, letter == 'A'));
        }
        self.before = Before::Character;
        if self.cursor().take(r"\R") {
            self.check_behind(r"\R", start)?;
            return Ok(Atom::new(NEWLINE.into(), Takes::Always));
        }
        if let Some((class, is_negated)) = self.classes.type_escape()? {
            let class = if class == WORD_IN_CLASS { WORD } else { &class };
            let pattern = format!("[{}{class}]", if is_negated { "^" } else { "" });
            return Ok(Atom::new(pattern, Takes::Always));
        }
        let character = self.classes.character_escape()?;
        self.literal(character)
    }
}

/// The options that come next, such as `(?im-)`.
fn options(cursor: &Cursor) -> Option<Flags> {
    let are_known = |letters: &str| letters.chars().all(|letter| "im".contains(letter));
    cursor.flags().filter(|options| match &options.off {
        Some(off) => !off.is_empty() && are_known(off) && are_known(&options.on),
        None => !options.on.is_empty() && are_known(&options.on),
    })
}

/// Whether a text has nothing but assertions, and the brackets of groups.
fn is_assertions(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    let assertions = [
        r"\b", r"\B", r"\A", r"\z", r"\Z", "$", "^", "|", ")", "(?<=", "(?<!", "(?=", "(?!", "(?:", "(?>",
        "(",
    ];
    while cursor.take_any(&assertions).is_some() {}
    cursor.is_end()
}

/// What is before a place that is reached in two ways: what is safe in both.
fn either(first: Before, second: Before) -> Before {
    let safe = |place| if place == Before::Start { Before::Assertion } else { place };
    if first == second { first } else { safe(first).max(safe(second)) }
}

/// An escape that takes no character.
fn anchor(letter: char) -> Option<String> {
    let boundary = |before: &str, after: &str| {
        format!("(?:(?<=[{WORD}])(?{before}[{WORD}])|(?<![{WORD}])(?{after}[{WORD}]))")
    };
    Some(match letter {
        'A' => r"\A".into(),
        'z' => r"\Z".into(),
        'Z' => r"(?=\n?\Z)".into(),
        'b' => boundary("!", "="),
        'B' => boundary("=", "!"),
        _ => return None,
    })
}
