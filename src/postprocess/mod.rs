//! What Hugging Face's `tokenizers` does to the ids of a text: [`Encoding`] is the ids with what is known of
//! each, [`PostProcessor`] puts tokens around them, and [`Finishing`] does so, truncates and pads.

mod encoding;
mod lengths;
mod processor;
mod run;

pub use encoding::Encoding;
pub use lengths::{Finishing, Padding};
pub use processor::PostProcessor;
pub(crate) use processor::{Step, TemplatePiece};
pub use run::{Columns, Run, RunSource, Span, TextColumns};
