//! The tokenizer in the metadata of a GGUF file, as llama.cpp reads it.

mod llama_cpp;
mod reader;
pub(super) mod writer;
