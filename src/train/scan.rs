//! Fills the index from the whole text, in time linear in it.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::corpus::Corpus;
use super::index::PairIndex;
use super::tokens::{BYTE_TOKENS, TokenInfo, pack};
use crate::control::Control;
use crate::count::MAX_COUNT;
use crate::error::{Error, Result};
use crate::room;

/// Cells between two looks at the control.
const CELLS_PER_CHECK: u32 = 1 << 16;

/// The count and the places of a pair, found by a scan.
#[derive(Clone, Copy, Default)]
pub(super) struct PairTally {
    /// How often it occurs, weighted.
    count: u64,
    /// At how many places it occurs.
    places: u32,
}

/// Calls `visit` with position, left token and right token of every pair in the text.
#[inline]
fn for_each_pair(
    corpus: &impl Corpus,
    tokens: &TokenInfo,
    control: &Control,
    mut visit: impl FnMut(u32, u32, u32),
) -> Result<()> {
    let mut position = 1u32;
    let mut due = 0u32;
    while (position as usize) < corpus.len() {
        if position >= due {
            control.check()?;
            due = position.saturating_add(CELLS_PER_CHECK);
        }
        let left = corpus.token(position);
        if left == corpus.sentinel() {
            position += 1;
            continue;
        }
        let next = position + tokens.length(left);
        let right = corpus.token(next);
        if right != corpus.sentinel() {
            visit(position, left, right);
        }
        position = next;
    }
    Ok(())
}

/// Like [`for_each_pair`], before the first merge, when every cell is a byte or a sentinel.
#[inline]
fn for_each_byte_pair(
    corpus: &impl Corpus,
    control: &Control,
    mut visit: impl FnMut(u32, u32, u32),
) -> Result<()> {
    let end = corpus.len() as u32;
    let mut start = 1;
    let mut left = corpus.sentinel();
    while start < end {
        control.check()?;
        let stop = end.min(start.saturating_add(CELLS_PER_CHECK));
        for position in start..stop {
            let right = corpus.token(position);
            if left != corpus.sentinel() && right != corpus.sentinel() {
                visit(position - 1, left, right);
            }
            left = right;
        }
        start = stop;
    }
    Ok(())
}

/// How often each pair of bytes occurs, by [`byte_pair`].
pub(super) fn tally_bytes(corpus: &impl Corpus, control: &Control) -> Result<Vec<PairTally>> {
    let mut tallies = vec![PairTally::default(); 1 << 16];
    let mut hint = 0;
    for_each_byte_pair(corpus, control, |position, left, right| {
        let tally = &mut tallies[byte_pair(left, right)];
        // Saturated is too much as well.
        tally.count = tally.count.saturating_add(corpus.next_weight(position, &mut hint));
        tally.places += 1;
    })?;
    match tallies.iter().position(|tally| tally.count > MAX_COUNT) {
        Some(pair) => Err(Error::CountOverflow { left: vec![(pair >> 8) as u8], right: vec![pair as u8] }),
        None => Ok(tallies),
    }
}

#[inline]
fn byte_pair(left: u32, right: u32) -> usize {
    (left << 8 | right) as u16 as usize
}

/// The index of the pairs of bytes that occur at least `threshold` times.
pub(super) fn index_bytes(
    corpus: &impl Corpus,
    mut tallies: Vec<PairTally>,
    threshold: u64,
    control: &Control,
) -> Result<PairIndex> {
    let is_in = |tally: &&PairTally| tally.count >= threshold;
    let places = tallies.iter().filter(is_in).map(|tally| tally.places as usize).sum();
    let mut index = PairIndex::with_room(places)?;
    for (pair, tally) in tallies.iter_mut().enumerate() {
        if tally.count >= threshold {
            let start = index.next_start();
            index.add(pair as u32 / BYTE_TOKENS, pair as u32 % BYTE_TOKENS, tally.count, tally.places)?;
            // From now on, where its next posting goes.
            tally.count = start as u64;
        } else {
            tally.count = u64::MAX;
        }
    }
    let pool = index.pool();
    for_each_byte_pair(corpus, control, |position, left, right| {
        let cursor = &mut tallies[byte_pair(left, right)].count;
        if let Some(posting) = pool.get_mut(*cursor as usize) {
            *posting = position;
            *cursor += 1;
        }
    })?;
    Ok(index)
}

