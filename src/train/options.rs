//! Options of a training, and its result.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// The rule that decides which of several equally frequent pairs merges. "Ids" are internal ids: bytes by
/// value, then merges by age; if a vocabulary is extended, those of its tokens are in the order of its own
/// ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// The greatest `(bytes, bytes)` tuple, as CS336 has it.
    #[default]
    Bytes,
    /// The greatest pair of ids.
    Ids,
    /// The smallest pair of ids, as in rustbpe and nanochat.
    SmallestIds,
    /// The pair whose first remaining occurrence comes first in the text, as in minbpe.
    First,
    /// The smallest pair of ids, with the 256 bytes in GPT-2's printable order, as in Hugging Face
    /// tokenizers.
    #[serde(rename = "huggingface")]
    HuggingFace,
    /// The greatest pair of ids, with the 256 bytes in GPT-2's printable order.
    PrintableIds,
    /// The greatest pair of spellings in GPT-2's printable characters, as in Hugging Face's trainer that
    /// balances languages.
    Spelling,
}

impl Ties {
    /// The name under which the record of a training has the rule.
    pub(crate) fn record_name(self) -> &'static str {
        match self {
            Ties::Bytes | Ties::Spelling => "bytes",
            Ties::Ids | Ties::PrintableIds => "ids",
            Ties::SmallestIds => "smallest_ids",
            Ties::First => "first",
            Ties::HuggingFace => "huggingface",
        }
    }
}

/// The options of the merge loop.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The rule for equally frequent pairs.
    #[serde(deserialize_with = "ties")]
    pub ties: Ties,
    /// The maximum number of tokens to add.
    pub max_merges: usize,
    /// The minimum number of occurrences of a pair that is merged; 0 counts as 1.
    pub min_frequency: u64,
    /// The maximum number of bytes of a token that is made.
    pub max_token_length: u32,
    /// Bytes of memory that learning may take; `None` for no limit. With less memory than the index takes,
    /// fewer pairs are indexed at a time, and the corpus is scanned more often. The merges are the same.
    pub memory_limit: Option<u64>,
    /// The maximum number of words of a token that is made, from pieces of text in the tokens of the
    /// vocabulary that is extended; `None` to learn from words. Whitespace of ASCII separates words.
    pub max_words: Option<u32>,
}

/// A rule by its name; an error names the option.
fn ties<'de, D: Deserializer<'de>>(json: D) -> Result<Ties, D::Error> {
    Ties::deserialize(json).map_err(|error| D::Error::custom(format_args!("ties: {error}")))
}

impl Default for Options {
    fn default() -> Self {
        Options {
            ties: Ties::Bytes,
            max_merges: 0,
            min_frequency: 1,
            max_token_length: u32::MAX,
            memory_limit: None,
            max_words: None,
        }
    }
}

/// One merge. Ids are internal: 0 to 255 are the byte values, and 256 + i is the i-th token that was added.
/// If a vocabulary is extended, its tokens come first, by ascending id, then those that were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The left token.
    pub left: u32,
    /// The right token.
    pub right: u32,
    /// The token that the pair becomes: a new one, or a token of the extended vocabulary that its own merges
    /// do not make.
    pub token: u32,
    /// The number of occurrences of the pair when it was chosen; 0 if it was not chosen by its count.
    pub count: u64,
}
