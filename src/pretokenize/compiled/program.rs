//! Patterns as programs of instructions. Of several alternatives, the first one is tried first.

use super::alphabet::Alphabet;
use super::expression::{Expression, Repeat};
use super::symbols::SymbolSet;
use crate::error::{Error, Result};

/// Where an instruction stands in its program.
pub(super) type Address = u32;

/// One step of a program.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// Takes a character of these classes, and continues.
    Take(SymbolSet, Address),
    /// Continues if one of these symbols follows.
    Check(SymbolSet, Address),
    /// Continues if [`Expression::LineEnd`] holds here.
    CheckLineEnd(Address),
    /// Continues at each of these instructions, the first one first.
    Try(Vec<Address>),
    /// A match ends here.
    Match,
}

/// A pattern as instructions.
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) start: Address,
}

/// The maximum number of instructions of a program. The largest pattern of a published tokenizer has some
/// hundred.
const MAX_INSTRUCTIONS: usize = 20_000;

impl Program {
    pub(super) fn new(expression: &Expression, alphabet: &Alphabet) -> Result<Self> {
        let mut writer =
            Writer { instructions: Vec::new(), all: alphabet.all(), end: SymbolSet::of([alphabet.end()]) };
        let accept = writer.add(Instruction::Match)?;
        let start = writer.write(expression, accept)?;
        Ok(Program { instructions: writer.instructions, start })
    }
}

/// Writes instructions from the last to the first, so that each knows where it continues.
struct Writer {
    instructions: Vec<Instruction>,
    all: SymbolSet,
    end: SymbolSet,
}

impl Writer {
    fn add(&mut self, instruction: Instruction) -> Result<Address> {
        if self.instructions.len() >= MAX_INSTRUCTIONS {
            return Err(Error::Pattern(format!("more than {MAX_INSTRUCTIONS} instructions")));
        }
        self.instructions.push(instruction);
        Ok(self.instructions.len() as Address - 1)
    }

    /// Writes an expression that continues at `next`; returns where it begins.
    fn write(&mut self, expression: &Expression, next: Address) -> Result<Address> {
        if let Some(set) = expression.as_set() {
            return self.add(Instruction::Take(set, next));
        }
        match expression {
            Expression::Set(set) => self.add(Instruction::Take(*set, next)),
            Expression::Sequence(all) => all.iter().rev().try_fold(next, |next, part| self.write(part, next)),
            Expression::Alternatives(all) => {
                let starts = all.iter().map(|part| self.write(part, next)).collect::<Result<_>>()?;
                self.add(Instruction::Try(starts))
            }
            Expression::Repeated { inner, min, max, kind: Repeat::Possessive } => {
                let set = inner
                    .as_set()
                    .ok_or_else(|| Error::Pattern("a possessive repeat of more than one character".into()))?;
                self.write_possessive(set, (*min, *max), next)
            }
            Expression::Repeated { inner, min, max, kind } => {
                self.write_repeated(inner, (*min, *max), *kind == Repeat::Lazy, next)
            }
            Expression::Atomic(inner) => self.write_atomic(inner, next),
            Expression::LookAhead { .. } => match expression.as_condition(self.all, self.end) {
                Some(condition) => self.add(Instruction::Check(condition, next)),
                None => Err(Error::Pattern("a lookahead at more than one character".into())),
            },
            Expression::End => self.add(Instruction::Check(self.end, next)),
            Expression::LineEnd => self.add(Instruction::CheckLineEnd(next)),
        }
    }

    fn write_repeated(
        &mut self,
        inner: &Expression,
        (min, max): (u32, Option<u32>),
        lazy: bool,
        next: Address,
    ) -> Result<Address> {
        if inner.may_be_empty() && max != Some(1) {
            return Err(Error::Pattern("a repeat of what may be empty".into()));
        }
        let order = |more: Address| if lazy { vec![next, more] } else { vec![more, next] };
        self.write_loop((min, max), next, order, |writer, next| writer.write(inner, next))
    }

    /// A possessive repeat of one character continues only if no such character follows, or after the maximum
    /// number.
    fn write_possessive(
        &mut self,
        set: SymbolSet,
        (min, max): (u32, Option<u32>),
        next: Address,
    ) -> Result<Address> {
        let leave = self.add(Instruction::Check(self.all.difference(set), next))?;
        let take = |writer: &mut Self, next| writer.add(Instruction::Take(set, next));
        self.write_loop((min, max), next, |more| vec![more, leave], take)
    }

    /// Writes `body` as often as it is repeated. `order` says what is tried where it may end or go on.
    fn write_loop(
        &mut self,
        (min, max): (u32, Option<u32>),
        next: Address,
        order: impl Fn(Address) -> Vec<Address>,
        body: impl Fn(&mut Self, Address) -> Result<Address>,
    ) -> Result<Address> {
        let mut start = next;
        match max {
            None => {
                start = self.add(Instruction::Match)?; // replaced once it is known where the body begins
                let more = body(self, start)?;
                self.instructions[start as usize] = Instruction::Try(order(more));
            }
            Some(max) => {
                for _ in min..max {
                    let more = body(self, start)?;
                    start = self.add(Instruction::Try(order(more)))?;
                }
            }
        }
        for _ in 0..min {
            start = body(self, start)?;
        }
        Ok(start)
    }

    /// Writes an atomic group: as a possessive repeat if it is one repeat, or as it is if it has no choices.
    fn write_atomic(&mut self, inner: &Expression, next: Address) -> Result<Address> {
        if let Expression::Repeated { inner: repeated, min, max, kind: Repeat::Greedy | Repeat::Possessive } =
            inner
            && let Some(set) = repeated.as_set()
        {
            return self.write_possessive(set, (*min, *max), next);
        }
        match inner {
            Expression::Atomic(_) | Expression::LookAhead { .. } | Expression::End | Expression::LineEnd => {
                self.write(inner, next)
            }
            Expression::Sequence(all) if all.iter().all(|part| part.as_set().is_some()) => {
                self.write(inner, next)
            }
            _ => Err(Error::Pattern("an atomic group with choices".into())),
        }
    }
}
