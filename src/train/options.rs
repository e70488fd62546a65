//! What a training is asked for, and what it makes.

/// Which of several pairs of equal count is merged. "Ids" are internal: bytes by value, then merges by age; those of
/// a vocabulary that is extended are its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The greatest `(bytes, bytes)` tuple, as CS336 has it.
    #[default]
    Bytes,
    /// The greatest pair of ids.
    Ids,
    /// The smallest pair of ids, as in rustbpe and nanochat.
    SmallestIds,
    /// The pair whose first live occurrence comes first in the text, as in minbpe.
    First,
    /// The smallest pair of ids where the 256 bytes rank in GPT-2's printable order, as in Hugging Face tokenizers.
    HuggingFace,
}

/// The options of the merge loop.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which of several pairs of equal count is merged.
    pub ties: Ties,
    /// Tokens to add at the most.
    pub max_merges: usize,
    /// A pair that occurs less often is never merged; 0 counts as 1.
    pub min_frequency: u64,
    /// A pair of more bytes together is never merged.
    pub max_token_length: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { ties: Ties::Bytes, max_merges: 0, min_frequency: 1, max_token_length: u32::MAX }
    }
}

/// One merge. Ids are internal: 0..256 are the byte values, 256 + i is the token that was added as number i. Where a
/// vocabulary is extended, its own tokens come first, by ascending id, and then those that were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The left token.
    pub left: u32,
    /// The right token.
    pub right: u32,
    /// The token that the pair becomes: a new one, or one of the extended vocabulary that its own merges never made.
    pub token: u32,
    /// How often the pair occurred when it was chosen; 0 where it was not chosen by its count.
    pub count: u64,
}

/// Unique pretokens with their counts.
pub(super) trait Words<'w>: Iterator<Item = (&'w [u8], u64)> + Clone {}

impl<'w, I: Iterator<Item = (&'w [u8], u64)> + Clone> Words<'w> for I {}
