//! Fills the index from the whole corpus, in linear time.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::corpus::Corpus;
use super::index::PairIndex;
use super::tokens::{BYTE_TOKENS, TokenInfo, pack};
use crate::control::Control;
use crate::count::MAX_COUNT;
use crate::error::{Error, Result};
use crate::hashing::spread;
use crate::room;

/// Cells between two checks of the control.
const CELLS_PER_CHECK: u32 = 1 << 16;

/// The count of a pair and the number of its places, found by a scan.
#[derive(Clone, Copy, Default)]
pub(super) struct PairTally {
    /// The weighted number of occurrences.
    count: u64,
    /// The number of positions at which the pair occurs.
    places: u32,
}

/// Calls `visit` with the position, the left token and the right token of every pair in the corpus.
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

/// [`for_each_pair`] before the first merge, when every cell is a byte or a sentinel.
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

/// Counts each pair of bytes; the result is indexed by [`byte_pair`].
pub(super) fn tally_bytes(corpus: &impl Corpus, control: &Control) -> Result<Vec<PairTally>> {
    let mut tallies = vec![PairTally::default(); 1 << 16];
    let mut hint = 0;
    for_each_byte_pair(corpus, control, |position, left, right| {
        let tally = &mut tallies[byte_pair(left, right)];
        // A saturated sum is above the highest count that is accepted, too.
        tally.count = tally.count.saturating_add(corpus.next_weight(position, &mut hint));
        tally.places += 1;
    })?;
    match tallies.iter().position(|tally| tally.count > MAX_COUNT) {
        Some(pair) => Err(Error::CountOverflow { left: vec![(pair >> 8) as u8], right: vec![pair as u8] }),
        None => Ok(tallies),
    }
}

/// The index of a pair of bytes in the list of [`tally_bytes`].
#[inline]
fn byte_pair(left: u32, right: u32) -> usize {
    (left << 8 | right) as u16 as usize
}

/// Indexes the pairs of bytes that occur at least `threshold` times.
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
            // From here on `count` is the index of the next posting of the pair.
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

/// The number of sums that pairs share by hash. These take 512 KB; more would not stay in the second-level cache.
const SHARED_SUMS: usize = 1 << 16;

/// The index of the sum that a pair belongs to.
#[inline]
fn shared(left: u32, right: u32) -> usize {
    (spread(pack(left, right)) >> 48) as usize % SHARED_SUMS
}

/// Indexes the pairs that occur at least `threshold` times and have at most `longest` bytes, after any
/// merges. Returns the index and the threshold, which is lowered if no pair can reach it.
pub(super) fn index_pairs(
    corpus: &impl Corpus,
    tokens: &TokenInfo,
    threshold: u64,
    longest: u32,
    bytes_of: impl Fn(u32) -> Vec<u8>,
    control: &Control,
) -> Result<(PairIndex, u64)> {
    // Most pairs are rare, and few of these share their sum with a frequent pair, so most pairs need no tally
    // of their own.
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
            // A saturated sum is above the highest count that is accepted, too.
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

/// Makes room for as many further pairs as there are, with their tallies.
#[cold]
fn make_room(
    slots: &mut HashMap<u64, u32, FxBuildHasher>,
    tallies: &mut Vec<(u64, PairTally)>,
) -> Result<()> {
    let more = tallies.len().max(1 << 10);
    room::reserve(tallies, more)?;
    slots.try_reserve(more).map_err(|_| room::out_of_memory(2 * more * size_of::<(u64, u32)>()))
}

/// A threshold that the counts of most of `merges` merges will be above, by a formula that was fitted to
/// corpora. If it is too high, the corpus is scanned once more; if it is too low, the index is larger than
/// necessary.
pub(super) fn first_threshold(tallies: &[PairTally], cells: usize, merges: usize) -> u64 {
    let total = tallies.iter().fold(0u64, |sum, tally| sum.saturating_add(tally.count));
    let highest = tallies.iter().map(|tally| tally.count).max().unwrap_or(0);
    threshold_of_total(total, cells, merges).min(highest)
}

/// [`first_threshold`] for a corpus with a weighted number of `total` pairs of any tokens.
pub(super) fn threshold_of_total(total: u64, cells: usize, merges: usize) -> u64 {
    let scale = (u128::from(total) * cells as u128).isqrt() as u64;
    scale / 20 / (merges as u64).max(1)
}
