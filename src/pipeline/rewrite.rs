//! What a pre-tokenizer changes in a text before its last cut: marks in place of spaces, and in front.

use crate::pretokenize::Pretokenizer;

/// A part of a pre-tokenizer that changes text, ByteLevel or Metaspace, with all that cuts the text before
/// it.
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

/// Which stretches of text, between two added tokens, are encoded as if a space, or another mark, stood
/// before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// None.
    #[default]
    None,
    /// All.
    Always,
    /// Those that do not begin with the mark.
    Missing,
    /// The one that begins a text, if it does not begin with the mark.
    First,
}

impl Prefix {
    /// Whether a stretch gets a mark in front, such as a space; `is_first` says that it begins the text.
    #[inline]
    pub(crate) fn is_before(self, stretch: &[u8], mark: &[u8], is_first: bool) -> bool {
        let lacks = !stretch.starts_with(mark);
        match self {
            Prefix::None => false,
            Prefix::Always => true,
            Prefix::Missing => lacks,
            Prefix::First => lacks && is_first,
        }
    }
}
