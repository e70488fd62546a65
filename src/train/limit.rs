//! How large the tokens may get that training makes.

use super::options::Options;
use super::tokens::TokenInfo;
use crate::error::Result;
use crate::room;
use crate::vocab::Vocab;

/// Says which pairs may be merged.
pub(super) trait Limit {
    /// Whether a token of these two is not too large.
    fn fits(&self, tokens: &TokenInfo, left: u32, right: u32) -> bool;

    /// Adds the token that a merge makes.
    fn push(&mut self, left: u32, right: u32) -> Result<()>;
}

/// A maximum number of bytes.
pub(super) struct MaxBytes(pub(super) u32);

impl Limit for MaxBytes {
    #[inline]
    fn fits(&self, tokens: &TokenInfo, left: u32, right: u32) -> bool {
        tokens.size(left, right) <= self.0
    }

    #[inline]
    fn push(&mut self, _: u32, _: u32) -> Result<()> {
        Ok(())
    }
}

/// A maximum number of words, which whitespace of ASCII separates, and of bytes.
pub(super) struct MaxWords {
    words: u32,
    bytes: u32,
    sizes: Vec<Size>,
}

impl MaxWords {
    /// A limit for tokens that are made of those of a vocabulary.
    pub(super) fn new(vocab: &Vocab, words: u32, options: &Options) -> Result<Self> {
        let sizes = room::collected(vocab.tokens().iter().map(|(_, token)| Size::of(token)))?;
        Ok(MaxWords { words, bytes: options.max_token_length, sizes })
    }

    fn size(&self, left: u32, right: u32) -> Size {
        self.sizes[left as usize].and(self.sizes[right as usize])
    }
}

impl Limit for MaxWords {
    #[inline]
    fn fits(&self, tokens: &TokenInfo, left: u32, right: u32) -> bool {
        self.size(left, right).words <= self.words && tokens.size(left, right) <= self.bytes
    }

    fn push(&mut self, left: u32, right: u32) -> Result<()> {
        let size = self.size(left, right);
        room::push(&mut self.sizes, size)
    }
}

/// The size of a token.
#[derive(Clone, Copy)]
struct Size {
    words: u32,
    /// Whether the first byte belongs to a word, and whether the last one does.
    begins: bool,
    ends: bool,
}

impl Size {
    fn of(token: &[u8]) -> Self {
        // As in Python, a vertical tab is whitespace too.
        let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| !is_space(byte));
        let words = token.split(is_space).filter(|word| !word.is_empty()).count();
        Size { words: words as u32, begins: is_word(token.first()), ends: is_word(token.last()) }
    }

    /// The size of this token and another one together; none of them is empty.
    fn and(self, next: Self) -> Self {
        Size {
            words: (self.words + next.words).saturating_sub(u32::from(self.ends && next.begins)),
            begins: self.begins,
            ends: next.ends,
        }
    }
}
