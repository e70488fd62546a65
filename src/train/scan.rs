//! Fills the index from the whole corpus, in linear time.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::corpus::Corpus;
use super::index::{PairIndex, pair_memory};
use super::limit::Limit;
use super::tokens::{BYTE_TOKENS, TokenInfo, pack};
use crate::control::Control;
use crate::count::MAX_COUNT;
use crate::error::{Error, Result};
use crate::hashing::spread;
use crate::memory;
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
        // A saturated sum is also above the highest count that is accepted.
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

/// Indexes the pairs of bytes that occur at least `threshold` times, which is raised if they take more than
/// `bytes` of memory. Returns the index and the threshold.
pub(super) fn index_bytes(
    corpus: &impl Corpus,
    mut tallies: Vec<PairTally>,
    threshold: u64,
    bytes: u64,
    control: &Control,
) -> Result<(PairIndex, u64)> {
    let threshold = affordable(tallies.iter().copied(), threshold, bytes)?;
    let is_in = |tally: &&PairTally| tally.count >= threshold;
    let places = tallies.iter().filter(is_in).map(|tally| tally.places as usize).sum();
    let mut index = PairIndex::with_room(places)?;
    for (pair, tally) in tallies.iter_mut().enumerate() {
        if tally.count >= threshold {
            let start = index.pool.len();
            index.add(pair as u32 / BYTE_TOKENS, pair as u32 % BYTE_TOKENS, tally.count, tally.places)?;
            // From here on `count` is the index of the next posting of the pair.
            tally.count = start as u64;
        } else {
            tally.count = u64::MAX;
        }
    }
    let pool = &mut index.pool;
    for_each_byte_pair(corpus, control, |position, left, right| {
        let cursor = &mut tallies[byte_pair(left, right)].count;
        if let Some(posting) = pool.get_mut(*cursor as usize) {
            *posting = position;
            *cursor += 1;
        }
    })?;
    Ok((index, threshold))
}

/// log2 of the number of sums that pairs share by hash. These take 512 KB; more would not stay in the
/// second-level cache.
const SUM_BITS: u32 = 17;
/// The maximum of [`SUM_BITS`] if memory is limited: with more sums, fewer rare pairs need a tally.
const MAX_SUM_BITS: u32 = 23;
/// Bytes of memory of a tally while pairs are counted, and for its entry in the hash table.
const BYTES_PER_TALLY: u64 = 66;

/// The index of the sum that a pair belongs to.
#[inline]
fn shared(left: u32, right: u32, bits: u32) -> usize {
    (spread(pack(left, right)) >> (u64::BITS - bits)) as usize
}

/// The pairs that [`index_pairs`] indexes.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// The minimum count. It is raised if more pairs reach it than there is memory for, and lowered if none
    /// can.
    pub(super) threshold: u64,
    /// A count that no pair exceeds.
    pub(super) highest: u64,
    /// Bytes of memory for the index, of which the most frequent pairs may take more.
    pub(super) bytes: u64,
}

impl Wanted {
    /// log2 of the number of sums. Under a limit, they and the tallies each take up to half of `bytes`.
    fn sum_bits(&self) -> u32 {
        if self.bytes == u64::MAX {
            SUM_BITS
        } else {
            (self.bytes / 8).max(1).ilog2().clamp(SUM_BITS, MAX_SUM_BITS)
        }
    }
}

/// The lowest count, not below `threshold`, for which all pairs with this count or more take at most `bytes`
/// in the index; at most the count of the most frequent pair.
fn affordable(tallies: impl Iterator<Item = PairTally>, threshold: u64, bytes: u64) -> Result<u64> {
    if bytes == u64::MAX {
        return Ok(threshold);
    }
    let mut tallies: Vec<PairTally> = room::collected(tallies.filter(|tally| tally.count >= threshold))?;
    tallies.sort_unstable_by_key(|tally| std::cmp::Reverse(tally.count));
    let (mut used, mut lowest) = (0, None);
    for equal in tallies.chunk_by(|left, right| left.count == right.count) {
        used += equal.iter().map(|tally| pair_memory(tally.places)).sum::<u64>();
        match lowest {
            Some(lowest) if used > bytes => return Ok(lowest),
            _ => lowest = Some(equal[0].count),
        }
    }
    Ok(threshold)
}

fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The sums of the counts of all pairs that share a hash of `bits` bits, at most `u32::MAX`.
///
/// Most pairs are rare, and few of these share their sum with a frequent pair, so most pairs need no tally of
/// their own.
fn sums_of(corpus: &impl Corpus, tokens: &TokenInfo, bits: u32, control: &Control) -> Result<Vec<u32>> {
    let mut sums: Vec<u32> = memory::zeros(1 << bits)?;
    for_each_pair(corpus, tokens, control, |position, left, right| {
        let sum = &mut sums[shared(left, right, bits)];
        *sum = sum.saturating_add(saturated(corpus.weight(position)));
    })?;
    Ok(sums)
}

