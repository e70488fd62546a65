//! An automaton as plain data, for programs in other languages that find the same pretokens.
//!
//! Such a program begins in state 0 at the start of a pretoken. It looks up the transition of its state for
//! the class of the next character, or for the end of the text. If the transition says that a match ends
//! here, the program notes the place. Then it takes the character and continues in the next state. If there
//! is no next state, the pretoken ends at the place that was noted last. If no place was noted, no match
//! begins, and the next character is tried.

use super::automaton::Automaton;
use super::entry::Entry;
use super::symbols::Symbol;

impl Automaton {
    /// The class of every code point, as ranges of code points of the same class: the first code point of
    /// each range, and its class.
    pub fn classes_of_all(&self) -> Vec<(u32, Symbol)> {
        let mut stretches: Vec<(u32, Symbol)> = Vec::new();
        for code_point in 0..=u32::from(char::MAX) {
            let class = self.alphabet.class_of(code_point);
            if stretches.last().is_none_or(|&(_, last)| last != class) {
                stretches.push((code_point, class));
            }
        }
        stretches
    }

    /// What each state does at each symbol, in rows of one number for each class and one for the end of the
    /// text. The number is `2 * (next + 1)` for the next state, or 0 if there is none; 1 is added if a match
    /// ends before the symbol.
    pub fn transitions(&self) -> Vec<u32> {
        let symbols = self.classes() as u32 + 1;
        let next = |entry: &Entry| entry.next().map_or(0, |row| row / symbols + 1);
        self.table.iter().map(|entry| next(entry) << 1 | u32::from(entry.is_match())).collect()
    }
}
