//! Text between special tokens → pretokens.

mod bits;
mod block;
mod cl100k;
pub mod class;
pub mod compiled;
pub mod cut;
mod gpt2;
mod junctions;
pub(crate) mod key;
mod matcher;
mod named;
mod o200k;
mod pretokenizer;
mod rules;
mod scanner;
mod script_table;
pub mod spellings;
mod splitter;
mod stable_suffix;
mod stages;
mod unicode_tables;
mod word_runs;

pub use crate::simd::{ENDS, Isa};
pub use cut::CutRule;
pub use junctions::Junctions;
pub use matcher::{CharKind, Matcher};
pub use named::{Named, next};
pub use pretokenizer::{Pattern, Pretokenizer, Unmatched};
pub use scanner::Scanner;
pub use splitter::{OnMatch, Splitter};
pub use stages::{Behavior, SplitStage, SplitStages};
pub use unicode_tables::{REGEX_VERSION, UNICODE_VERSION};
pub use word_runs::{NamedPretokens, WordRuns};
