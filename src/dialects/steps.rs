//! From a pattern of the `regex` package to the steps of the compiled engine.
//!
//! The engine takes the regular constructs: characters and sets, sequences, alternatives, repeats of the three kinds,
//! groups, and lookaheads at one character. [`Steps::read`] reads these and refuses all others by name; a refused
//! pattern runs in `regex`.

use std::collections::{BTreeSet, HashMap};

use super::cursor::{Cursor, Quantifier, control};
use super::members::{CODE_POINTS, Members, SET_OPERATORS, class, joined, opposite};
use super::shown::refused;
use super::tables::{Ranges, Tables};
use super::written::IF_NONEMPTY;
use crate::error::{Error, Result};
use crate::pretokenize::WordRuns;
use crate::pretokenize::compiled::Repeat;

/// The maximum number of groups inside each other. This keeps within the engine's own limit.
const MAX_DEPTH: usize = 60;
/// The maximum number of different characters and sets. The engine has 253 classes of characters, so that it would
/// refuse nearly all.
const MAX_SETS: usize = 1000;
/// The maximum number of characters of all expressions that `regex` looks up, where a look-up counts as so many more.
const MAX_COST: usize = 4000;
const COST_OF_LOOKUP: usize = 20;

/// Flags of `regex`. UNICODE is the default; under version 1 sets may be nested.
const IGNORECASE: u32 = 0x2;
const DOTALL: u32 = 0x10;
const VERSION1: u32 = 0x100;
const FULLCASE: u32 = 0x4000;
const KNOWN_FLAGS: u32 = IGNORECASE | DOTALL | 0x20 | VERSION1 | 0x2000 | FULLCASE;

/// A part of a pattern in postfix order: each step applies to the parts before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A character of the set of this number.
    Set(usize),
    /// The end of the text.
    End,
    /// The end of the text, or the place before a newline that ends it.
    LineEnd,
    /// The last parts, so many, one after the other.
    Sequence(usize),
    /// One of the last parts, so many.
    Alternatives(usize),
    /// The last part, repeated between a minimum and a maximum of times; none for no maximum.
    Repeated(Repeat, u32, Option<u32>),
    /// The last part, which keeps its first match.
    Atomic,
    /// The last part, which must follow.
    Ahead,
    /// The last part, which must not follow.
    NotAhead,
}

/// A pattern as steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The sets: code points that each matches.
    pub sets: Vec<Ranges>,
    /// The pattern in postfix order.
    pub steps: Vec<Step>,
    /// The number of the set that contains only the newline.
    pub newline: usize,
    /// The same pattern, if it keeps runs of words together.
    pub word_runs: Option<WordRuns>,
}

impl Steps {
    /// Reads a pattern. `flags` are those of the pattern that `regex` has compiled.
    ///
    /// # Errors
    /// [`crate::Error::Pattern`]: the pattern has a part that is not regular, or that is not known to be regular.
    pub fn read(pattern: &str, flags: u32, tables: &dyn Tables) -> Result<Self> {
        let mut cursor = Cursor::new(pattern);
        let flags = flags | first_flags(&mut cursor);
        let mut reader = Reader {
            cursor,
            depth: 0,
            version1: flags & VERSION1 != 0,
            full_folding: flags & (VERSION1 | FULLCASE) != 0,
            steps: Vec::new(),
            sets: Vec::new(),
            numbers: HashMap::new(),
            lookups: Lookups { tables, known: HashMap::new(), cost: 0 },
        };
        if flags & !KNOWN_FLAGS != 0 {
            return reader.refuse("flags beside i, s, u, V0 and V1");
        }
        let newline = reader.set(Source::Character('\n'.into()), Letters::default())?;
        reader.alternatives(Letters { i: flags & IGNORECASE != 0, s: flags & DOTALL != 0 })?;
        if !reader.cursor.is_end() {
            return reader.refuse("a ) that closes nothing");
        }
        let word_runs = WordRuns::of(pattern).filter(|_| flags & (IGNORECASE | DOTALL | FULLCASE) == 0);
        Ok(Steps { sets: reader.ranges()?, steps: reader.steps, newline, word_runs })
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

/// The flags "i" and "s" that hold at a place.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Letters {
    i: bool,
    s: bool,
}

impl Letters {
    fn text(self) -> String {
        format!("{}{}", if self.i { "i" } else { "" }, if self.s { "s" } else { "" })
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Source {
    /// A code point, which may be a surrogate.
    Character(u32),
    Set(String),
}

/// Look-ups in `regex`.
struct Lookups<'t> {
    tables: &'t dyn Tables,
    known: HashMap<String, Ranges>,
    cost: usize,
}

/// One pass over a pattern.
struct Reader<'t> {
    cursor: Cursor,
    depth: usize,
    version1: bool,
    full_folding: bool,
    steps: Vec<Step>,
    sets: Vec<(Source, Letters)>,
    numbers: HashMap<(Source, Letters), usize>,
    lookups: Lookups<'t>,
}

impl Reader<'_> {
    fn refused(&self, what: &str) -> Error {
        refused(format!("{what}, at character {}", self.cursor.at))
    }

