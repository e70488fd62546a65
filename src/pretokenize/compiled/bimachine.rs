//! Bimachines: two automata that find the pretokens of a text without ever going back.
//!
//! The automaton of a pattern learns only later whether a match that it might end continues: after
//! `\s*[\r\n]+` it must see the whole run of spaces that follows. So a first automaton reads the text
//! backwards and notes at each character what the text after it allows: which states of the pattern's
//! automaton still find a match there. With that note, a second automaton reads forwards and knows at each
//! character whether a pretoken ends before it.
//!
//! Both are small, and so are their tables of rows of 16 bytes: one byte of a row is the next state. A
//! processor that can shuffle 16 bytes takes a step each cycle (`Simd::follow`). For that
//!
//! - the first automaton may have 16 states. They are sets of states of the pattern's automaton; sets that
//!   are alike are merged;
//! - the second one may be in 16 states after each *number*. A number stands for classes of characters that
//!   do the same, together with a note if the note makes a difference: a letter has one number, a space has
//!   several. A row belongs to two numbers, that of a character and that of the character before it.
//!
//! Nearly all published patterns fit. The others are read by the table of [`super::automaton`] alone.

use std::collections::HashMap;

use super::alphabet::Alphabet;
use super::refine::refine;
use super::states::{Column, States};
use super::symbols::{MAX_SYMBOLS, Symbol};
use crate::simd::Rows;

/// The maximum number of states of a row.
const ROW_STATES: usize = 16;
/// With at most this many numbers the rows of all pairs are at offsets below 2^16.
const MAX_NUMBERS: usize = 64;
/// The maximum number of notes that a byte of a row can hold beside the next state.
const MAX_NOTES: usize = 8;
/// The lowest bit of the note in a byte of the first automaton.
const NOTE_SHIFT: usize = 4;
/// The bits of the note. A number is kept as the offset of a row, and has its lowest bit where the note has
/// its lowest bit.
pub(super) const NOTE: u8 = 0x70;
/// The bits of the state in a byte of either automaton.
const STATE: u8 = 0x0F;
/// The bit of the second automaton's bytes that says that a pretoken ends before the character.
const ENDS: u8 = crate::simd::FLAG;

/// Two automata for one pattern.
pub(super) struct Bimachine {
    /// For each class of characters, its first number, as the offset of a row: 16 times the number.
    of_classes: [u16; MAX_SYMBOLS],
    /// For each ASCII character, the first number of its class.
    pub(super) of_ascii: [u8; 128],
    /// The first automaton: a row for the first number of each class.
    pub(super) backward: Rows,
    /// Its state at the end of a text.
    pub(super) at_end: u8,
    /// The second automaton: a row for each pair of numbers. It begins in state 0, after number 0.
    pub(super) forward: Rows,
    /// How many numbers there are. 0 stands for the start of a text, and for what stands after the last
    /// character.
    pub(super) numbers: u16,
    /// How many states the first automaton has.
    backward_states: usize,
    /// For each number, how many states the second automaton may be in after it.
    forward_states: Vec<usize>,
}

/// Characters that are read to find a state that does not depend on what is beyond them: few, then more. In
/// tests they are so few that they often do not tell.
const CONTEXTS: [usize; 3] = if cfg!(test) { [1, 2, 3] } else { [4, 16, 64] };

impl Bimachine {
    /// The bimachine of the states of a pattern; `None` if it would be too large.
    pub(super) fn new(states: &States, alphabet: &Alphabet) -> Option<Box<Self>> {
        let lookahead = Lookahead::new(states)?;
        let numbering = Numbering::new(&lookahead)?;
        let (forward, forward_states) = forward_rows(&numbering.columns)?;
        let of_ascii = |byte: usize| {
            let (class, _) = alphabet.decode(&[byte as u8], 0);
            (numbering.of_classes[usize::from(class)] / ROW_STATES as u16) as u8
        };
        Some(Box::new(Bimachine {
            of_classes: numbering.of_classes,
            of_ascii: std::array::from_fn(of_ascii),
            backward: numbering.backward,
            at_end: lookahead.at_end,
            forward,
            numbers: numbering.columns.len() as u16,
            backward_states: lookahead.states,
            forward_states,
        }))
    }

