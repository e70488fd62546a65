//! Patterns of tiktoken encodings, in the dialect of fancy-regex, written for the `regex` package.
//!
//! The dialects differ: `$` matches only at the end of the text, `\h` is a hexadecimal digit, sets are nested
//! and intersected, `(?i)` holds to the end of its group and has no Turkish letters. Every part is written in
//! a form that both engines read alike, or the pattern is refused and the part named.
//! tests/python/regex_dialects/test_dialects.py runs each construct in both engines.
//!
//! The classes of characters, such as letters, are not translated: they follow the Unicode version of the
//! engine (docs/unicode.md).

use super::cursor::{Cursor, Flags};
use super::fancy_sets::{Escape, escape, set, single};
use super::size;
use super::written::{NEWLINE, Written};
use crate::error::{Error, Result, show_text};

const ANY: &str = "(?s:.)";
/// The maximum number of groups, and of sets, inside each other.
const MAX_DEPTH: usize = 100;
const LOOKS: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
const REFUSED_GROUPS: [(&str, &str); 7] = [
    ("(?P=", "a back reference"),
    ("(?P>", "a call of a group"),
    ("(?(", "a condition"),
    ("(?|", "a branch reset"),
    ("(?~", "an absent operator"),
    ("(?&", "a call of a group"),
    ("(*", "a verb"),
];

/// A pattern for `regex` (its version 0) that means what `pattern` means to fancy-regex.
///
/// Capturing groups become plain ones. Where `pattern` matches the empty text, the result matches nothing:
/// the search continues at the next character, as that of fancy-regex does. Cost: linear in the pattern.
///
/// # Errors
/// [`crate::Error::Pattern`] names the part that is broken, or has no proven equal, and its place.
pub fn from_fancy_regex(pattern: &str) -> Result<String> {
    size::check_length(pattern)?;
    let mut reader = Reader { cursor: Cursor::new(pattern), depth: 0, is_behind: false, ends_flags: true };
    let whole = reader.alternatives("")?;
    match reader.cursor.is_end() {
        true => Ok(whole.nonempty()),
        false => reader.refuse("a ) that closes nothing"),
    }
}

/// One pass over a pattern. `flags` are the flags that hold at a place: letters of "ims".
struct Reader {
    cursor: Cursor,
    depth: usize,
    /// In a look behind, outside of looks ahead in it.
    is_behind: bool,
    /// Whether `(?i)` ends with the group: fancy-regex ends it at `(?:…)` and `(?i:…)` alone.
    ends_flags: bool,
}

impl Reader {
    fn refuse<T>(&self, what: &str) -> Result<T> {
        self.refuse_at(what, self.cursor.at)
    }

    fn refuse_at<T>(&self, what: &str, at: usize) -> Result<T> {
        let pattern = show_text(&self.cursor.whole());
        Err(Error::Pattern(format!(
            "the pattern {pattern} has {what} at character {at}, which has no proven equal in the `regex` package: \
             write it in another way"
        )))
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        match depth > MAX_DEPTH {
            true => {
                let pattern = show_text(&self.cursor.whole());
                Err(Error::Pattern(format!("the pattern {pattern} is nested too deep")))
            }
            false => Ok(()),
        }
    }

    /// Writes all parts up to the end of a group. A flag that is set inside holds until then, past any `|`.
    fn alternatives(&mut self, flags: &str) -> Result<Written> {
        let mut flags = flags.to_owned();
        let (mut branches, mut parts) = (Vec::new(), Vec::new());
        while let Some(character) = self.cursor.peek(0).filter(|&character| character != ')') {
            if character == '|' {
                self.cursor.at += 1;
                branches.push(std::mem::take(&mut parts));
            } else if let Some(set) = self.cursor.flags().filter(|set| set.end == ')') {
                if !self.ends_flags {
                    let flags = self.cursor.next(set.len);
                    return self.refuse(&format!(
                        "the flags {flags} in a group that captures, is atomic or looks around"
                    ));
                }
                flags = self.changed(&flags, &set)?;
                self.cursor.at += set.len;
            } else if self.cursor.next_is("(?#") {
                match self.cursor.find(')') {
                    Some(end) => self.cursor.at = end + 1,
                    None => return self.refuse("a comment without an end"),
                }
            } else {
                parts.push(self.repeated(&flags)?);
            }
        }
        branches.push(parts);
        if self.is_behind {
            branches.iter().try_for_each(|parts| self.check_behind(parts))?;
        }
        let branches: Vec<Written> = branches.iter().map(|parts| Written::sequence(parts)).collect();
        Ok(Written::alternatives(&branches))
    }