/// The place of each pair among tallies, and the tallies.
type Tallies = (HashMap<u64, u32, FxBuildHasher>, Vec<(u64, PairTally)>);

/// Counts the pairs whose shared sum is at least `threshold`; `None` if they are more than `max_tallies`.
fn tally_pairs(
    corpus: &impl Corpus,
    tokens: &TokenInfo,
    sums: &[u32],
    threshold: u64,
    max_tallies: usize,
    control: &Control,
) -> Result<Option<Tallies>> {
    let bits = sums.len().ilog2();
    let (mut slots, mut tallies) = Tallies::default();
    let (mut failed, mut is_full) = (None, false);
    for_each_pair(corpus, tokens, control, |position, left, right| {
        if sums[shared(left, right, bits)] >= saturated(threshold) {
            let pair = pack(left, right);
            if tallies.len() == slots.capacity().min(tallies.capacity()) && failed.is_none() && !is_full {
                is_full = tallies.len() > max_tallies;
                failed = if is_full { None } else { make_room(&mut slots, &mut tallies).err() };
            }
            if failed.is_some() || is_full {
                return;
            }
            let next = tallies.len() as u32;
            let slot = *slots.entry(pair).or_insert(next);
            if slot == next {
                tallies.push((pair, PairTally::default()));
            }
            let tally = &mut tallies[slot as usize].1;
            // A saturated sum is also above the highest count that is accepted.
            tally.count = tally.count.saturating_add(corpus.weight(position));
            tally.places += 1;
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok((!is_full && tallies.len() <= max_tallies).then_some((slots, tallies))),
    }
}

/// Indexes pairs after any merges: all that a limit allows and that are as frequent as `wanted` says. Returns
/// the index and the threshold.
pub(super) fn index_pairs(
    corpus: &impl Corpus,
    tokens: &TokenInfo,
    limit: &impl Limit,
    wanted: Wanted,
    bytes_of: impl Fn(u32) -> Vec<u8>,
    control: &Control,
) -> Result<(PairIndex, u64)> {
    let bits = wanted.sum_bits();
    let sums = sums_of(corpus, tokens, bits, control)?;
    let highest = match sums.iter().copied().max().unwrap_or(0) {
        u32::MAX => wanted.highest,
        highest => wanted.highest.min(highest.into()),
    };
    let fits = |pair: &u64| limit.fits(tokens, (pair >> 32) as u32, *pair as u32);
    let least = wanted.threshold.min(highest).max(1);
    let (mut threshold, mut highest) = (least, highest.max(1));
    let (slots, tallies) = loop {
        let is_limited = wanted.bytes < u64::MAX && threshold < highest;
        let max_tallies = if is_limited { (wanted.bytes / 2 / BYTES_PER_TALLY) as usize } else { usize::MAX };
        match tally_pairs(corpus, tokens, &sums, threshold, max_tallies, control)? {
            None => threshold = threshold.saturating_mul(2).min(highest),
            // Raised too far: half of it was too much for the limit, but is the best that there is.
            Some((_, tallies))
                if threshold > least
                    && !tallies.iter().any(|(pair, tally)| tally.count >= threshold && fits(pair)) =>
            {
                highest = (threshold / 2).max(least);
                threshold = highest;
            }
            Some(tallies) => break tallies,
        }
    };
    if let Some((pair, _)) = tallies.iter().find(|(_, tally)| tally.count > MAX_COUNT) {
        let (left, right) = (bytes_of((pair >> 32) as u32), bytes_of(*pair as u32));
        return Err(Error::CountOverflow { left, right });
    }
    let mergeable = tallies.iter().filter(|(pair, _)| fits(pair)).map(|(_, tally)| *tally);
    let threshold = affordable(mergeable, threshold, wanted.bytes)?;
    let mut index = PairIndex::default();
    let mut cursors = room::filled(usize::MAX, tallies.len())?;
    for ((pair, tally), cursor) in tallies.iter().zip(&mut cursors) {
        if tally.count >= threshold && fits(pair) {
            *cursor = index.pool.len();
            index.add((pair >> 32) as u32, *pair as u32, tally.count, tally.places)?;
        }
    }
    let pool = &mut index.pool;
    for_each_pair(corpus, tokens, control, |position, left, right| {
        if sums[shared(left, right, bits)] >= saturated(threshold)
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
