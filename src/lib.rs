#![cfg_attr(not(feature = "shards"), allow(dead_code, unused_imports))] // what shards alone use
//! Byte-level BPE: train a vocabulary, encode text to ids, decode ids to bytes. Exactly, and fast.
//!
//! [`Tokenizer`] loads the files that models come with, and its ids are those of the original libraries.
//! [`train`](fn@train) and [`train_files`] make a new one:
//!
//! ```
//! # fn main() -> Result<(), toksmith::Error> {
//! use toksmith::{Special, TrainOptions, train};
//!
//! let mut options = TrainOptions::new(260);
//! options.special_tokens = vec!["<|endoftext|>".into()];
//! let tokenizer = train(["low low low lower lowest"], &options)?;
//!
//! let ids = tokenizer.encode("low lower<|endoftext|>", Special::Ids)?;
//! assert_eq!(ids, [258, 259, 102, 115, 0]);
//! assert_eq!(tokenizer.decode(&ids)?, "low lower<|endoftext|>");
//! # Ok(())
//! # }
//! ```
//!
//! In a manifest: `toksmith = { git = "…" }`, or `path = "…"` beside a checkout; the crate is not on a
//! registry yet.
//!
//! # By task
//!
//! | to | use |
//! |---|---|
//! | load a file or the folder of a model | [`Tokenizer::load`]; a rank file: [`Tokenizer::from_tiktoken`] |
//! | write a file | [`Tokenizer::save`]; in another format: [`Tokenizer::to_bytes`], [`Tokenizer::to_gpt2`] |
//! | encode a text | [`Tokenizer::encode`], [`encode_with_offsets`](Tokenizer::encode_with_offsets) |
//! | encode many on several threads | [`Tokenizer::encode_batch`] |
//! | encode a text that comes in pieces | [`Tokenizer::stream`] |
//! | choose which names of special tokens count | [`Special`], [`SpecialSet`] |
//! | count, cut to a length, split | [`Tokenizer::count`], [`truncate`](Tokenizer::truncate), [`split`](Tokenizer::split) |
//! | keep the ids of a text under edits | [`Tokenizer::document`] |
//! | decode | [`Tokenizer::decode`], [`decode_bytes`](Tokenizer::decode_bytes) |
//! | decode ids as a model gives them, up to stop strings | [`Tokenizer::decode_stream`] |
//! | add special tokens, shrink, renumber | [`Tokenizer::with_special_tokens`], [`shrunk`](Tokenizer::shrunk), [`relabeled`](Tokenizer::relabeled) |
//! | compare | `==`, [`Tokenizer::fingerprint`] |
//! | train | [`train`](fn@train), [`train_files`], [`TrainOptions`] |
//!
//! `examples/rust/tour.rs` does most of it in one program.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `compression` | training files in gzip, Zstandard, xz and bzip2; compiles C |
//! | `shards` | shards of training data, for the Python package; compiles C |
//!
//! None is on by default, and without them no C compiler is needed. The crate is tested with the Rust version
//! that it was written with; `rust-version` in its manifest is the oldest that its own code needs, by
//! Clippy's lint of that name.
//!
//! # Patterns
//!
//! The named patterns, and published spellings of them, run as scanners. Any other expression is compiled to
//! an automaton, which takes all regular constructs and looks ahead at one character; an error names a
//! construct that it does not take. Its classes of characters are those of Unicode 16, as in tiktoken and
//! `tokenizers`.
//!
//! # Stability
//!
//! The items of this page are the public interface. The modules that it does not show are for the Python
//! package, the crate `toksmith-python`, and change with it.

#[cfg(target_endian = "big")]
compile_error!(
    "toksmith needs a little-endian machine: scanners and hashes read bytes as little-endian words, and nothing was tested on a big-endian one"
);

#[cfg(feature = "shards")]
#[doc(hidden)]
pub mod arrow;
#[cfg(feature = "shards")]
mod chat;
#[doc(hidden)]
pub mod control;
#[doc(hidden)]
pub mod count;
#[doc(hidden)]
pub mod decode;
#[doc(hidden)]
pub mod dialects;
#[doc(hidden)]
pub mod encode;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod formats;
mod hashing;
#[doc(hidden)]
pub mod memory;
mod merge;
mod names;
#[doc(hidden)]
pub mod normalize;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod postprocess;
#[doc(hidden)]
pub mod pretokenize;
#[cfg(test)]
#[path = "../tests/rust/random.rs"]
mod random;
#[doc(hidden)]
pub mod room;
#[doc(hidden)]
#[cfg(feature = "shards")]
pub mod shards;
mod simd;
#[doc(hidden)]
pub mod source;
#[doc(hidden)]
pub mod special;
#[doc(hidden)]
pub mod spelling;
#[doc(hidden)]
pub mod tokenizer;
#[doc(hidden)]
pub mod train;
#[doc(hidden)]
pub mod transcode;
#[doc(hidden)]
pub mod vocab;
#[doc(hidden)]
pub mod workers;

/// The examples in Rust of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[doc(hidden)]
pub use control::Control;
#[doc(hidden)]
pub use encode::Encoder;
pub use encode::{Document, EncodeStream, Special, SpecialSet, SpecialTokens};
pub use error::{Error, Result};
pub use tokenizer::{Boundary, DecodeOptions, DecodeStream, EncodedPair, Tokenizer};
pub use tokenizer::{TrainOptions, train, train_files};
pub use train::Ties;
#[doc(hidden)]
pub use vocab::Vocab;
