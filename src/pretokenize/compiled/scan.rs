//! Scans a text with an automaton: runs of pretokens.

use super::automaton::Automaton;
use super::bimachine::Bimachine;
use super::entry::{Entry, START};
use super::failures::{Failures, Passed};
use super::window::{Place, Window};
use crate::error::Result;
use crate::room;
use crate::simd::{ENDS, Isa};

/// Bytes that are read without windows after no place was found for the end of one.
const BYTES_WITHOUT_WINDOWS: usize = 1 << 12;
/// Once this many bytes after a match were read without another one, searches are watched by [`Failures`]. It is longer
/// than nearly all runs of spaces.
const WATCHED_BYTES: usize = 256;

/// Finds the pretokens of a text.
pub struct CompiledScanner<'t> {
    automaton: &'t Automaton,
    text: &'t [u8],
    isa: Isa,
    /// Whether text without a match becomes pieces.
    keeps_unmatched: bool,
    /// Where the next pretoken begins.
    start: usize,
    /// Matches before this place are searched one by one, since much text was read without a match.
    watched_until: usize,
    failures: Failures,
    passed: Vec<Passed>,
    /// Made for the first window: some texts are too short for any.
    window: Option<Box<Window>>,
    /// Where the next window goes on, if it follows the last one.
    next_window: Option<Place>,
    /// Before this place no windows are tried, since there was no place for the end of one.
    no_windows_until: usize,
}

impl<'t> CompiledScanner<'t> {
    /// A scanner at the start of a text. `keeps_unmatched` says whether text without a match becomes pieces or is left
    /// out.
    pub fn new(isa: Isa, automaton: &'t Automaton, text: &'t [u8], keeps_unmatched: bool) -> Self {
        CompiledScanner {
            automaton,
            text,
            isa,
            keeps_unmatched,
            start: 0,
            watched_until: 0,
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
            if self.start >= self.watched_until {
                count = self.fill_unwatched(ends, count)?;
                if count == ENDS || self.start == self.text.len() {
                    break;
                }
            }
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

    /// Where the next window begins: where the last one ended, or at the next pretoken if enough text is left, and a place for
    /// the window's end is to be expected.
    fn window_start(&self) -> Option<Place> {
        let is_worth_it =
            self.text.len() - self.start >= Window::MIN_TEXT && self.start >= self.no_windows_until;
        self.next_window.or_else(|| is_worth_it.then(|| Place::start(self.start)))
    }

    /// Hands out the ends that were found in the last window, and reads the next window once no end is left. Returns
    /// how many ends there are.
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

    /// Adds ends from `self.start` on, until `ends` is full, the text ends, nothing matches, or much text was read in
    /// vain. Returns how many ends there are then.
    fn fill_unwatched(&mut self, ends: &mut [usize; ENDS], mut count: usize) -> Result<usize> {
        let (automaton, text) = (self.automaton, self.text);
        let (first, mut at, mut row) = (count, self.start, START);
        while count < ENDS {
            let (symbol, len) = automaton.symbol(text, at);
            let entry = automaton.entry(row, symbol);
            if entry.has(Entry::ENDED_BEFORE) {
                ends[count] = at - 1;
                count += 1;
                if count == ENDS {
                    break;
                }
            }
            // No branch: every fourth character or so ends a pretoken.
            ends[count] = at;
            count += usize::from(entry.has(Entry::ENDS));
            if entry.has(Entry::FAILS) {
                let start = if count > first { ends[count - 1] } else { self.start };
                let match_end = self.end_of_match(start)?;
                if at - match_end.unwrap_or(start) > WATCHED_BYTES {
                    self.watched_until = at;
                    break;
                }
                let Some(end) = match_end else { break };
                ends[count] = end;
                count += 1;
                (at, row) = (end, START);
                continue;
            }
            if len == 0 {
                break;
            }
            row = entry.row();
            at += len;
        }
        if count > first {
            self.start = ends[count - 1];
        }
        Ok(count)
    }

    /// The end of the match that begins at `start`, if there is one.
    fn end_of_match(&mut self, start: usize) -> Result<Option<usize>> {
        let (automaton, text) = (self.automaton, self.text);
        let (mut at, mut row, mut last) = (start, START, None);
        self.passed.clear();
        loop {
            let (symbol, len) = automaton.symbol(text, at);
            let entry = automaton.entry(row, symbol);
            if entry.has(Entry::ENDED_BEFORE) {
                return Ok(Some(at - 1));
            }
            if entry.has(Entry::ENDS) {
                return Ok(Some(at));
            }
            if entry.has(Entry::MAY_END) {
                last = Some(at);
                self.passed.clear();
            }
            if entry.has(Entry::FAILS) {
                break;
            }
            row = entry.row();
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
