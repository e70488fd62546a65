//! The hot loop of counting: a small table of counts that belongs to one worker.
//!
//! A bucket has room for two pretokens. A pretoken that is in its bucket is counted there. Any other replaces
//! the less frequent one of the two, whose count then goes to the tables that all workers share. So frequent
//! words stay in the table, and rare words pass through. A run of pretokens takes three passes: the first
//! makes keys and prefetches buckets, the second counts without a branch that depends on the buckets, the
//! third handles the few misses.

use std::ops::Range;

use super::slot::CountSlot;
use crate::error::Result;
use crate::memory::LargeTable;
use crate::pretokenize::ENDS;
use crate::pretokenize::key::Key;
use crate::simd::{self, Isa, Kernel, Simd};

/// log2 of the maximum number of buckets: 8 MB. A miss takes two accesses to memory outside the cache and a
/// lock; with a table of half a megabyte, a gigabyte of text took twice as long. A table of 16 MB was not
/// faster on two threads.
const MAX_BUCKET_BITS: u32 = 17;
/// log2 of the number of buckets of a table that fits into a second-level cache: half a megabyte. For up to a
/// few megabytes of text it is as fast as a larger one, which takes longer to clear.
const NEAR_BUCKET_BITS: u32 = 13;

/// Two pretokens with their counts, in one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct CountBucket {
    keys: [[u64; 2]; 2],
    counts: [u64; 2],
    firsts: [u64; 2],
}

/// log2 of the number of buckets that fit into `memory` bytes.
pub(super) fn bits_of(memory: usize) -> u32 {
    (memory / size_of::<CountBucket>()).max(1).ilog2()
}

/// log2 of the number of buckets for `text` bytes of text: a slot for each 8 bytes of a short text, and one
/// for each 128 bytes from 2 MB on.
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

/// The table of one worker, and working memory for one run of pretokens.
pub(super) struct LocalCounts {
    buckets: LargeTable<CountBucket>,
    /// 64 minus log2 of the number of buckets: the upper bits of a hash choose the bucket.
    shift: u32,
    isa: Isa,
    keys: Box<[Key; ENDS]>,
    bucket_indices: Box<[u32; ENDS]>,
    missed: Box<[u16; ENDS]>,
}

/// A pretoken that was not in its bucket.
pub(super) struct LocalMiss {
    /// The index of the pretoken in the run.
    pub(super) at: usize,
    pub(super) key: Key,
    bucket_index: u32,
}

impl LocalCounts {
    /// A table of 2^`bits` buckets.
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

    /// Counts a run of neighbouring pretokens of `text`. The first one begins at `start`; `ends` has the ends
    /// of all. Returns the number of misses.
    #[inline]
    pub(super) fn count(&mut self, text: &[u8], start: usize, ends: &[usize]) -> usize {
        let LocalCounts { buckets, shift, isa, keys, bucket_indices, missed } = self;
        let shift = *shift;
        isa.run(PrepareCounts { keys, bucket_indices, buckets, shift, text, start, ends });
        isa.run(CountKeys { keys: &keys[..ends.len()], bucket_indices, buckets, missed })
    }

    /// A miss of the last run, by its number.
    #[inline]
    pub(super) fn missed(&self, number: usize) -> LocalMiss {
        let at = usize::from(self.missed[number]);
        LocalMiss { at, key: self.keys[at], bucket_index: self.bucket_indices[at] }
    }

    /// Puts a missed pretoken, which occurs at `first`, into its bucket. Returns the pretoken that it
    /// displaces.
    #[inline]
    pub(super) fn admit(&mut self, missed: &LocalMiss, first: u64) -> Option<CountSlot> {
        let bucket = &mut self.buckets[missed.bucket_index as usize];
        let key = [missed.key.low, missed.key.high];
        if let Some(slot) = (0..2).find(|&slot| bucket.keys[slot] == key) {
            bucket.counts[slot] += 1; // an earlier miss of the same run has put it there
            return None;
        }
        let slot = usize::from(bucket.counts[1] < bucket.counts[0]);
        let left = bucket.slot(slot);
        (bucket.keys[slot], bucket.counts[slot], bucket.firsts[slot]) = (key, 1, first);
        left
    }

    /// The number of buckets.
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Empties a range of buckets and returns the pretokens in them.
    pub(super) fn drain(&mut self, buckets: Range<usize>) -> impl Iterator<Item = CountSlot> + '_ {
        let end = self.buckets.len().min(buckets.end);
        self.buckets[buckets.start..end]
            .iter_mut()
            .map(std::mem::take)
            .flat_map(|bucket| [bucket.slot(0), bucket.slot(1)])
            .flatten()
    }
}

/// The first pass: makes keys and bucket indices, and prefetches the buckets.
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

/// The second pass: counts the pretokens that are in their buckets, and writes down the indices of the
/// others. Returns the number of misses.
struct CountKeys<'a> {
    keys: &'a [Key],
    bucket_indices: &'a [u32; ENDS],
    buckets: &'a mut [CountBucket],
    missed: &'a mut [u16; ENDS],
}

impl Kernel for CountKeys<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<L: Simd>(self, _: L) -> usize {
        let CountKeys { keys, bucket_indices, buckets, missed } = self;
        let mut count = 0;
        for (at, (&key, &bucket_index)) in keys.iter().zip(bucket_indices).enumerate() {
            let bucket = &mut buckets[bucket_index as usize];
            // The slot that has the key; 2 if neither does.
            let [first, second] =
                simd::mapped(&bucket.keys, |[low, high]| (low ^ key.low) | (high ^ key.high) != 0);
            let slot = usize::from(first) + usize::from(first & second);
            bucket.counts[slot & 1] += u64::from(slot < 2);
            missed[count & (ENDS - 1)] = at as u16;
            count += usize::from(slot == 2);
        }
        count
    }
}
