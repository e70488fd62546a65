//! Patterns as trees, and what of them can be said by looking at one character.

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
    /// One after the other; none of them is the empty pattern.
    Sequence(Vec<Expression>),
    /// One of them, the first that leads to a match.
    Alternatives(Vec<Expression>),
    /// Several times the same.
    Repeated {
        /// What is repeated.
        inner: Box<Expression>,
        /// The least times.
        min: u32,
        /// The most times.
        max: Option<u32>,
        /// What is tried first.
        kind: Repeat,
    },
    /// A group whose first match stands: `(?>…)`.
    Atomic(Box<Expression>),
    /// What must follow, or with `negated` must not: `(?=…)`, `(?!…)`.
    LookAhead {
        /// What follows.
        inner: Box<Expression>,
        /// Whether it must not.
        negated: bool,
    },
    /// The end of the text: `\Z` of Python.
    End,
    /// The end of the text, or in front of a newline that ends it: `$` of Python.
    LineEnd,
}

impl Expression {
    /// The classes of which it takes one character, if that is all it does.
    pub fn as_set(&self) -> Option<SymbolSet> {
        match self {
            Expression::Set(set) => Some(*set),
            Expression::Atomic(inner) => inner.as_set(),
            Expression::Alternatives(all) => {
                all.iter().try_fold(SymbolSet::EMPTY, |sum, one| Some(sum.union(one.as_set()?)))
            }
            Expression::Sequence(all) => {
                let (last, looks) = all.split_last()?;
                looks.iter().try_fold(last.as_set()?, |rest, look| {
                    let Expression::LookAhead { inner, negated } = look else { return None };
                    let followed = inner.as_set()?;
                    Some(if *negated { rest.difference(followed) } else { rest.intersection(followed) })
                })
            }
            Expression::Repeated { inner, min: 1, max: Some(1), .. } => inner.as_set(),
            _ => None,
        }
    }

    /// The symbols before which it matches something, possibly nothing, if the next symbol alone decides that.
    /// `all` are all symbols, `end` is that for the end of the text alone.
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
                .try_fold(SymbolSet::EMPTY, |sum, one| Some(sum.union(one.as_condition(all, end)?))),
            Expression::Sequence(each) => {
                let mut condition = all;
                for (at, one) in each.iter().enumerate() {
                    condition = condition.intersection(one.as_condition(all, end)?);
                    if !one.is_zero_width() && at + 1 < each.len() {
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

    /// Whether it takes no character, whatever follows.
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

    /// Whether it may take no character.
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
