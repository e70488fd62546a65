//! Programs as tables: in one pass over a text, the match that backtracking would find first.
//!
//! A state is a list of instructions that are alive, the preferred ones first. Given the next symbol, they
//! are followed in that order to the characters that they take. Where a match ends, all instructions after it
//! in the list are given up, since the match is preferred to whatever they would find. Those before it
//! continue; if one of them finds another match later, that one counts.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::alphabet::Alphabet;
use super::bimachine::Bimachine;
use super::cuts::CutPairs;
use super::entry::Entry;
use super::expression::Expression;
use super::program::{Address, Instruction, Program};
use super::states::States;
use super::symbols::{Symbol, SymbolSet};
use crate::error::{Error, Result};
use crate::pretokenize::word_runs::WordRuns;

/// A compiled pattern.
pub struct Automaton {
    pub(super) alphabet: Alphabet,
    /// The rows; each has an entry for each symbol.
    pub(super) table: Vec<Entry>,
    pub(super) cuts: CutPairs,
    /// Two automata that find the same pretokens, if they are small enough.
    pub(super) bimachine: Option<Box<Bimachine>>,
    word_runs: Option<WordRuns>,
}

/// The maximum number of entries of a table: 4 MB. The tables of published patterns have less than 20,000.
const MAX_ENTRIES: usize = 1 << 20;
/// The maximum number of steps through instructions while a table is made; a step takes some nanoseconds.
const MAX_STEPS: usize = 1 << 26;

/// Compiles a pattern. `newline` is the number of the set that holds a newline and nothing else; `word_runs`
/// is the same pattern, if it is one of these.
///
/// # Errors
/// The pattern has something that the automaton cannot express, or would be too large.
pub fn compile(
    expression: &Expression,
    alphabet: Alphabet,
    newline: usize,
    word_runs: Option<WordRuns>,
) -> Result<Arc<Automaton>> {
    let program = Program::new(expression, &alphabet)?;
    let newline = alphabet.set(newline).unwrap_or(SymbolSet::EMPTY);
    let table = Builder::new(&program, &alphabet, newline).table()?;
    let symbols = usize::from(alphabet.end()) + 1;
    if table[..symbols].iter().any(|entry| entry.is_match()) {
        return Err(Error::Pattern("matches of nothing".into()));
    }
    let cuts = CutPairs::new(&table, &alphabet);
    let bimachine = Bimachine::new(&States::new(&table, symbols), &alphabet);
    // Not under the tables of another version of Unicode.
    let word_runs = word_runs.filter(|runs| alphabet.refines(|code_point| runs.kind_of(code_point)));
    Ok(Arc::new(Automaton { alphabet, table, cuts, bimachine, word_runs }))
}

impl Automaton {
    /// How many states the automaton has.
    pub fn states(&self) -> usize {
        self.table.len() / (self.classes() + 1)
    }

    /// How many classes of characters the pattern distinguishes.
    pub fn classes(&self) -> usize {
        usize::from(self.alphabet.end())
    }

    /// Whether a text may be cut at `at`, which is neither its start nor its end. The text may be a window of
    /// a longer one, as in [`crate::pretokenize::CutRule::is_cut`]. `keeps_unmatched` says whether text
    /// without a match becomes pieces.
    pub fn is_cut(&self, text: &[u8], at: usize, keeps_unmatched: bool) -> bool {
        self.cuts.is_cut(&self.alphabet, text, at, keeps_unmatched)
    }

    /// The same pattern as a named one and what it keeps together, if it is such a pattern.
    pub fn word_runs(&self) -> Option<WordRuns> {
        self.word_runs
    }

    #[inline(always)]
    pub(super) fn entry(&self, row: u32, symbol: Symbol) -> Entry {
        self.table[row as usize + usize::from(symbol)]
    }

    /// Whether the pattern is small enough for a bimachine, which reads faster than the table.
    pub fn is_bimachine(&self) -> bool {
        self.bimachine.is_some()
    }

    /// The symbol at `at` and its length: a character, or the end of the text.
    #[inline(always)]
    pub(super) fn symbol(&self, text: &[u8], at: usize) -> (Symbol, usize) {
        if at < text.len() { self.alphabet.decode(text, at) } else { (self.alphabet.end(), 0) }
    }
}