    fn refuse<T>(&self, what: &str) -> Result<T> {
        Err(self.refused(what))
    }

    // Structure

    /// Reads up to the end of a group, or of the pattern.
    fn alternatives(&mut self, letters: Letters) -> Result<()> {
        let mut count = 1;
        self.sequence(letters)?;
        while self.cursor.take("|") {
            self.sequence(letters)?;
            count += 1;
        }
        if count > 1 {
            self.steps.push(Step::Alternatives(count));
        }
        Ok(())
    }

    fn sequence(&mut self, letters: Letters) -> Result<()> {
        let mut count = 0;
        while self.cursor.peek(0).is_some_and(|character| !"|)".contains(character)) {
            let is_look = self.part(letters)?;
            self.repeat(is_look)?;
            count += 1;
        }
        if count != 1 {
            self.steps.push(Step::Sequence(count));
        }
        Ok(())
    }

    /// Reads one part, without its repeat; returns whether it is an assertion, which takes no character.
    fn part(&mut self, letters: Letters) -> Result<bool> {
        match self.cursor.peek(0).unwrap_or('}') {
            '(' => return self.group(letters),
            '\\' => return self.escape(letters),
            '[' => {
                let source = self.set_source()?;
                self.add(Source::Set(source), letters)?;
            }
            '$' => {
                self.cursor.at += 1;
                self.steps.push(Step::LineEnd);
                return Ok(true);
            }
            '.' => {
                self.cursor.at += 1;
                self.add(Source::Set(".".into()), letters)?;
            }
            bare if "^{}]*+?".contains(bare) => return self.refuse(&format!("a bare {bare}")),
            character => {
                self.cursor.at += 1;
                self.add(Source::Character(character.into()), letters)?;
            }
        }
        Ok(false)
    }

    /// The repeat that comes next, of counts of at most six digits.
    fn next_repeat(&self) -> Option<Quantifier> {
        let is_short = |count: &str| count.len() <= 6;
        self.cursor
            .quantifier()
            .filter(|repeat| repeat.text.trim_matches(['{', '}']).split(',').all(is_short))
    }

    fn repeat(&mut self, is_look: bool) -> Result<()> {
        let Some(repeat) = self.next_repeat() else { return Ok(()) };
        if is_look {
            return self.refuse("a repeat of what takes no character");
        }
        if !repeat.is_complete {
            return self.refuse("braces without a number");
        }
        let (minimum, maximum) = (repeat.minimum as u32, repeat.maximum.map(|maximum| maximum as u32));
        if maximum.is_some_and(|maximum| maximum < minimum.max(1)) {
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
        self.steps.push(Step::Repeated(kind, minimum, maximum));
        Ok(())
    }

    /// Reads a group; returns whether it is a lookahead.
    fn group(&mut self, letters: Letters) -> Result<bool> {
        let mut inner = letters;
        let step = match self.cursor.take_any(&["(?>", "(?=", "(?!"]) {
            Some("(?>") => Some(Step::Atomic),
            Some("(?=") => Some(Step::Ahead),
            Some(_) => Some(Step::NotAhead),
            None => {
                inner = self.opening(letters)?;
                None
            }
        };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.refuse(&format!("more than {MAX_DEPTH} groups inside each other"));
        }
        self.alternatives(inner)?;
        self.depth -= 1;
        if !self.cursor.take(")") {
            return self.refuse("a ( that is not closed");
        }
        self.steps.extend(step);
        Ok(matches!(step, Some(Step::Ahead | Step::NotAhead)))
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
        if self.cursor.next_is("(?<=") || self.cursor.next_is("(?<!") {
            return self.refuse("a look behind");
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
            _ if self.cursor.next_is(IF_NONEMPTY) => return Err(refused("matches of nothing".into())),
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

    /// Reads an escape; returns whether it takes no character.
    fn escape(&mut self, letters: Letters) -> Result<bool> {
        if let Some(class) = class(&self.cursor) {
            self.cursor.at += class.chars().count();
            self.add(Source::Set(class), letters)?;
        } else if self.cursor.take(r"\Z") {
            self.steps.push(Step::End);
            return Ok(true);
        } else if let Some((code, len)) = self.cursor.hex() {
            if code >= CODE_POINTS {
                return self.refuse("no character of Unicode");
            }
            self.cursor.at += len;
            self.add(Source::Character(code), letters)?;
        } else {
            let letter = self.cursor.peek(1);
            let is_plain = |letter: &char| letter.is_ascii() && !letter.is_ascii_alphanumeric();
            let character = letter.and_then(control).or(letter.filter(is_plain));
            let Some(character) = character else {
                return self
                    .refuse(&format!("the escape \\{}", letter.map(String::from).unwrap_or_default()));
            };
            self.cursor.at += 2;
            self.add(Source::Character(character.into()), letters)?;
        }
        Ok(false)
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
            } else if !self.version1 && SET_OPERATORS.iter().any(|operator| self.cursor.next_is(operator)) {
                return self.refuse("a set operation without version 1");
            } else {
                self.cursor.at += 1;
            }
        }
    }

