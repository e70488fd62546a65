//! What Hugging Face's `tokenizers` does to the ids of a text: [`Encoding`] is the ids with what is known of
//! each, [`PostProcessor`] puts tokens around them, and [`Finishing`] does so, truncates and pads.

mod encoding;
mod lengths;
mod processor;
mod run;

pub(crate) use encoding::Encoding;
pub(crate) use lengths::{Finishing, Padding};
pub(crate) use processor::{PostProcessor, Step, TemplatePiece};
pub(crate) use run::{Columns, Run, RunSource, Span, TextColumns};
