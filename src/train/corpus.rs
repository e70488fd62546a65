//! The corpus: the text of all words in one array of cells, in which tokens are merged in place.
//!
//! Each byte of a word is one cell, and one sentinel is before, between and after the words. A token owns as
//! many cells as it has bytes; its id is in the first and in the last of them (boundary tags). So both
//! neighbours of a token are found in one step, and no merge moves a cell: the position of its first cell
//! identifies an occurrence until the text is compacted, which gives each token one cell.
//!
//! There are two implementations: `corpus16` takes half the memory, `corpus32` serves all trainings that do
//! not fit it.

use super::tokens::TokenInfo;
use crate::control::Control;
use crate::error::{Error, Result};

/// Words between two checks of the control while the text is laid out.
pub(super) const WORDS_PER_CHECK: usize = 1 << 12;

/// The maximum number of cells, since positions are `u32`.
const MAX_CELLS: u64 = u32::MAX as u64;

/// The text of all words in cells.
pub(super) trait Corpus {
    /// The number of merges for which there are ids.
    fn max_merges(&self) -> usize;

    /// The weighted number of pairs in the text; 0 if it was laid out as bytes.
    fn pairs(&self) -> u64 {
        0
    }

    /// A weight that at least `words` words reach; 0 if none is known.
    fn common_weight(&self, _words: usize) -> u64 {
        0
    }

    /// The number of cells.
    fn len(&self) -> usize;

    /// Bytes of memory that the cells and their weights take.
    fn memory(&self) -> u64;

    /// The value that stands between words in place of a token.
    fn sentinel(&self) -> u32;

    /// Prefetches the cell at `position`.
    fn prefetch(&self, position: u32);

    /// The token whose first or last cell is at `position`, or the sentinel.
    fn token(&self, position: u32) -> u32;

    /// The number of occurrences of the word around `position`, at which a token must begin.
    fn weight(&self, position: u32) -> u64;

    /// [`Corpus::weight`] for ascending positions. The caller keeps `hint`, which is 0 at first.
    #[inline]
    fn next_weight(&self, position: u32, _hint: &mut usize) -> u64 {
        self.weight(position)
    }

    /// Merges the tokens at `first` and `second` into `token`. The second one ends before `end`.
    fn merge(&mut self, first: u32, second: u32, end: u32, token: u32);

    /// Gives each token one cell, and removes the words of one token. `tokens` has the present numbers of
    /// cells.
    fn compact(&mut self, tokens: &TokenInfo, control: &Control) -> Result<()>;
}

/// [`Corpus::compact`] for the cells: `token` reads one. Calls `note` for each word with the position at
/// which it began, and the one at which it, or the next word, begins now.
pub(super) fn compact<C: Copy>(
    cells: &mut Vec<C>,
    token: impl Fn(C) -> u32,
    tokens: &TokenInfo,
    control: &Control,
    mut note: impl FnMut(u32, u32),
) -> Result<()> {
    let sentinel = token(cells[0]);
    let (mut from, mut to) = (1, 1);
    for number in 0_usize.. {
        if number.is_multiple_of(WORDS_PER_CHECK) {
            control.check()?;
        }
        let start = to;
        if from == cells.len() {
            break;
        }
        note(from as u32, start as u32);
        while token(cells[from]) != sentinel {
            cells[to] = cells[from];
            to += 1;
            from += tokens.length(token(cells[from])) as usize;
        }
        if to - start == 1 {
            to = start;
        } else {
            cells[to] = cells[from];
            to += 1;
        }
        from += 1;
    }
    cells.truncate(to);
    cells.shrink_to_fit();
    Ok(())
}

/// Whether a word has pairs that count: it needs two bytes or more, and an occurrence.
pub(super) fn has_pairs(&(word, weight): &(&[u8], u64)) -> bool {
    word.len() >= 2 && weight > 0
}

/// The number of cells that the words need, sentinels included. Calls `note` with each word and its weight.
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