    /// The state of the first automaton after it has read a text back to `at`, where a character begins;
    /// `None` if the next characters do not tell.
    pub(super) fn state_before(&self, alphabet: &Alphabet, text: &[u8], at: usize) -> Option<u8> {
        CONTEXTS.iter().find_map(|&context| {
            let (mut numbers, mut count, mut end) = ([0; CONTEXTS[2]], 0, at);
            while end < text.len() && count < context {
                let (class, len) = alphabet.decode(text, end);
                (numbers[count], count, end) = (self.number_of(class), count + 1, end + len);
            }
            let read = numbers[..count].iter().rev().copied();
            if end == text.len() {
                return Some(
                    read.fold(self.at_end, |state, number| self.backward.entry(number, state) & STATE),
                );
            }
            only_state(&self.backward, self.backward_states, read)
        })
    }

    /// The state of the second automaton after `len` characters, which it began in `state`, and the number of
    /// the last one, or `before` if there is none. `row` gives the row of a character.
    pub(super) fn state_after(
        &self,
        len: usize,
        row: impl Fn(usize) -> u16,
        state: u8,
        before: u16,
    ) -> (u8, u16) {
        let Some(last) = len.checked_sub(1) else { return (state, before) };
        let rows = |from: usize| (from..len).map(&row);
        let near = CONTEXTS.iter().find_map(|&context| {
            let from = len.checked_sub(context)?;
            let (number_before, _) = self.pair_of(row(from));
            let states = self.forward_states[usize::from(number_before) / ROW_STATES];
            only_state(&self.forward, states, rows(from))
        });
        let walk = || rows(0).fold(state, |state, row| self.forward.entry(row, state) & STATE);
        (near.unwrap_or_else(walk), self.pair_of(row(last)).1)
    }

    /// The two numbers that a row of the second automaton belongs to.
    fn pair_of(&self, row: u16) -> (u16, u16) {
        let noted = row % (self.numbers * ROW_STATES as u16);
        ((row - noted) / self.numbers, noted)
    }

    /// The first number of a class of characters, as the offset of its row.
    #[inline(always)]
    pub(super) fn number_of(&self, class: Symbol) -> u16 {
        self.of_classes[usize::from(class)]
    }
}

/// The state that an automaton is in after reading rows, in whichever of its first `states` states it began.
fn only_state(automaton: &Rows, states: usize, rows: impl Iterator<Item = u16>) -> Option<u8> {
    let mut after: [u8; ROW_STATES] = std::array::from_fn(|state| state as u8);
    let after = &mut after[..states];
    for row in rows {
        after.iter_mut().for_each(|state| *state = automaton.entry(row, *state) & STATE);
    }
    let (&first, others) = after.split_first()?;
    others.iter().all(|&state| state == first).then_some(first)
}

/// The first automaton. States that are alike are merged.
struct Lookahead {
    /// How many states there are.
    states: usize,
    /// For each class of characters and each state after it: what the second automaton does, and the next
    /// state.
    steps: Vec<Vec<(Column, u8)>>,
    at_end: u8,
}

impl Lookahead {
    fn new(states: &States) -> Option<Self> {
        let (masks, nexts) = states.viable_masks()?;
        let merged = states.merged(&masks);
        let columns: Vec<Vec<Column>> = (0..states.classes())
            .map(|class| masks.iter().map(|&mask| states.column(class, mask, &merged)).collect())
            .collect();
        let parts = refine(masks.len(), |mask, part| {
            let steps = columns.iter().zip(&nexts);
            steps.map(|(columns, nexts)| (columns[mask].clone(), part[nexts[mask]])).collect()
        });
        let count = parts.iter().max()? + 1;
        if count > ROW_STATES {
            return None;
        }
        let first_of = |state: usize| parts.iter().position(|&part| part == state).unwrap_or(0);
        let step = |class: usize, state: usize| {
            let mask = first_of(state);
            (columns[class][mask].clone(), parts[nexts[class][mask]] as u8)
        };
        let steps = (0..states.classes()).map(|class| (0..count).map(|state| step(class, state)).collect());
        // The mask at the end of a text is the first one.
        Some(Lookahead { states: count, steps: steps.collect(), at_end: parts[0] as u8 })
    }
}

