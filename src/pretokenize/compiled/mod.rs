//! Patterns compiled to an automaton over classes of characters: the engine for patterns without a scanner.
//!
//! 1. The sets of a pattern (`\p{L}`, `[^\s]`, one letter) divide all characters into classes: two characters
//!    are in one class if no set distinguishes them. Most patterns need fewer than twenty ([`alphabet`]).
//! 2. The pattern becomes a program of instructions with priorities, as a backtracking engine would try them
//!    ([`program`]). A lookahead is an instruction that looks at the class of the next character.
//! 3. The program becomes a table: one row for each list of instructions that can be alive at once, in the
//!    order of their priority, one column for each class and one for the end of the text ([`automaton`]). The
//!    table gives the match that backtracking would find first, in one pass and without backtracking.
//! 4. The table becomes two small automata, if it can, which find the pretokens without going back
//!    ([`bimachine`]).
//! 5. A scanner reads windows of a text with these ([`window`]), or else one entry of the table for each
//!    character ([`scan`]).
//! 6. For other programs, the transitions of the table are handed out as plain data ([`plain`]).
//!
//! Patterns that this engine cannot express are refused with the name of the cause
//! ([`crate::Error::Pattern`]), and run in the `regex` package.

mod alphabet;
mod automaton;
mod bimachine;
mod cuts;
mod entry;
mod expression;
mod failures;
mod plain;
mod program;
mod refine;
mod scan;
mod states;
mod stripe;
mod symbols;
mod window;

pub use alphabet::Alphabet;
pub use automaton::{Automaton, compile};
pub use expression::{Expression, Repeat};
pub use scan::CompiledScanner;
pub use symbols::{Symbol, SymbolSet};

#[cfg(test)]
mod tests;
