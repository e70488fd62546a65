//! What is fuzzed: each target takes any bytes, and panics where the package differs from the definition.
//!
//! `fuzz/` feeds them from libFuzzer; the tests of the package run them over the corpus once.

mod containers;
mod encode;
mod gguf;
mod input;
mod normalize;
mod pieces;
mod scanner;
mod sentencepiece_model;
mod source;
mod special;
mod state;
mod stream;
mod tekken;
mod tokenizer_files;
mod train;
mod vocabulary;

/// A target: it returns for every input, or panics.
pub(crate) type Target = fn(&[u8]);

/// All targets by name.
pub(crate) const ALL: [(&str, Target); 13] = [
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
    ("sentencepiece_model", sentencepiece_model::run),
    ("gguf", gguf::run),
    ("tekken", tekken::run),
];
