//! What a file is read with.

use crate::tokenizer::SourcePattern;
use crate::tokenizer::parts::PatternEngines;
use crate::vocab::SpecialSpec;

/// What a file does not say about its tokenizer.
#[derive(Clone, Default)]
pub struct LoadOptions {
    /// The pattern of a rank file.
    pub pattern: Option<SourcePattern>,
    /// The special tokens of a rank file, some of them with ids.
    pub special_tokens: Vec<SpecialSpec>,
    /// The name of the pre-tokenizer of a GGUF file that has none.
    pub pre_tokenizer: Option<String>,
    /// The seed of the dropout of a model.
    pub dropout_seed: Option<u64>,
}

/// What a reader is called with, besides the content.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) engines: &'a dyn PatternEngines,
    pub(super) options: &'a LoadOptions,
}