/// The numbers of all classes.
struct Numbering {
    of_classes: [u16; MAX_SYMBOLS],
    /// For each number, what the second automaton does; nothing for number 0.
    columns: Vec<Column>,
    backward: Rows,
}

impl Numbering {
    fn new(lookahead: &Lookahead) -> Option<Self> {
        let mut numbering = Numbering {
            of_classes: [0; MAX_SYMBOLS],
            columns: vec![Column::default()],
            backward: Rows::new(),
        };
        // Number 0, which also stands after the last character, leaves the state unchanged.
        let same: [u8; ROW_STATES] = std::array::from_fn(|state| state as u8);
        numbering.backward.set(0, same);
        let mut known: HashMap<&[(Column, u8)], u16> = HashMap::new();
        for (class, steps) in lookahead.steps.iter().enumerate() {
            let offset = match known.get(steps.as_slice()) {
                Some(&offset) => offset,
                None => {
                    let offset = numbering.add(steps)?;
                    known.insert(steps, offset);
                    offset
                }
            };
            numbering.of_classes[class] = offset;
        }
        Some(numbering)
    }

    /// Gives numbers to a class: as many as there are columns for it. Returns the offset of the first one's
    /// row.
    fn add(&mut self, steps: &[(Column, u8)]) -> Option<u16> {
        let first = self.columns.len();
        let mut row = [0; ROW_STATES];
        for (entry, (column, next)) in row.iter_mut().zip(steps) {
            let known = self.columns[first..].iter().position(|known| known == column);
            let note = known.unwrap_or(self.columns.len() - first);
            if known.is_none() {
                self.columns.push(column.clone());
            }
            *entry = next | (note << NOTE_SHIFT) as u8;
        }
        if self.columns.len() > MAX_NUMBERS || self.columns.len() - first > MAX_NOTES {
            return None;
        }
        let offset = (first * ROW_STATES) as u16;
        self.backward.set(offset, row);
        Some(offset)
    }
}

/// The rows of the second automaton, one for each pair of numbers, and how many states are possible after
/// each number; `None` if these are more than 16.
fn forward_rows(columns: &[Column]) -> Option<(Rows, Vec<usize>)> {
    // The states that are possible after each number. In the rows, a state has its index in this list as its
    // number.
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); columns.len()];
    behind[0].push(States::UNMATCHED);
    let mut open = vec![(0, States::UNMATCHED)];
    while let Some((_, state)) = open.pop() {
        for (number, column) in columns.iter().enumerate() {
            let Some((_, next)) = column.next(state) else { continue };
            if !behind[number].contains(&next) {
                behind[number].push(next);
                open.push((number, next));
            }
        }
    }
    if behind.iter().any(|states| states.len() > ROW_STATES) {
        return None;
    }
    let mut rows = Rows::new();
    for (before, states) in behind.iter().enumerate() {
        for (number, column) in columns.iter().enumerate().skip(1) {
            let mut row = [0; ROW_STATES];
            for (entry, &state) in row.iter_mut().zip(states) {
                let Some((ends, next)) = column.next(state) else { continue };
                let local = behind[number].iter().position(|&state| state == next)?;
                *entry = local as u8 | if ends { ENDS } else { 0 };
            }
            rows.set(((before * columns.len() + number) * ROW_STATES) as u16, row);
        }
    }
    Some((rows, behind.iter().map(Vec::len).collect()))
}
