//! What Hugging Face's `tokenizers` does to the ids of a text: [`Encoding`] is the ids with what is known of each,
//! [`PostProcessor`] puts tokens around them, and [`Truncation`] and [`Padding`] set their number.

mod encoding;
mod lengths;
mod places;
mod processor;
mod run;

pub use encoding::Encoding;
pub use lengths::{Padding, Side, Strategy, Truncation, finish, pad};
pub use processor::{Piece, PostProcessor, Sequence, Step};
pub use run::{Columns, Run, Source, Span, TextColumns};
