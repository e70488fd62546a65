//! Truncation and padding, which set the number of tokens of an encoding or of a batch.

use serde::Deserialize;

use super::encoding::Encoding;
use super::processor::{PostProcessor, without_processor};
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The longer one, then both.
    LongestFirst,
    OnlyFirst,
    OnlySecond,
}

/// How texts are cut. As JSON, the arguments of `enable_truncation` of `tokenizers`.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Truncation {
    /// The maximum number of tokens, those of a template included.
    pub max_length: usize,
    /// The number of tokens that overlapping parts share.
    pub stride: usize,
    pub strategy: Strategy,
    /// The side on which tokens are cut off.
    #[serde(rename = "direction")]
    pub side: Side,
}

/// How encodings are filled up. As JSON, the arguments of `enable_padding` of `tokenizers`.
#[derive(Clone, Debug, Deserialize)]
pub struct Padding {
    /// The number of tokens; `None` for that of the longest of a batch.
    pub(crate) length: Option<usize>,
    /// The number of tokens is a multiple of this.
    #[serde(rename = "pad_to_multiple_of")]
    pub(crate) multiple: Option<usize>,
    #[serde(rename = "direction")]
    pub(crate) side: Side,
    #[serde(rename = "pad_id")]
    pub(crate) id: u32,
    #[serde(rename = "pad_type_id")]
    pub(crate) type_id: u32,
    #[serde(rename = "pad_token")]
    pub(crate) token: String,
}

/// The maximum length to which encodings are padded: more than the longest context of any model.
const MAX_PADDED: usize = 1 << 24;

impl Padding {
    /// # Errors
    /// [`Error::BrokenPart`] if it pads to more than [`MAX_PADDED`] tokens.
    pub fn check(&self) -> Result<()> {
        match [self.length, self.multiple].into_iter().flatten().find(|&length| length > MAX_PADDED) {
            Some(length) => {
                let reason = format!("{length} is not a length from 0 to {MAX_PADDED}");
                Err(Error::BrokenPart("$.padding".into(), reason))
            }
            None => Ok(()),
        }
    }
}

/// How encodings are finished.
pub struct Finishing {
    pub truncation: Option<Truncation>,
    pub processor: Option<PostProcessor>,
    pub padding: Option<Padding>,
}

impl Finishing {
    /// Makes an encoding of each item, which is one text or two, and fills up all to one length.
    pub fn finish(&self, items: Vec<Vec<Encoding>>, adds_tokens: bool) -> Result<Vec<Encoding>> {
        let items = items.into_iter().map(|item| self.processed(item, adds_tokens));
        let mut finished = items.collect::<Result<Vec<_>>>()?;
        if let Some(padding) = &self.padding {
            pad(&mut finished, padding);
        }
        Ok(finished)
    }

    /// Truncates one text or two, and puts the tokens of the post-processor around them.
    fn processed(&self, mut encodings: Vec<Encoding>, adds_tokens: bool) -> Result<Encoding> {
        let processor = self.processor.as_ref();
        if let Some(truncation) = &self.truncation {
            let is_pair = encodings.len() == 2;
            let added = processor.filter(|_| adds_tokens).map_or(0, |processor| processor.added(is_pair));
            truncation.apply(&mut encodings, added)?;
        }
        match processor {
            Some(processor) => processor.process(encodings, adds_tokens),
            None => without_processor(encodings),
        }
    }
}

/// Fills up encodings to the length of the padding, or of the longest.
fn pad(encodings: &mut [Encoding], padding: &Padding) {
    let longest = || encodings.iter().map(Encoding::token_count).max().unwrap_or(0);
    let length = padding.length.unwrap_or_else(longest);
    let length = match padding.multiple {
        Some(multiple @ 1..) => length.next_multiple_of(multiple),
        _ => length,
    };
    let on_left = padding.side == Side::Left;
    for encoding in encodings {
        encoding.pad(length, on_left, padding.id, padding.type_id, &padding.token);
    }
}

impl Truncation {
    /// Cuts one or two encodings so that with `added` tokens they have at most `max_length`. As in
    /// `tokenizers`, nothing is cut if there is no room for the added tokens alone.
    fn apply(&self, encodings: &mut [Encoding], added: usize) -> Result<()> {
        let Some(room) = self.max_length.checked_sub(added) else { return Ok(()) };
        let counts: Vec<usize> = encodings.iter().map(Encoding::token_count).collect();
        let excess = counts.iter().sum::<usize>().saturating_sub(room);
        if room > 0 && excess == 0 {
            return Ok(());
        }
        let lengths = if room == 0 { vec![0; counts.len()] } else { self.lengths(&counts, room, excess)? };
        let mut pairs = encodings.iter_mut().zip(lengths);
        pairs.try_for_each(|(encoding, length)| {
            encoding.truncate(length, self.stride, self.side == Side::Left)
        })
    }

    /// The lengths to cut one or two encodings to.
    fn lengths(&self, counts: &[usize], room: usize, excess: usize) -> Result<Vec<usize>> {
        let index = match (self.strategy, counts) {
            (Strategy::LongestFirst, &[first, second]) => return Ok(both(first, second, room)),
            (Strategy::LongestFirst, _) => return Ok(vec![room]),
            (Strategy::OnlyFirst, _) => 0,
            (Strategy::OnlySecond, _) => 1,
        };
        let refused = |reason: &str| Err(Error::Invalid(format!("Truncation error: {reason}")));
        match counts.get(index) {
            None => refused("Second sequence not provided"),
            Some(&count) if count <= excess => {
                refused("Sequence to truncate too short to respect the provided max_length")
            }
            Some(&count) => {
                let mut lengths = counts.to_vec();
                lengths[index] = count - excess;
                Ok(lengths)
            }
        }
    }
}

/// The longer of two gets the room that the shorter leaves; if that is not enough, each gets a half.
fn both(first: usize, second: usize, room: usize) -> Vec<usize> {
    let mut shorter = first.min(second);
    let mut longer = if shorter > room { shorter } else { shorter.max(room - shorter) };
    if shorter + longer > room {
        (shorter, longer) = (room / 2, room / 2 + room % 2);
    }
    if first > second { vec![longer, shorter] } else { vec![shorter, longer] }
}
