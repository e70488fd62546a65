//! Byte-level BPE: train a vocabulary, encode text to ids, decode ids to bytes. Exactly, and fast.
//!
//! One flow:
//!
//! ```text
//!                       ┌─ count ── train ─┐
//! text ─ special ─ pretokenize             ├─ vocab
//!                       └─ encode ─ ids ───┘
//!                                  ids ── decode ── bytes
//! ```
//!
//! Each step uses the ones before it. [`special`] also knows where [`pretokenize`] may cut a text, so that streams
//! and files can be cut anywhere else. All of them use `merge` (the BPE of one pretoken), [`normalize`] (changes of a
//! text before all else), [`dialects`] (patterns of other engines), [`source`] (files and text in memory), [`transcode`] (UTF-8 to characters of a fixed
//! width), [`arrow`] (columns of other libraries), `simd` (instruction sets), `hashing`, [`control`] (progress and
//! interruption), [`workers`] (threads) and [`error`].
//! No two modules use each other. Everything here works on bytes and ids; Python is known to the binding alone.
//!
//! From text to merges, to a vocabulary, to ids and back:
//!
//! ```
//! use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
//! use toksmith::{Control, Encoder, Vocab, count, decode, special::Specials, train};
//!
//! let control = Control::none();
//! let pattern = Pattern::Named(Named::Gpt2, Isa::best());
//! let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
//! let specials = Specials::new(vec![])?;
//! let options = count::CountOptions::default();
//! let mut counting = count::Counting::new(specials, pretokenizer.clone(), options);
//! counting.document(b"low low low lower lowest", &control)?;
//! let counts = counting.finish(&control)?;
//!
//! let options = train::Options { max_merges: 3, ..train::Options::default() };
//! let merges = train::learn_merges(counts.words(), &options, &control)?;
//! let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
//! let mut pairs = Vec::new();
//! for merge in &merges {
//!     let pair = (tokens[merge.left as usize].clone(), tokens[merge.right as usize].clone());
//!     tokens.push([pair.0.as_slice(), &pair.1].concat());
//!     pairs.push(pair);
//! }
//! let vocab = Vocab::new(&(0..).zip(tokens).collect::<Vec<_>>(), Some(&pairs), &[])?;
//!
//! let encoder = Encoder::new(vocab, pretokenizer);
//! let ids = encoder.encode_to_vec(b"low lower", true, &control)?;
//! assert_eq!(decode::decode(encoder.vocab(), &ids, &control)?, b"low lower");
//! # Ok::<(), toksmith::Error>(())
//! ```

#[cfg(target_endian = "big")]
compile_error!(
    "toksmith needs a little-endian machine: scanners and hashes read bytes as little-endian words, and nothing was tested on a big-endian one"
);

pub mod arrow;
pub mod control;
pub mod count;
pub mod decode;
pub mod dialects;
pub mod encode;
pub mod error;
mod hashing;
pub mod huggingface;
mod memory;
mod merge;
mod names;
pub mod normalize;
pub mod pipeline;
pub mod postprocess;
pub mod pretokenize;
#[cfg(test)]
#[path = "../tests/rust/random.rs"]
mod random;
mod room;
pub mod shards;
mod simd;
pub mod source;
pub mod special;
mod spelling;
pub mod train;
pub mod transcode;
pub mod vocab;
pub mod workers;

#[cfg(feature = "python")]
mod python;

pub use control::Control;
pub use encode::Encoder;
pub use error::{Error, Result};
pub use vocab::Vocab;
