//! What a pre-tokenizer changes in a text before its last cut: marks in place of spaces, and in front.

use super::prefix::Prefix;
use crate::pretokenize::Pretokenizer;

/// A part of a pre-tokenizer that changes text, ByteLevel or Metaspace, with all that cuts the text before it.
#[derive(Clone)]
pub struct Rewrite {
    /// What cuts a stretch into the pieces that are changed; `None` to cut nowhere.
    pub splits: Option<Pretokenizer>,
    /// What stands for a space afterwards, and is put in front.
    pub mark: char,
    /// Which pieces get the mark in front.
    pub prefix: Prefix,
}

impl Rewrite {
    /// A space before a text.
    pub fn space_before(prefix: Prefix) -> Self {
        Rewrite { splits: None, mark: ' ', prefix }
    }

    /// Whether nothing but a space before a text is changed.
    pub(crate) fn is_only_prefix(&self) -> bool {
        self.splits.is_none() && self.mark == ' '
    }
}
