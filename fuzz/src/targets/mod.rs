//! What is fuzzed: each target takes any bytes, and panics where the package differs from the definition.
//!
//! `fuzz/` feeds them from libFuzzer; the tests of the package run them over the corpus once.

mod containers;
mod encode;
mod input;
mod normalize;
mod pieces;
mod scanner;
mod source;
mod special;
mod state;
mod stream;
mod train;
mod vocabulary;

/// A target: it returns for every input, or panics.
pub(crate) type Target = fn(&[u8]);

/// All targets by name.
pub(crate) const ALL: [(&str, Target); 10] = [
    ("scanner", scanner::run),
    ("encode", encode::run),
    ("stream", stream::run),
    ("pieces", pieces::run),
    ("special", special::run),
    ("train", train::run),
    ("source", source::run),
    ("containers", containers::run),
    ("state", state::run),
    ("normalize", normalize::run),
];