    /// Refuses what fancy-regex tries at the longest match of an automaton alone, and not at shorter ones.
    fn check_behind(&self, parts: &[Written]) -> Result<()> {
        let mut after_backtracking = parts.iter().skip_while(|part| !part.backtracks).skip(1);
        match after_backtracking.any(Written::varies) {
            true => self
                .refuse("a part of varying length behind an assertion, or an atomic part, in a look behind,"),
            false => Ok(()),
        }
    }

    fn changed(&self, flags: &str, set: &Flags) -> Result<String> {
        let (on, off) = (&set.on, set.off.as_deref().unwrap_or(""));
        let unknown = |letters: &str, known: &str| letters.chars().filter(|&c| !known.contains(c)).min();
        if let Some(unknown) = unknown(on, "imsu").or_else(|| unknown(off, "ims")) {
            return self.refuse(&format!("the flag {}", show_text(&unknown.to_string())));
        }
        let says_nothing = on.is_empty() && off.is_empty() && set.end == ')';
        if on.chars().any(|flag| off.contains(flag)) || says_nothing {
            return self.refuse("a group of flags that says nothing");
        }
        let holds = |&flag: &char| on.contains(flag) || (flags.contains(flag) && !off.contains(flag));
        Ok("ims".chars().filter(holds).collect())
    }

    fn repeated(&mut self, flags: &str) -> Result<Written> {
        let start = self.cursor.at;
        let is_look = LOOKS.iter().any(|look| self.cursor.next_is(look));
        let is_group = self.cursor.next_is("(");
        let part = self.part(flags)?;
        let Some(quantifier) = self.cursor.quantifier() else { return Ok(part) };
        if is_look || !(part.longest > 0 || is_group) {
            return self.refuse_at("a quantifier behind what has no length", start);
        }
        let maximum = quantifier.maximum;
        if !quantifier.is_complete || maximum.is_some_and(|maximum| maximum < quantifier.minimum) {
            return self.refuse(&format!("the quantifier {}", show_text(&quantifier.text)));
        }
        self.cursor.at += quantifier.text.len();
        let is_lazy = |pair: &[u8]| b"?*+}".contains(&pair[0]) && pair[1] == b'?';
        let has_lazy = part.pattern.as_bytes().windows(2).any(is_lazy);
        if maximum.is_none() && part.longest > 0 && part.shortest == 0 && has_lazy {
            // fancy-regex and `regex` end such a loop at different empty matches.
            return self.refuse_at("a quantifier without an end behind what may lazily match nothing", start);
        }
        let mode = self.cursor.take_any(&["?", "+"]).unwrap_or("");
        if self.cursor.quantifier().is_some() {
            return self.refuse("a quantifier behind a quantifier");
        }
        Ok(part.repeated(&quantifier, mode))
    }

    fn part(&mut self, flags: &str) -> Result<Written> {
        let Some(character) = self.cursor.peek(0) else { return Ok(Written::default()) };
        let has = |flag| flags.contains(flag);
        match character {
            '(' => return self.group(flags),
            '\\' => return self.escape(flags),
            '[' => {
                let (start, source) = (self.cursor.at, self.set_source()?);
                let written = set(&source, has('i')).or_else(|what| self.refuse_at(&what, start))?;
                return Ok(Written::character(written, 1));
            }
            '?' | '*' | '+' | '{' => {
                return self.refuse(&format!("a bare {}", show_text(&character.to_string())));
            }
            _ => self.cursor.at += 1,
        }
        Ok(match character {
            '.' => Written::character(if has('s') { ANY.into() } else { r"[^\n]".into() }, 1),
            '^' => Written::assertion(if has('m') { "(?m:^)".into() } else { r"\A".into() }, false),
            '$' => Written::assertion(if has('m') { "(?m:$)".into() } else { r"\Z".into() }, false),
            _ => Written::character(single(character, has('i')), 1),
        })
    }

    /// Reads a set as far as fancy-regex does, and returns it in the spelling of regex-syntax.
    fn set_source(&mut self) -> Result<String> {
        let start = self.cursor.at;
        let (mut source, mut depth) = (String::new(), 0);
        while let Some(character) = self.cursor.peek(0) {
            if character == '\\' {
                source += &self.escape_source();
                continue;
            }
            depth += usize::from(character == '[');
            self.check_depth(depth)?;
            depth -= usize::from(character == ']');
            source.push(character);
            self.cursor.at += 1;
            if depth == 0 {
                return Ok(source);
            }
            if self.cursor.at == start + 1 {
                // Only here a bracket may stand for itself.
                source += self.cursor.take_any(&["^]", "^", "]"]).unwrap_or_default();
            }
        }
        self.refuse_at("a [ without its ]", start)
    }

