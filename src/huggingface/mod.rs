//! Files of Hugging Face's `tokenizers`: a `tokenizer.json` and its parts.
//!
//! [`reader`] takes the file apart in one pass, [`model`] checks what it says about tokens and merges, [`added`] gives the
//! added tokens their ids, and [`mod@file`] makes a vocabulary of all of it. [`mod@pipeline`] reads the other parts:
//! [`normalizer`], [`pretokenizer`] with [`spaces`], and [`decoder`], whose regular expressions are in [`patterns`];
//! [`post_processor`] the last one.

mod added;
mod decoder;
mod file;
mod gguf;
mod gguf_writer;
mod llama_cpp;
mod metaspace;
mod model;
mod normalizer;
mod part;
mod patterns;
mod pipeline;
mod place;
mod post_processor;
mod pretokenizer;
mod protobuf;
mod reader;
mod renumber;
mod sentencepiece;
mod sentencepiece_writer;
mod spaces;

pub use added::AddedToken;
pub use file::TokenizerFile;
pub use gguf_writer::{Templates, gguf_of_bytes, gguf_of_characters, llama_cpp_name};
pub use patterns::PatternEngines;
pub use pipeline::FilePipeline;
pub use post_processor::read_post_processor;
pub use renumber::renumber;
pub use sentencepiece_writer::{Steps, sentencepiece_model};
