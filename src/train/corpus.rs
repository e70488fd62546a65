//! The text of all words in one array of cells, merged in place.
//!
//! One cell a byte, one sentinel before, between and after the words. A token owns as many cells as it
//! has bytes and writes its id into its first and its last one (boundary tags), so both neighbours of
//! a token are found in one step and no cell ever moves: an occurrence is named by the position of its
//! first cell for good.
//!
//! Two ways to keep it, each in its file: `narrow` in half the memory, `wide` for all other trainings.

use crate::control::Control;
use crate::error::{Error, Result};

/// Words between two looks at the control while a text is laid out.
pub(super) const WORDS_PER_CHECK: usize = 1 << 12;

/// The most cells: positions are `u32`.
const MAX_CELLS: u64 = u32::MAX as u64;

/// The text of all words, in cells.
pub(super) trait Corpus {
    /// How many merges there are ids for.
    fn max_merges(&self) -> usize;

    /// Pairs in the text, weighted; only where it was laid out by a vocabulary.
    fn pairs(&self) -> u64;

    /// A weight that at least `words` words have or exceed; 0 where that is not known.
    fn common_weight(&self, words: usize) -> u64;

    /// Number of cells.
    fn len(&self) -> usize;

    /// What stands between the words, in place of a token.
    fn sentinel(&self) -> u32;

    /// Prefetches the cell at `position`.
    fn prefetch(&self, position: u32);

    /// The token whose first or last cell is at `position`, or the sentinel.
    fn token(&self, position: u32) -> u32;

    /// How often the word around `position`, where a token starts, occurs.
    fn weight(&self, position: u32) -> u64;

    /// Like [`Corpus::weight`], for positions in ascending order. `hint` is 0 at first, and kept by the caller.
    fn next_weight(&self, position: u32, hint: &mut usize) -> u64;

    /// Makes the tokens at `first` and at `second`, which ends before `end`, into `token`.
    fn merge(&mut self, first: u32, second: u32, end: u32, token: u32);
}

/// A word of one byte has no pair; one that never occurs adds to none.
pub(super) fn has_pairs(&(word, weight): &(&[u8], u64)) -> bool {
    word.len() >= 2 && weight > 0
}

/// Cells that the words need, sentinels included; `note` sees each word.
pub(super) fn measure<'w>(
    words: impl Iterator<Item = (&'w [u8], u64)>,
    control: &Control,
    mut note: impl FnMut(&[u8], u64),
) -> Result<u32> {
    let mut bytes = 0;
    let mut count = 1;
    for (i, (word, weight)) in words.filter(has_pairs).enumerate() {
        if i % WORDS_PER_CHECK == 0 {
            control.check()?;
        }
        bytes += word.len() as u64;
        count += 1;
        note(word, weight);
    }
    if bytes + count > MAX_CELLS {
        return Err(Error::TooManyPretokens { bytes, limit: MAX_CELLS - count });
    }
    Ok((bytes + count) as u32)
}
