//! Scans a text with an automaton: runs of pretokens.

use super::automaton::Automaton;
use super::bimachine::Bimachine;
use super::entry::START;
use super::failures::{Failures, Passed};
use super::window::{SymbolPlace, Window};
use crate::error::Result;
use crate::room;
use crate::simd::{ENDS, Isa};

/// Bytes that are read without windows after no place was found for the end of one.
const BYTES_WITHOUT_WINDOWS: usize = 1 << 12;

/// Finds the pretokens of a text.
pub struct CompiledScanner<'t> {
    automaton: &'t Automaton,
    text: &'t [u8],
    isa: Isa,
    /// Whether text without a match becomes pieces.
    keeps_unmatched: bool,
    /// Where the next pretoken begins.
    start: usize,
    failures: Failures,
    passed: Vec<Passed>,
    /// Made for the first window: some texts are too short for any.
    window: Option<Box<Window>>,
    /// Where the next window goes on, if it follows the last one.
    next_window: Option<SymbolPlace>,
    /// Before this place no windows are tried, since there was no place for the end of one.
    no_windows_until: usize,
}

impl<'t> CompiledScanner<'t> {
    /// A scanner at the start of a text. `keeps_unmatched` says whether text without a match becomes pieces
    /// or is left out.
    pub fn new(isa: Isa, automaton: &'t Automaton, text: &'t [u8], keeps_unmatched: bool) -> Self {
        CompiledScanner {
            automaton,
            text,
            isa,
            keeps_unmatched,
            start: 0,
            failures: Failures::default(),
            passed: Vec::new(),
            window: None,
            next_window: None,
            no_windows_until: 0,
        }
    }

    /// Fills `ends` with the ends of the next pretokens, each of which begins where the one before it ends.
    /// Returns where the first one begins and how many there are, 0 after the last one.
    pub fn fill(&mut self, ends: &mut [usize; ENDS]) -> Result<(usize, usize)> {
        let mut first = self.start;
        let mut count = self.fill_from_windows(ends);
        while count < ENDS && self.start < self.text.len() {
            if let Some(end) = self.end_of_match(self.start)? {
                self.start = end;
            } else {
                self.start = self.end_of_gap()?;
                if !self.keeps_unmatched {
                    if count > 0 {
                        break;
                    }
                    first = self.start;
                    continue;
                }
            }
            ends[count] = self.start;
            count += 1;
        }
        Ok((first, count))
    }

    /// The bimachine, if it can be used: text without a match becomes pieces or cannot occur.
    fn bimachine(&self) -> Option<&'t Bimachine> {
        let Automaton { bimachine, cuts, alphabet, .. } = self.automaton;
        bimachine.as_deref().filter(|_| self.keeps_unmatched || cuts.matches_all(alphabet))
    }

    /// Where the next window begins: where the last one ended, or at the next pretoken if enough text is
    /// left, and a place for the window's end is to be expected.
    fn window_start(&self) -> Option<SymbolPlace> {
        let is_worth_it =
            self.text.len() - self.start >= Window::MIN_TEXT && self.start >= self.no_windows_until;
        self.next_window.or_else(|| is_worth_it.then(|| SymbolPlace::start(self.start)))
    }

    /// Hands out the ends that were found in the last window, and reads the next window once no end is left.
    /// Returns how many ends there are.
    fn fill_from_windows(&mut self, ends: &mut [usize; ENDS]) -> usize {
        let (isa, text) = (self.isa, self.text);
        let mut count = self.window.as_mut().map_or(0, |window| window.give(isa, ends, 0));
        loop {
            if count > 0 {
                self.start = ends[count - 1];
            }
            let Some(machine) = self.bimachine().filter(|_| count < ENDS) else { return count };
            let Some(place) = self.window_start() else { return count };
            let window = self.window.get_or_insert_with(Box::default);
            let Some(end) = window.read(isa, self.automaton, machine, text, place) else {
                (self.next_window, self.no_windows_until) = (None, place.at + BYTES_WITHOUT_WINDOWS);
                return count;
            };
            self.next_window = (end.at < text.len()).then_some(end);
            count = window.give(isa, ends, count);
        }
    }

    /// The end of the match that begins at `start`, if there is one.
    fn end_of_match(&mut self, start: usize) -> Result<Option<usize>> {
        let (automaton, text) = (self.automaton, self.text);
        let (mut at, mut row, mut last) = (start, START, None);
        self.passed.clear();
        loop {
            let (symbol, len) = automaton.symbol(text, at);
            let entry = automaton.entry(row, symbol);
            if entry.is_match() {
                last = Some(at);
                self.passed.clear();
            }
            let Some(next) = entry.next() else { break };
            row = next;
            if Failures::is_noted(at, at + len) {
                if self.failures.has((at + len, row)) {
                    break;
                }
                room::push(&mut self.passed, (at + len, row))?;
            }
            at += len;
        }
        self.failures.keep(&self.passed, start)?;
        Ok(last)
    }

    /// The end of the text without a match that begins at `self.start`.
    fn end_of_gap(&mut self) -> Result<usize> {
        let mut at = self.start;
        while at < self.text.len() {
            at += self.automaton.symbol(self.text, at).1;
            if at == self.text.len() || self.end_of_match(at)?.is_some() {
                break;
            }
        }
        Ok(at)
    }
}