impl fmt::Debug for Automaton {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Automaton({} states, {} classes)", self.states(), self.classes())
    }
}

/// Finds all states, from the start on.
struct Builder<'a> {
    program: &'a Program,
    alphabet: &'a Alphabet,
    newline: SymbolSet,
    numbers: HashMap<Vec<Address>, u32>,
    states: Vec<Vec<Address>>,
    steps: usize,
    /// For each instruction, the number of the walk that met it last.
    met: Vec<u32>,
    walk: u32,
}

impl<'a> Builder<'a> {
    fn new(program: &'a Program, alphabet: &'a Alphabet, newline: SymbolSet) -> Self {
        let met = vec![0; program.instructions.len()];
        let (numbers, states) = (HashMap::new(), Vec::new());
        Builder { program, alphabet, newline, numbers, states, steps: 0, met, walk: 0 }
    }

    /// The entries of all states, in rows of one for each symbol.
    fn table(mut self) -> Result<Vec<Entry>> {
        self.state(vec![self.program.start])?;
        let (mut table, mut at) = (Vec::new(), 0);
        while at < self.states.len() {
            let state = self.states[at].clone();
            for symbol in 0..=self.alphabet.end() {
                table.push(self.entry(&state, symbol)?);
            }
            at += 1;
        }
        Ok(table)
    }

    /// The number of the state in which these instructions are alive; `None` if there are no instructions.
    fn state(&mut self, targets: Vec<Address>) -> Result<Option<u32>> {
        if targets.is_empty() {
            return Ok(None);
        }
        let alive = self.without_choices(&targets)?;
        let next = self.states.len() as u32;
        let number = *self.numbers.entry(alive.clone()).or_insert(next);
        if number == next {
            if (self.states.len() + 1) * (usize::from(self.alphabet.end()) + 1) > MAX_ENTRIES {
                return Err(Error::Pattern("more states than the table may have".into()));
            }
            self.states.push(alive);
        }
        Ok(Some(number))
    }

    /// Follows all choices. The result is the instructions that look at a symbol, in order, up to a match, so
    /// that equal states are recognized as equal.
    fn without_choices(&mut self, targets: &[Address]) -> Result<Vec<Address>> {
        self.walk += 1;
        let mut alive = Vec::new();
        let mut open: Vec<Address> = targets.iter().rev().copied().collect();
        while let Some(address) = open.pop() {
            if !self.meet(address)? {
                continue;
            }
            match &self.program.instructions[address as usize] {
                Instruction::Try(each) => open.extend(each.iter().rev()),
                Instruction::Match => {
                    alive.push(address);
                    break;
                }
                _ => alive.push(address),
            }
        }
        Ok(alive)
    }

    fn entry(&mut self, state: &[Address], symbol: Symbol) -> Result<Entry> {
        self.walk += 1;
        let (mut targets, mut is_match) = (Vec::new(), false);
        let mut open: Vec<Address> = state.iter().rev().copied().collect();
        while let Some(address) = open.pop() {
            if !self.meet(address)? {
                continue;
            }
            match &self.program.instructions[address as usize] {
                Instruction::Take(set, next) if set.has(symbol) => targets.push(*next),
                Instruction::Check(set, next) if set.has(symbol) => open.push(*next),
                Instruction::Take(..) | Instruction::Check(..) => (),
                Instruction::CheckLineEnd(next) if symbol == self.alphabet.end() => open.push(*next),
                Instruction::CheckLineEnd(_) if self.newline.has(symbol) => {
                    return Err(Error::Pattern("a $ that may stand before the last newline".into()));
                }
                Instruction::CheckLineEnd(_) => (),
                Instruction::Try(each) => open.extend(each.iter().rev()),
                Instruction::Match => {
                    is_match = true;
                    break;
                }
            }
        }
        let symbols = u32::from(self.alphabet.end()) + 1;
        Ok(Entry::new(is_match, self.state(targets)?.map(|state| state * symbols)))
    }

    /// Whether the current walk meets an instruction for the first time.
    fn meet(&mut self, address: Address) -> Result<bool> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(Error::Pattern("too many combinations of its parts".into()));
        }
        let met = &mut self.met[address as usize];
        Ok(std::mem::replace(met, self.walk) != self.walk)
    }
}
