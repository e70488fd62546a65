//! Parts of a pattern as they are written for `regex`, and what a whole has to know of them.
//!
//! fancy-regex leaves out an empty match directly behind a match and continues at the next character, while
//! `regex` tries a longer match at the same place. Empty matches give no pretokens. So a pattern gives the
//! same ones if it fails wherever the other one would match the empty text: each part has a mark, an empty
//! group, behind what takes a character, and the whole asks for that group at its end.

use super::cursor::Quantifier;

const MARK: &str = "(?P<nonempty>)";
/// What the patterns that may match the empty text end with.
pub(super) const IF_NONEMPTY: &str = "(?(nonempty)|(?!))";
/// What `\R` takes, and gives up as a whole.
pub(super) const NEWLINE: &str = r"(?>\r\n|[\n-\r\x85\u2028\u2029])";
/// A length of a part, or a number of repetitions, without a limit.
const UNLIMITED: u64 = 1_000_000;

/// A part of a pattern, written for `regex`.
#[derive(Default)]
pub(super) struct Written {
    pub(super) pattern: String,
    /// The pattern with its marks.
    marked: String,
    /// The minimum number of characters that the part takes.
    pub(super) shortest: u64,
    /// The maximum number.
    pub(super) longest: u64,
    /// Whether fancy-regex runs the part itself, and does not hand it to its automata.
    pub(super) backtracks: bool,
}

impl Written {
    /// A part that takes up to `longest` characters, and at least one.
    pub(super) fn character(pattern: String, longest: u64) -> Self {
        let marked = format!("{pattern}{MARK}");
        Written { pattern, marked, shortest: 1, longest, backtracks: longest > 1 }
    }

    /// A part that takes no character.
    pub(super) fn assertion(pattern: String, backtracks: bool) -> Self {
        Written { marked: pattern.clone(), pattern, backtracks, ..Self::default() }
    }

    /// Parts in a row. One mark is enough where a character is taken in any case.
    pub(super) fn sequence(parts: &[Self]) -> Self {
        let sum = |length: fn(&Self) -> u64| parts.iter().map(length).fold(0, u64::saturating_add);
        let joined = |text: fn(&Self) -> &str| parts.iter().map(text).collect::<String>();
        let (pattern, shortest) = (joined(|part| &part.pattern), sum(|part| part.shortest));
        let marked = if shortest > 0 { format!("{pattern}{MARK}") } else { joined(|part| &part.marked) };
        let backtracks = parts.iter().any(|part| part.backtracks);
        Written { pattern, marked, shortest, longest: sum(|part| part.longest), backtracks }
    }

    pub(super) fn alternatives(branches: &[Self]) -> Self {
        let joined = |text: fn(&Self) -> &str| branches.iter().map(text).collect::<Vec<_>>().join("|");
        Written {
            pattern: joined(|branch| &branch.pattern),
            marked: joined(|branch| &branch.marked),
            shortest: branches.iter().map(|branch| branch.shortest).min().unwrap_or(0),
            longest: branches.iter().map(|branch| branch.longest).max().unwrap_or(0),
            backtracks: branches.iter().any(|branch| branch.backtracks),
        }
    }

    /// Whether two matches may differ in length.
    pub(super) fn varies(&self) -> bool {
        self.shortest != self.longest || self.longest >= UNLIMITED
    }

    /// A pattern that matches as this one where this one takes a character, and nowhere else.
    pub(super) fn nonempty(self) -> String {
        match self.shortest {
            0 if self.marked.contains(MARK) => format!("(?>{}){IF_NONEMPTY}", self.marked),
            0 => "(?!)".into(),
            _ => self.pattern,
        }
    }

    /// The part repeated, with the mode of a quantifier: nothing, `?` or `+`.
    pub(super) fn repeated(self, quantifier: &Quantifier, mode: &str) -> Self {
        let count = quantifier.text.replace("{,", "{0,");
        Written {
            pattern: format!("{}{count}{mode}", self.pattern),
            marked: format!("(?:{}){count}{mode}", self.marked),
            shortest: self.shortest.saturating_mul(quantifier.minimum),
            longest: self.longest.saturating_mul(quantifier.maximum.unwrap_or(UNLIMITED)).min(UNLIMITED),
            backtracks: self.backtracks || mode == "+",
        }
    }

    /// The part in a group.
    pub(super) fn grouped(self, opening: &str) -> Self {
        Written {
            pattern: format!("{opening}{})", self.pattern),
            marked: format!("{opening}{})", self.marked),
            backtracks: self.backtracks || opening == "(?>",
            ..self
        }
    }
}
