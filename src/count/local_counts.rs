//! The hot loop of counting: a small table of a worker's own.
//!
//! A line has room for two pretokens. What stands in its line already is counted; anything else takes the place of the
//! one that occurred less often, which goes on to the tables that all workers share. So the words that every text is
//! made of stay, and the rare ones pass by. Three passes over a run of pretokens: keys and lines; counts, without a
//! branch on what is found; the few others.

use std::ops::Range;

use super::slot::CountSlot;
use crate::error::Result;
use crate::memory::LargeTable;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::Key;
use crate::simd::{self, Isa, Kernel, Simd};

/// log2 of the most lines: eight megabytes. What is not here is two looks at far memory and a lock: of a gigabyte of text
/// a table of half a megabyte had so much of it that counting took twice as long.
const MAX_BUCKET_BITS: u32 = 17;
/// The same of a table that stays in a near cache, with room for the text. It is as quick for some megabytes of text, and
/// a larger one has to be cleared.
const NEAR_BUCKET_BITS: u32 = 13;

/// Two pretokens with their counts, one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct CountBucket {
    keys: [[u64; 2]; 2],
    counts: [u64; 2],
    firsts: [u64; 2],
}

/// log2 of the lines that so many bytes of memory have room for.
pub(super) fn bits_of(memory: usize) -> u32 {
    (memory / size_of::<CountBucket>()).max(1).ilog2()
}

/// log2 of the lines for so many bytes of text: a slot for eight of them; from some megabytes on, for 128.
pub(super) fn bits_for(text: u64) -> u32 {
    let near = (text / 16).max(64).ilog2().min(NEAR_BUCKET_BITS);
    (text / 256).max(1).ilog2().clamp(near, MAX_BUCKET_BITS)
}

impl CountBucket {
    fn slot(&self, slot: usize) -> Option<CountSlot> {
        let [low, high] = self.keys[slot];
        (self.counts[slot] > 0)
            .then(|| CountSlot::short(Key { low, high }, self.counts[slot], self.firsts[slot]))
    }
}

/// See the module.
pub(super) struct LocalCounts {
    buckets: LargeTable<CountBucket>,
    shift: u32,
    isa: Isa,
    keys: Box<[Key; ENDS]>,
    bucket_indices: Box<[u32; ENDS]>,
    missed: Box<[u16; ENDS]>,
}

/// A pretoken that was not in its place.
pub(super) struct LocalMiss {
    /// Its number in the run.
    pub(super) at: usize,
    pub(super) key: Key,
    bucket_index: u32,
}

impl LocalCounts {
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(super) fn new(bits: u32) -> Result<Self> {
        Ok(LocalCounts {
            buckets: LargeTable::try_new(CountBucket::default(), 1 << bits)?,
            shift: 64 - bits,
            isa: Isa::best(),
            keys: Box::new([Key::NONE; ENDS]),
            bucket_indices: Box::new([0; ENDS]),
            missed: Box::new([0; ENDS]),
        })
    }

    /// Counts a run: `ends` are those of neighbouring pretokens of `text`, the first of which begins at `start`.
    /// Returns how many were not in their place.
    #[inline]
    pub(super) fn count(&mut self, text: &[u8], start: usize, ends: &[usize]) -> usize {
        let LocalCounts { buckets, shift, isa, keys, bucket_indices, missed } = self;
        let shift = *shift;
        isa.run(PrepareCounts { keys, bucket_indices, buckets, shift, text, start, ends });
        isa.run(CountKeys { keys: &keys[..ends.len()], bucket_indices, buckets, missed })
    }

    /// The `number`-th of those.
    #[inline]
    pub(super) fn missed(&self, number: usize) -> LocalMiss {
        let at = usize::from(self.missed[number]);
        LocalMiss { at, key: self.keys[at], bucket_index: self.bucket_indices[at] }
    }

    /// Counts a pretoken that was not in its place, whose occurrence is at `first`; returns what has to leave for it.
    #[inline]
    pub(super) fn admit(&mut self, missed: &LocalMiss, first: u64) -> Option<CountSlot> {
        let bucket = &mut self.buckets[missed.bucket_index as usize];
        let key = [missed.key.low, missed.key.high];
        if let Some(slot) = (0..2).find(|&slot| bucket.keys[slot] == key) {
            bucket.counts[slot] += 1; // it came in earlier in the same run
            return None;
        }
        let slot = usize::from(bucket.counts[1] < bucket.counts[0]);
        let left = bucket.slot(slot);
        (bucket.keys[slot], bucket.counts[slot], bucket.firsts[slot]) = (key, 1, first);
        left
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Empties some lines.
    pub(super) fn drain(&mut self, buckets: Range<usize>) -> impl Iterator<Item = CountSlot> + '_ {
        let end = self.buckets.len().min(buckets.end);
        self.buckets[buckets.start..end]
            .iter_mut()
            .map(std::mem::take)
            .flat_map(|bucket| [bucket.slot(0), bucket.slot(1)])
            .flatten()
    }
}

/// The first pass.
struct PrepareCounts<'a> {
    keys: &'a mut [Key; ENDS],
    bucket_indices: &'a mut [u32; ENDS],
    buckets: &'a [CountBucket],
    shift: u32,
    text: &'a [u8],
    start: usize,
    ends: &'a [usize],
}

impl Kernel for PrepareCounts<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Simd>(self, _: L) {
        let PrepareCounts { keys, bucket_indices, buckets, shift, text, mut start, ends } = self;
        for ((&end, key), bucket_index) in ends.iter().zip(keys).zip(bucket_indices) {
            *key = Key::new(text, start, end);
            *bucket_index = (key.hash() >> shift) as u32;
            simd::prefetch(buckets, *bucket_index as usize);
            start = end;
        }
    }
}

/// The second: how many were not in their place, and which.
struct CountKeys<'a> {
    keys: &'a [Key],
    bucket_indices: &'a [u32; ENDS],
    buckets: &'a mut [CountBucket],
    missed: &'a mut [u16; ENDS],
}

impl Kernel for CountKeys<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> usize {
        let CountKeys { keys, bucket_indices, buckets, missed } = self;
        let mut count = 0;
        for (at, (&key, &bucket_index)) in keys.iter().zip(bucket_indices).enumerate() {
            let bucket = &mut buckets[bucket_index as usize];
            let slot = simd.which(&bucket.keys, [key.low, key.high], [u64::MAX; 2]);
            bucket.counts[slot & 1] += u64::from(slot < 2);
            missed[count & (ENDS - 1)] = at as u16;
            count += usize::from(slot == 2);
        }
        count
    }
}
