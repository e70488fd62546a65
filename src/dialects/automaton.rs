//! From a pattern of the `regex` package to the automaton of the compiled engine.
//!
//! The engine takes the regular constructs of a [`Tree`], with lookaheads at one character. What it does not
//! take runs in `regex`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use indexmap::IndexSet;

use super::members::{Member, Ranges, Tables, is_nested, joined, members, opposite};
use super::tree::{CharacterSource, DOTALL, FULLCASE, IGNORECASE, Letters, Node, Tree};
use crate::error::{Error, Result};
use crate::pretokenize::WordRuns;
use crate::pretokenize::compiled::{self, Alphabet, Automaton, Expression};

/// The maximum number of different characters and sets. The engine has 253 classes of characters, so that it
/// would refuse nearly all.
const MAX_SETS: usize = 1000;
/// The maximum number of characters of all expressions that `regex` looks up, where a look-up counts as so
/// many more.
const MAX_COST: usize = 4000;
const COST_OF_LOOKUP: usize = 20;
/// The number of the set that is the newline.
const NEWLINE: usize = 0;

/// A pattern of `regex` that the compiled engine may take.
pub struct RegexPattern {
    whole: Node,
    /// The code points that each set matches.
    sets: Vec<Ranges>,
    /// The same pattern, if it keeps runs of words together.
    word_runs: Option<WordRuns>,
}

impl RegexPattern {
    /// Reads a pattern. `flags` are those of the pattern that `regex` has compiled.
    ///
    /// # Errors
    /// [`crate::Error::Pattern`]: the pattern has a part that is not regular, or not known to be so.
    pub fn read(pattern: &str, flags: u32, tables: &dyn Tables) -> Result<Self> {
        let Tree { whole, sets, version1, irregular } = Tree::read(pattern, flags)?;
        if let Some(what) = irregular {
            return Err(Error::Pattern(what));
        }
        if sets.len() > MAX_SETS {
            return Err(Error::Pattern(format!("more than {MAX_SETS} different characters and sets")));
        }
        let mut lookups = Lookups { tables, version1, known: HashMap::new(), cost: 0 };
        let word_runs = WordRuns::of(pattern).filter(|_| flags & (IGNORECASE | DOTALL | FULLCASE) == 0);
        Ok(RegexPattern { whole, sets: lookups.all(&sets)?, word_runs })
    }

    /// Compiles the pattern. Cost: some 1 to 300 ms.
    ///
    /// # Errors
    /// [`crate::Error::Pattern`]: the engine does not have some part, or the automaton is too large.
    pub fn compile(&self) -> Result<Arc<Automaton>> {
        let alphabet = Alphabet::new(&self.sets)?;
        let expression = expression(&self.whole, &alphabet);
        compiled::compile(&expression, alphabet, NEWLINE, self.word_runs)
    }
}

fn expression(part: &Node, alphabet: &Alphabet) -> Expression {
    let one = |part: &Node| Box::new(expression(part, alphabet));
    let all = |parts: &[Node]| parts.iter().map(|part| expression(part, alphabet)).collect();
    match part {
        Node::Set(number) => Expression::Set(alphabet.set(*number).unwrap_or_default()),
        Node::Start => unreachable!("`RegexPattern::read` refuses what is irregular"),
        Node::End => Expression::End,
        Node::LineEnd => Expression::LineEnd,
        Node::Sequence(parts) => Expression::Sequence(all(parts)),
        Node::Alternatives(parts) => Expression::Alternatives(all(parts)),
        Node::Group(inner) => expression(inner, alphabet),
        Node::Atomic(inner) => Expression::Atomic(one(inner)),
        Node::Look(opening, inner) => {
            Expression::LookAhead { inner: one(inner), negated: opening.ends_with('!') }
        }
        Node::Repeated(inner, repeat, kind) => Expression::Repeated {
            inner: one(inner),
            min: repeat.minimum as u32,
            max: repeat.maximum.map(|maximum| maximum as u32),
            kind: *kind,
        },
    }
}

/// Look-ups in `regex`.
struct Lookups<'t> {
    tables: &'t dyn Tables,
    version1: bool,
    known: HashMap<String, Ranges>,
    cost: usize,
}

impl Lookups<'_> {
    /// The code points that each set matches.
    fn all(&mut self, sets: &IndexSet<(CharacterSource, Letters)>) -> Result<Vec<Ranges>> {
        let cased = sets.iter().filter_map(|(source, letters)| match source {
            CharacterSource::Character(code) if letters.i => char::from_u32(*code),
            _ => None,
        });
        let folded = folded(cased.collect(), self.tables)?;
        let ranges = sets.iter().map(|(source, letters)| match source {
            CharacterSource::Set(source) => self.ranges(source, *letters),
            CharacterSource::Character(code) => {
                let cases = char::from_u32(*code).filter(|_| letters.i).and_then(|known| folded.get(&known));
                Ok(cases.cloned().unwrap_or_else(|| std::iter::once(*code..code + 1).collect()))
            }
        });
        ranges.collect()
    }

    fn ranges(&mut self, source: &str, Letters { i, s }: Letters) -> Result<Ranges> {
        if i || source == "." {
            let (i, s) = (if i { "i" } else { "" }, if s { "s" } else { "" });
            return self.looked_up(&format!("(?{i}{s}:{source})"));
        }
        let set = if source.starts_with('[') { source.to_owned() } else { format!("[{source}]") };
        let members = members(&set).filter(|_| !is_nested(&set));
        let Some((is_negated, members)) = members else { return self.looked_up(source) };
        let (mut ranges, mut classes) = (Ranges::new(), Vec::new());
        for member in members {
            match member {
                Member::Class(class) if classes.contains(&class) => (),
                Member::Class(class) => {
                    ranges.extend(self.looked_up(&class)?);
                    classes.push(class);
                }
                Member::Range(range) => ranges.push(range),
            }
        }
        let ranges = joined(ranges);
        // `regex` has a rule of its own where a class and its opposite are excluded, such as `[^\s\S]`.
        let is_odd = classes.len() > 1 && ranges == opposite(&Vec::new());
        match is_negated {
            false => Ok(ranges),
            true if is_odd => self.looked_up(source),
            true => Ok(opposite(&ranges)),
        }
    }

    /// The code points that an expression for one character matches. A look-up tries all code points on all
    /// members: 1,000 members take half a second.
    fn looked_up(&mut self, source: &str) -> Result<Ranges> {
        let source = format!("{}{source}", if self.version1 { "(?V1)" } else { "(?V0)" });
        if let Some(ranges) = self.known.get(&source) {
            return Ok(ranges.clone());
        }
        self.cost += COST_OF_LOOKUP + source.chars().count();
        if self.cost > MAX_COST {
            return Err(Error::Pattern(
                "sets of too many classes, or of too many letters in either case".into(),
            ));
        }
        let ranges = self.tables.matched(&source)?;
        self.known.insert(source, ranges.clone());
        Ok(ranges)
    }
}

/// For each character the ranges that it matches under `(?i)`. One search finds the matches of all characters
/// together; then each is searched among those only.
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
