//! The tokenizer in the metadata of a GGUF file, as llama.cpp reads it.

mod llama_cpp;
mod reader;
mod writer;

pub use writer::{Templates, gguf_of_bytes, gguf_of_characters, llama_cpp_name};
