//! Steps compiled to an automaton.

use std::sync::Arc;

use super::shown::refused;
use super::steps::{Step, Steps};
use crate::error::Result;
use crate::pretokenize::compiled::{self, Alphabet, Automaton, Expression, Unsupported};

/// The maximum depth of nested parts: writing a program and freeing a tree need stack for each level.
const MAX_DEPTH: usize = 200;

impl Steps {
    /// Compiles the pattern. Cost: some 1 to 300 ms.
    ///
    /// # Errors
    /// [`crate::Error::Pattern`]: the engine does not have some part, or the automaton is too large.
    pub fn compile(&self) -> Result<Arc<Automaton>> {
        let unsupported = |reason: Unsupported| refused(reason.to_string());
        let alphabet = Alphabet::new(&self.sets).map_err(unsupported)?;
        let expression = self.expression(&alphabet)?;
        compiled::compile(&expression, alphabet, self.newline, self.word_runs).map_err(unsupported)
    }

    /// The pattern as a tree.
    fn expression(&self, alphabet: &Alphabet) -> Result<Expression> {
        let mut parts: Vec<(Expression, usize)> = Vec::new();
        for step in &self.steps {
            let count = match step {
                Step::Set(_) | Step::End | Step::LineEnd => 0,
                Step::Sequence(count) | Step::Alternatives(count) => *count,
                _ => 1,
            };
            let inner = parts.split_off(parts.len() - count);
            let depth = 1 + inner.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
            if depth > MAX_DEPTH {
                return Err(refused(format!("groups nested deeper than {MAX_DEPTH}")));
            }
            let inner = inner.into_iter().map(|(part, _)| part).collect();
            parts.push((joined(step, inner, alphabet), depth));
        }
        Ok(parts.pop().map_or(Expression::Sequence(Vec::new()), |(expression, _)| expression))
    }
}

/// A step applied to the parts before it.
fn joined(step: &Step, mut parts: Vec<Expression>, alphabet: &Alphabet) -> Expression {
    let mut part = || Box::new(parts.pop().unwrap_or(Expression::Sequence(Vec::new())));
    match *step {
        Step::Set(number) => Expression::Set(alphabet.set(number).unwrap_or_default()),
        Step::End => Expression::End,
        Step::LineEnd => Expression::LineEnd,
        Step::Repeated(kind, min, max) => Expression::Repeated { inner: part(), min, max, kind },
        Step::Atomic => Expression::Atomic(part()),
        Step::Ahead => Expression::LookAhead { inner: part(), negated: false },
        Step::NotAhead => Expression::LookAhead { inner: part(), negated: true },
        Step::Sequence(_) => Expression::Sequence(parts),
        Step::Alternatives(_) => Expression::Alternatives(parts),
    }
}
