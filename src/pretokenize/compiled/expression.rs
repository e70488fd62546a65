//! Patterns as trees, and what one character decides about them.

use super::symbols::SymbolSet;

/// How often something is repeated, and what is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// As often as possible, less if the rest fails: `*`.
    Greedy,
    /// As rarely as possible: `*?`.
    Lazy,
    /// As often as possible, and never less: `*+`.
    Possessive,
}

/// A pattern whose sets are those of an [`super::Alphabet`].
#[derive(Clone, Debug)]
pub enum Expression {
    /// One character of these classes.
    Set(SymbolSet),
    /// Patterns one after the other; none of them is the empty pattern.
    Sequence(Vec<Expression>),
    /// One of several patterns, the first that leads to a match.
    Alternatives(Vec<Expression>),
    /// A pattern that is repeated.
    Repeated {
        /// What is repeated.
        inner: Box<Expression>,
        /// The minimum number of times.
        min: u32,
        /// The maximum number of times.
        max: Option<u32>,
        /// What is tried first.
        kind: Repeat,
    },
    /// A group that keeps its first match: `(?>…)`.
    Atomic(Box<Expression>),
    /// A pattern that must follow, or with `negated` must not: `(?=…)`, `(?!…)`.
    LookAhead {
        /// The pattern.
        inner: Box<Expression>,
        /// Whether the pattern must not follow.
        negated: bool,
    },
    /// The end of the text: `\Z` of Python.
    End,
    /// The end of the text, or the place before a newline that ends it: `$` of Python.
    LineEnd,
}

impl Expression {
    /// The classes of the character that the pattern takes, if it takes exactly one character and does
    /// nothing else.
    pub fn as_set(&self) -> Option<SymbolSet> {
        match self {
            Expression::Set(set) => Some(*set),
            Expression::Atomic(inner) => inner.as_set(),
            Expression::Alternatives(all) => {
                all.iter().try_fold(SymbolSet::EMPTY, |sum, part| Some(sum.union(part.as_set()?)))
            }
            Expression::Sequence(all) => {
                let (last, looks) = all.split_last()?;
                looks.iter().try_fold(last.as_set()?, |set, look| {
                    let Expression::LookAhead { inner, negated } = look else { return None };
                    let followed = inner.as_set()?;
                    Some(if *negated { set.difference(followed) } else { set.intersection(followed) })
                })
            }
            Expression::Repeated { inner, min: 1, max: Some(1), .. } => inner.as_set(),
            _ => None,
        }
    }

    /// The symbols before which the pattern matches, possibly the empty string, if the next symbol alone
    /// decides whether it matches. `all` are all symbols, and `end` is only the end of the text.
    pub fn as_condition(&self, all: SymbolSet, end: SymbolSet) -> Option<SymbolSet> {
        match self {
            Expression::Set(set) => Some(*set),
            Expression::End => Some(end),
            Expression::LineEnd => None,
            Expression::Atomic(inner) => inner.as_condition(all, end),
            Expression::LookAhead { inner, negated } => {
                let condition = inner.as_condition(all, end)?;
                Some(if *negated { all.difference(condition) } else { condition })
            }
            Expression::Alternatives(each) => each
                .iter()
                .try_fold(SymbolSet::EMPTY, |sum, part| Some(sum.union(part.as_condition(all, end)?))),
            Expression::Sequence(each) => {
                let mut condition = all;
                for (at, part) in each.iter().enumerate() {
                    condition = condition.intersection(part.as_condition(all, end)?);
                    if !part.is_zero_width() && at + 1 < each.len() {
                        return None;
                    }
                }
                Some(condition)
            }
            Expression::Repeated { min: 0, .. } => Some(all),
            Expression::Repeated { inner, min: 1, .. } => inner.as_condition(all, end),
            Expression::Repeated { .. } => None,
        }
    }

    /// Whether the pattern takes no character, whatever follows.
    fn is_zero_width(&self) -> bool {
        match self {
            Expression::LookAhead { .. } | Expression::End | Expression::LineEnd => true,
            Expression::Sequence(all) | Expression::Alternatives(all) => {
                all.iter().all(Expression::is_zero_width)
            }
            Expression::Atomic(inner) | Expression::Repeated { inner, .. } => inner.is_zero_width(),
            Expression::Set(_) => false,
        }
    }

    /// Whether the pattern may take no character.
    pub fn may_be_empty(&self) -> bool {
        match self {
            Expression::Set(_) => false,
            Expression::LookAhead { .. } | Expression::End | Expression::LineEnd => true,
            Expression::Sequence(all) => all.iter().all(Expression::may_be_empty),
            Expression::Alternatives(all) => all.iter().any(Expression::may_be_empty),
            Expression::Atomic(inner) => inner.may_be_empty(),
            Expression::Repeated { inner, min, .. } => *min == 0 || inner.may_be_empty(),
        }
    }
}