/// Sums that pairs share by hash: more than this many would leave the cache.
const SHARED_SUMS: usize = 1 << 16;

#[inline]
fn shared(left: u32, right: u32) -> usize {
    (pack(left, right).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize % SHARED_SUMS
}

/// The index of the pairs that occur at least `threshold` times and are of at most `longest` bytes, whatever was merged,
/// and that threshold: a lower one where no pair can reach it.
pub(super) fn index_pairs(
    corpus: &impl Corpus,
    tokens: &TokenInfo,
    threshold: u64,
    longest: u32,
    bytes_of: impl Fn(u32) -> Vec<u8>,
    control: &Control,
) -> Result<(PairIndex, u64)> {
    // Most pairs are rare, and most of those share their sum with none that is not: they need no tally.
    let mut sums = vec![0u64; SHARED_SUMS];
    for_each_pair(corpus, tokens, control, |position, left, right| {
        let sum = &mut sums[shared(left, right)];
        *sum = sum.saturating_add(corpus.weight(position));
    })?;
    let threshold = threshold.min(sums.iter().copied().max().unwrap_or(0)).max(1);
    let mut slots: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
    let mut tallies: Vec<(u64, PairTally)> = Vec::new();
    let mut failed = None;
    for_each_pair(corpus, tokens, control, |position, left, right| {
        if sums[shared(left, right)] >= threshold {
            let pair = pack(left, right);
            if tallies.len() == slots.capacity().min(tallies.capacity()) && failed.is_none() {
                failed = make_room(&mut slots, &mut tallies).err();
            }
            if failed.is_some() {
                return;
            }
            let next = tallies.len() as u32;
            let slot = *slots.entry(pair).or_insert(next);
            if slot == next {
                tallies.push((pair, PairTally::default()));
            }
            let tally = &mut tallies[slot as usize].1;
            // Saturated is too much as well.
            tally.count = tally.count.saturating_add(corpus.weight(position));
            tally.places += 1;
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    if let Some((pair, _)) = tallies.iter().find(|(_, tally)| tally.count > MAX_COUNT) {
        let (left, right) = (bytes_of((pair >> 32) as u32), bytes_of(*pair as u32));
        return Err(Error::CountOverflow { left, right });
    }
    let mut index = PairIndex::default();
    let mut cursors = room::filled(usize::MAX, tallies.len())?;
    for ((pair, tally), cursor) in tallies.iter().zip(&mut cursors) {
        let (left, right) = ((pair >> 32) as u32, *pair as u32);
        let length = tokens.length(left).saturating_add(tokens.length(right));
        if tally.count >= threshold && length <= longest {
            *cursor = index.next_start();
            index.add(left, right, tally.count, tally.places)?;
        }
    }
    let pool = index.pool();
    for_each_pair(corpus, tokens, control, |position, left, right| {
        if sums[shared(left, right)] >= threshold
            && let Some(&slot) = slots.get(&pack(left, right))
            && let Some(posting) = pool.get_mut(cursors[slot as usize])
        {
            *posting = position;
            cursors[slot as usize] += 1;
        }
    })?;
    Ok((index, threshold))
}

/// Makes room for more pairs with their tallies, twice as many as there are.
#[cold]
fn make_room(
    slots: &mut HashMap<u64, u32, FxBuildHasher>,
    tallies: &mut Vec<(u64, PairTally)>,
) -> Result<()> {
    let more = tallies.len().max(1 << 10);
    room::reserve(tallies, more)?;
    slots.try_reserve(more).map_err(|_| room::out_of_memory(2 * more * size_of::<(u64, u32)>()))
}

/// A threshold that most of so many merges will lie above, going by the corpora it was fitted to. If it is
/// too high, the text is scanned once more; if it is too low, the index is larger than it need be.
pub(super) fn first_threshold(tallies: &[PairTally], cells: usize, merges: usize) -> u64 {
    let total = tallies.iter().fold(0u64, |sum, tally| sum.saturating_add(tally.count));
    let most = tallies.iter().map(|tally| tally.count).max().unwrap_or(0);
    threshold_of_total(total, cells, merges).min(most)
}

/// Like [`first_threshold`], for a corpus with `total` pairs of any tokens.
pub(super) fn threshold_of_total(total: u64, cells: usize, merges: usize) -> u64 {
    let scale = (u128::from(total) * cells as u128).isqrt() as u64;
    scale / 20 / (merges as u64).max(1)
}