    /// Reads an escape, and returns it in the spelling of regex-syntax.
    fn escape_source(&mut self) -> String {
        let is_braced = self.cursor.peek(2) == Some('{');
        let len = match self.cursor.peek(1) {
            Some('x' | 'u' | 'U' | 'p' | 'P') if is_braced => {
                self.cursor.find('}').map_or(2, |end| end + 1 - self.cursor.at)
            }
            Some('x') => 4,
            Some('u') => 6,
            Some('U') => 10,
            Some('p' | 'P') => 3,
            _ => 2,
        };
        let source = self.cursor.next(len);
        self.cursor.at = (self.cursor.at + len).min(self.cursor.text.len());
        match source.get(..2) {
            Some(r"\h") => "[0-9A-Fa-f]".into(),
            Some(r"\H") => "[^0-9A-Fa-f]".into(),
            Some(r"\e") => r"\x1B".into(),
            Some(r"\p") if is_braced => source.replacen(r"\p{^", r"\P{", 1),
            Some(r"\P") if is_braced => source.replacen(r"\P{^", r"\p{", 1),
            _ => source,
        }
    }

    fn group(&mut self, flags: &str) -> Result<Written> {
        let start = self.cursor.at;
        let look = LOOKS.into_iter().find(|look| self.cursor.next_is(look));
        let (mut opening, mut inner_flags, mut ends_flags) = ("(?:", flags.to_owned(), false);
        let beginning = self.cursor.next(4);
        self.cursor.at += if let Some(look) = look {
            opening = look;
            look.len()
        } else if beginning.starts_with("(?>") {
            opening = "(?>";
            3
        } else if let Some(len) = self.cursor.named_group() {
            len
        } else if let Some(set) = self.cursor.flags() {
            (inner_flags, ends_flags) = (self.changed(flags, &set)?, true);
            set.len
        } else if let Some((_, what)) = REFUSED_GROUPS.iter().find(|(lead, _)| beginning.starts_with(lead)) {
            return self.refuse(what);
        } else if beginning.starts_with("(?") {
            return self.refuse(&format!("the group {}", show_text(&beginning)));
        } else {
            1
        };
        let is_behind = if look.is_some() { opening.starts_with("(?<") } else { self.is_behind };
        let outer = (self.is_behind, self.ends_flags);
        (self.is_behind, self.ends_flags) = (is_behind, ends_flags);
        let inner = self.inner(&inner_flags, start)?;
        (self.is_behind, self.ends_flags) = outer;
        Ok(match look {
            Some(_) => Written::assertion(format!("{opening}{})", inner.pattern), true),
            None => inner.grouped(opening),
        })
    }

    fn inner(&mut self, flags: &str, start: usize) -> Result<Written> {
        self.depth += 1;
        self.check_depth(self.depth)?;
        let inner = self.alternatives(flags)?;
        self.depth -= 1;
        if !self.cursor.take(")") {
            let pattern = show_text(&self.cursor.whole());
            let reason = format!("the pattern {pattern} is broken: a ( without its ) at character {start}");
            return Err(Error::Pattern(reason));
        }
        Ok(inner)
    }

    fn escape(&mut self, flags: &str) -> Result<Written> {
        let letter = self.cursor.peek(1).unwrap_or('\\');
        let assertion = |pattern: &str| Written::assertion(pattern.into(), "ZbB".contains(letter));
        let written = match letter {
            'A' => assertion(r"\A"),
            'z' => assertion(r"\Z"),
            'Z' => assertion(r"(?=\n*\Z)"),
            'b' => assertion(r"\b"),
            'B' => assertion(r"\B"),
            'N' => Written::character(r"[^\n]".into(), 1),
            'O' => Written::character(ANY.into(), 1),
            'R' => Written::character(NEWLINE.into(), 2),
            'K' => return self.refuse("\\K (keep out)"),
            'G' => return self.refuse("\\G (where the last match ended)"),
            'X' => return self.refuse("\\X (grapheme clusters)"),
            'k' | '0'..='9' => return self.refuse("a back reference"),
            'g' => return self.refuse("a call of a group"),
            'Q' => return self.refuse("\\Q (quoting)"),
            '<' => return self.refuse("\\< (start of a word)"),
            '>' => return self.refuse("\\> (end of a word)"),
            _ => return self.character(flags.contains('i')),
        };
        if written.longest == 0 && self.cursor.peek(2) == Some('{') {
            return self.refuse(&format!("\\{letter}{{…}}"));
        }
        self.cursor.at += 2;
        Ok(written)
    }

    /// Reads an escape for one character or a class.
    fn character(&mut self, folds: bool) -> Result<Written> {
        let (start, source) = (self.cursor.at, self.escape_source());
        let written = match escape(&source, folds).or_else(|what| self.refuse_at(&what, start))? {
            Escape::Class(class) => class,
            Escape::Character(character) => single(character, folds),
        };
        Ok(Written::character(written, 1))
    }
}