    fn add(&mut self, source: Source, letters: Letters) -> Result<()> {
        if letters.i && self.full_folding {
            // "ß" would also match "ss", two characters.
            return self.refuse("the flag i with full case folding, as in version 1");
        }
        let is_set = matches!(source, Source::Set(_));
        let number = self.set(source, Letters { s: letters.s && is_set, ..letters })?;
        self.steps.push(Step::Set(number));
        Ok(())
    }

    /// The number of a set.
    fn set(&mut self, source: Source, letters: Letters) -> Result<usize> {
        if self.sets.len() > MAX_SETS {
            return self.refuse(&format!("more than {MAX_SETS} different characters and sets"));
        }
        let next = self.sets.len();
        let number = *self.numbers.entry((source.clone(), letters)).or_insert(next);
        if number == next {
            self.sets.push((source, letters));
        }
        Ok(number)
    }

    fn ranges(&mut self) -> Result<Vec<Ranges>> {
        let cased = self.sets.iter().filter_map(|(source, letters)| match source {
            Source::Character(code) if letters.i => char::from_u32(*code),
            _ => None,
        });
        let folded = folded(cased.collect(), self.lookups.tables)?;
        let sets = std::mem::take(&mut self.sets);
        let ranges = sets.iter().map(|(source, letters)| match source {
            Source::Set(source) => self.set_ranges(source, *letters),
            Source::Character(code) => {
                let cases = char::from_u32(*code).filter(|_| letters.i).and_then(|known| folded.get(&known));
                Ok(cases.cloned().unwrap_or_else(|| std::iter::once(*code..code + 1).collect()))
            }
        });
        ranges.collect()
    }

    fn set_ranges(&mut self, source: &str, letters: Letters) -> Result<Ranges> {
        if letters.i || source == "." {
            return self.looked_up(&format!("(?{}:{source})", letters.text()));
        }
        let set = if source.starts_with('[') { source.to_owned() } else { format!("[{source}]") };
        let Some(members) = Members::of(&set) else { return self.looked_up(source) };
        let mut ranges = members.ranges;
        for class in &members.classes {
            ranges.extend(self.looked_up(class)?);
        }
        let ranges = joined(ranges);
        // `regex` has a rule of its own where a class and its opposite are excluded, such as `[^\s\S]`.
        let is_odd = members.classes.len() > 1 && ranges == opposite(&Vec::new());
        match members.is_negated {
            false => Ok(ranges),
            true if is_odd => self.looked_up(source),
            true => Ok(opposite(&ranges)),
        }
    }

    /// The code points that an expression for one character matches. A look-up tries all code points on all members:
    /// 1,000 members take half a second.
    fn looked_up(&mut self, source: &str) -> Result<Ranges> {
        let source = format!("{}{source}", if self.version1 { "(?V1)" } else { "(?V0)" });
        if let Some(ranges) = self.lookups.known.get(&source) {
            return Ok(ranges.clone());
        }
        self.lookups.cost += COST_OF_LOOKUP + source.chars().count();
        if self.lookups.cost > MAX_COST {
            return self.refuse("sets of too many classes, or of too many letters in either case");
        }
        let ranges = self.lookups.tables.matched(&source)?;
        self.lookups.known.insert(source, ranges.clone());
        Ok(ranges)
    }
}

/// For each character the ranges that it matches under `(?i)`. One search finds the matches of all characters together;
/// then each is searched among those only.
fn folded(characters: BTreeSet<char>, tables: &dyn Tables) -> Result<HashMap<char, Ranges>> {
    if characters.is_empty() {
        return Ok(HashMap::new());
    }
    let folding = |character: char| match character.is_ascii_alphanumeric() || !character.is_ascii() {
        true => format!("(?i:{character})"),
        false => format!("(?i:\\x{:02x})", u32::from(character)),
    };
    let any_of = characters.iter().map(|&character| folding(character)).collect::<Vec<_>>().join("|");
    let ranges = tables.matched(&format!("(?V0)(?:{any_of})"))?;
    let candidates: Vec<char> = ranges.into_iter().flatten().filter_map(char::from_u32).collect();
    let among: String = candidates.iter().collect();
    let matched = characters.into_iter().map(|character| {
        let places = tables.matched_among(&format!("(?V0){}", folding(character)), &among)?;
        let codes = places.into_iter().flatten().map(|at| u32::from(candidates[at as usize]));
        Ok((character, joined(codes.map(|code| code..code + 1).collect())))
    });
    matched.collect()
}
