//! Dialects of regular expressions: readers of patterns of fancy-regex (tiktoken), Oniguruma (Hugging Face)
//! and the `regex` package of Python, which defines the meaning of every pattern here.
//!
//! - [`from_fancy_regex`] and [`from_oniguruma`] write a pattern for `regex`, [`to_oniguruma`] one of `regex`
//!   for Oniguruma. A construct without a proven equal is refused by name.
//! - [`RegexPattern`] is a pattern of `regex` for the compiled engine ([`crate::pretokenize::compiled`]).
//! - [`size`] bounds what `regex` builds for a pattern.
//!
//! Which characters a class has is asked of the installed `regex` ([`Tables`]), or of regex-syntax
//! ([`SyntaxTables`]) in a program without Python.

mod automaton;
mod cases;
mod cursor;
mod fancy_regex;
mod fancy_sets;
mod members;
mod oniguruma;
mod oniguruma_classes;
mod oniguruma_writer;
pub mod size;
mod tree;
mod unicode;
mod written;

pub use automaton::RegexPattern;
pub use fancy_regex::from_fancy_regex;
pub use members::{Ranges, Tables};
pub use oniguruma::{Translation, from_oniguruma};
pub use oniguruma_writer::to_oniguruma;
pub use unicode::{SYNTAX_UNICODE_VERSION, SyntaxTables};
