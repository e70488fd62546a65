//! The states of a pattern's automaton, as a bimachine needs them.

use std::collections::HashMap;

use super::entry::Entry;
use super::refine::refine;

/// The states of a pattern: the rows of its table. State 0 is the start.
pub(super) struct States<'a> {
    table: &'a [Entry],
    /// How many entries a row has: one for each class of characters, and one for the end of the text.
    symbols: usize,
}

/// A set of states, a bit for each.
type Mask = u64;

/// What the states of the second automaton do at a character with a certain text after it: for each state,
/// whether a pretoken ends before the character, and the next state; nothing for states that are not possible
/// there.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Column(Vec<Option<(bool, usize)>>);

impl Column {
    pub(super) fn next(&self, state: usize) -> Option<(bool, usize)> {
        self.0.get(state).copied().flatten()
    }
}

impl<'a> States<'a> {
    /// The state of text in which no match begins. Its number is higher than that of any other state.
    pub(super) const UNMATCHED: usize = States::MAX;
    /// The maximum number of states of which a bimachine is made: a mask has a bit for each.
    const MAX: usize = Mask::BITS as usize;
    /// The maximum number of masks. Published patterns that fit have less than 20.
    const MAX_MASKS: usize = 64;

    pub(super) fn new(table: &'a [Entry], symbols: usize) -> Self {
        States { table, symbols }
    }

    /// How many classes of characters there are.
    pub(super) fn classes(&self) -> usize {
        self.symbols - 1
    }

    fn count(&self) -> usize {
        self.table.len() / self.symbols
    }

    /// Whether a match ends in a state when a symbol follows, and the next state.
    fn transition(&self, state: usize, symbol: usize) -> (bool, Option<usize>) {
        let entry = self.table[state * self.symbols + symbol];
        (entry.is_match(), entry.next().map(|row| row as usize / self.symbols))
    }

    /// The sets of states that find a match in some text: first the mask at the end of a text, then those
    /// before more text. For each class of characters and each mask after it, the number of the mask before
    /// it. `None` if there are too many.
    pub(super) fn viable_masks(&self) -> Option<(Vec<Mask>, Vec<Vec<usize>>)> {
        if self.count() > Self::MAX {
            return None;
        }
        let mut masks = vec![self.viable_before(self.classes(), 0)];
        let mut numbers = HashMap::from([(masks[0], 0)]);
        let mut nexts = vec![Vec::new(); self.classes()];
        let mut at = 0;
        while at < masks.len() {
            for (class, nexts) in nexts.iter_mut().enumerate() {
                let before = self.viable_before(class, masks[at]);
                let new = masks.len();
                let number = *numbers.entry(before).or_insert(new);
                if number == new {
                    masks.push(before);
                }
                nexts.push(number);
            }
            if masks.len() > Self::MAX_MASKS {
                return None;
            }
            at += 1;
        }
        Some((masks, nexts))
    }

    /// The states that find a match if `symbol` follows, and after it a text in which the states of `mask`
    /// find one.
    fn viable_before(&self, symbol: usize, mask: Mask) -> Mask {
        let finds = |state: &usize| {
            let (is_match, next) = self.transition(*state, symbol);
            is_match || next.is_some_and(|next| mask >> next & 1 == 1)
        };
        (0..self.count()).filter(finds).fold(0, |viable, state| viable | 1 << state)
    }

    /// The next state of `state` at a character of `class`, if that state finds a match in the text after it.
    fn viable_next(&self, state: usize, class: usize, mask: Mask) -> Option<usize> {
        self.transition(state, class).1.filter(|next| mask >> next & 1 == 1)
    }

    /// What a state of the second automaton does at a character, if the states of `mask` find a match after
    /// it.
    fn step(&self, state: usize, class: usize, mask: Mask) -> Option<(bool, usize)> {
        // Text in which no match begins stays unmatched up to the place where one begins.
        let begun = self.viable_next(0, class, mask);
        if state == Self::UNMATCHED {
            return Some(begun.map_or((false, Self::UNMATCHED), |next| (true, next)));
        }
        if let Some(next) = self.viable_next(state, class, mask) {
            return Some((false, next));
        }
        self.transition(state, class).0.then_some((true, begun.unwrap_or(Self::UNMATCHED)))
    }

    /// For each state, and for [`States::UNMATCHED`], the first of the states that do the same in all texts.
    pub(super) fn merged(&self, masks: &[Mask]) -> Vec<usize> {
        // Unmatched text comes first, so that it represents the states that do the same.
        let state_of = |number: usize| if number == 0 { Self::UNMATCHED } else { number - 1 };
        let number_of = |state: usize| if state == Self::UNMATCHED { 0 } else { state + 1 };
        let parts = refine(self.count() + 1, |number, parts| {
            let mut all = Vec::with_capacity(masks.len() * self.classes());
            for &mask in masks {
                let step = |class| self.step(state_of(number), class, mask);
                all.extend(
                    (0..self.classes())
                        .map(|class| step(class).map(|(ends, next)| (ends, parts[number_of(next)]))),
                );
            }
            all
        });
        let first_of = |part: usize| parts.iter().position(|&other| other == part).unwrap_or(0);
        let mut merged = vec![Self::UNMATCHED; Self::UNMATCHED + 1];
        for (number, &part) in parts.iter().enumerate() {
            merged[state_of(number)] = state_of(first_of(part));
        }
        merged
    }

    /// What the second automaton does at a character of `class`, if the states of `mask` find a match after
    /// it. `merged` is the result of [`States::merged`].
    pub(super) fn column(&self, class: usize, mask: Mask, merged: &[usize]) -> Column {
        let mut column = vec![None; Self::UNMATCHED + 1];
        for state in (0..self.count()).chain([Self::UNMATCHED]).filter(|&state| merged[state] == state) {
            column[state] = self.step(state, class, mask).map(|(ends, next)| (ends, merged[next]));
        }
        Column(column)
    }
}
