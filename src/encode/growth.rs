//! When a scratch gets a cache of its own, and of what size.
//!
//! | a scratch has seen | its cache, where one call at a time needs the seeds | where several do | made in, with memory at hand |
//! |---|---|---|---|
//! | less than [`COPY_AFTER`] | the [seeds](super::seeds), to which it adds | the seeds; all else is merged again | |
//! | less than [`FULL_AFTER`] | the same | a copy of the seeds, 4 to 8 MB, to which it adds | 0.5 to 0.9 ms |
//! | more | of full size, 16 MB and more, with what was in the one before | the same | 0.7 to 1.4 ms |
//!
//! A thread prepares the cache of full size ([`Preparation`]), and then calls copy its parts, one for each
//! [`PART_AFTER`]. Meanwhile they go on with what they have, until they have seen [`LATE`] times the text.
//!
//! A call that would give its scratch a cache of full size in the end makes it at once. Text of small calls
//! counts for less: making a cache would delay them most, and they bring few pretokens twice.

use std::task::Poll;

use super::cache::{self, Cache};
use super::preparation::Preparation;
use super::seeds::{Seeds, Store};

/// Counted bytes after which a scratch gets a copy of the seeds. Documents of 32 KB get it with the first.
const COPY_AFTER: usize = 1 << 15;
/// Counted bytes after which the cache gets its full size.
const FULL_AFTER: usize = 1 << 20;
/// Calls go on without a cache of full size until they have seen this many times the text, if a thread
/// prepares it: in a child that was forked meanwhile it never comes.
const LATE: usize = 8;
/// Counted bytes after which one part of a cache is copied, of eight: not at each special token of a text.
const PART_AFTER: usize = 1 << 15;
/// Texts of at least this many bytes count in full.
pub(super) const MIN_FULL_CALL_BYTES: usize = 1 << 15;
/// Texts of fewer bytes are tiny.
const TINY_CALL_BYTES: usize = 1 << 11;
/// The bytes of a small text are divided by this, and those of a tiny one by [`TINY_CALL_DIVISOR`]. Measured:
/// 400 fresh documents of 512 bytes take a fifth to a third longer if a copy is made within them.
const SMALL_CALL_DIVISOR: usize = 2;
const TINY_CALL_DIVISOR: usize = 8;

/// The cache of a scratch, which starts with the vocabulary's tokens.
#[derive(Default)]
pub(super) struct OwnCache {
    cache: Option<Cache>,
    /// A cache of full size, until it is used.
    next: Option<Next>,
}

/// A cache that will be used.
enum Next {
    /// A thread prepares it.
    Prepared(Preparation),
    /// Calls fill it: so many parts are copied, for the text up to so many counted bytes.
    Filled(Cache, usize, usize),
}

/// The sizes that the caches of an encoder's scratches grow to.
#[derive(Clone, Copy)]
pub(super) struct Growth {
    copy_after: usize,
    full_after: usize,
    /// log2 of the number of buckets at full size.
    full_bits: u32,
}

impl Default for Growth {
    fn default() -> Self {
        Growth { copy_after: COPY_AFTER, full_after: FULL_AFTER, full_bits: cache::BUCKET_BITS }
    }
}

impl Growth {
    /// A cache of `1 << bits` buckets from the first text on.
    pub(super) fn fixed(bits: u32) -> Self {
        Growth { copy_after: usize::MAX, full_after: 0, full_bits: bits }
    }

    /// No cache ever: a model whose merges are random must not be cached.
    pub(super) fn never() -> Self {
        Growth { copy_after: usize::MAX, full_after: usize::MAX, full_bits: 0 }
    }

    /// The cache for the next text of a scratch that has seen `seen` counted bytes: its own, which is made or
    /// enlarged when that is due, else the seeds. `new_seeds` makes seeds where another call has kept those
    /// that there are.
    #[inline]
    pub(super) fn store<'a>(
        self,
        own: &'a mut OwnCache,
        seen: &mut usize,
        seeds: &'a Seeds,
        new_seeds: impl FnOnce() -> Cache,
    ) -> Store<'a> {
        let lent = if own.cache.is_none() { seeds.lend() } else { None };
        if let Some(from) = own.cache.as_ref().or(lent.as_ref().map(Store::cache)) {
            let copy_bits = if let Some(Store::Shared(seeds)) = &lent { seeds.bits_of_copy() } else { 0 };
            let bits = self.bits(*seen, copy_bits);
            if bits > own.cache.as_ref().map_or(0, Cache::bits)
                && let Some(larger) = self.grown(from, bits, seen, &mut own.next)
            {
                own.cache = Some(larger);
            }
        }
        match lent {
            Some(lent) if own.cache.is_none() => lent,
            _ => Store::Own(own.cache.get_or_insert_with(new_seeds)),
        }
    }

    /// A cache of `1 << bits` buckets, more than in `from`, if it is prepared and filled.
    #[cold]
    fn grown(self, from: &Cache, bits: u32, seen: &mut usize, next: &mut Option<Next>) -> Option<Cache> {
        let is_late = *seen >= self.full_after.saturating_mul(LATE);
        if bits == self.full_bits && (next.is_some() || !is_late) {
            let prepared = match next.take() {
                None => {
                    *next = Some(Next::Prepared(Preparation::begin(from, bits)));
                    return None;
                }
                Some(Next::Filled(cache, parts, filled)) => Some((cache, parts, filled)),
                Some(Next::Prepared(preparation)) => match preparation.poll() {
                    Poll::Ready(cache) => cache.map(|cache| (cache, 0, *seen)),
                    Poll::Pending if is_late => None,
                    Poll::Pending => {
                        *next = Some(Next::Prepared(preparation));
                        return None;
                    }
                },
            };
            if let Some((mut cache, parts, filled)) = prepared {
                let due = if is_late { usize::MAX } else { seen.saturating_sub(filled) / PART_AFTER };
                if (parts..parts.saturating_add(due)).any(|part| from.fill_part(&mut cache, part)) {
                    return Some(cache);
                }
                *next = Some(Next::Filled(cache, parts + due, filled + due * PART_AFTER));
                return None;
            }
        }
        let larger = from.to_own(bits);
        if larger.is_none() {
            *seen = 0; // there is no memory for a cache: it is tried again after as much text
        }
        larger
    }

    /// log2 of the number of buckets that a cache should have after `seen` counted bytes; 0 for no cache.
    /// `copy_bits` is that of a copy of shared seeds.
    #[inline]
    fn bits(self, seen: usize, copy_bits: u32) -> u32 {
        if seen >= self.full_after {
            self.full_bits
        } else if seen >= self.copy_after {
            copy_bits
        } else {
            0
        }
    }
}

/// The counted bytes of a scratch that has seen `seen` of them, for a call that will encode `bytes` bytes
/// with it: enough for a cache of full size, without waiting for its memory, if the call alone would give it
/// one in the end. The copy before it would be made in vain.
pub(super) fn foreseen(seen: usize, bytes: usize) -> usize {
    if bytes >= FULL_AFTER { seen.max(LATE * FULL_AFTER) } else { seen }
}

/// How much the text of a call of `bytes` bytes counts.
pub(super) fn counted_bytes(bytes: usize) -> usize {
    match bytes {
        ..TINY_CALL_BYTES => bytes / TINY_CALL_DIVISOR,
        TINY_CALL_BYTES..MIN_FULL_CALL_BYTES => bytes / SMALL_CALL_DIVISOR,
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::cache::IdWidth;
    use crate::simd::Isa;

    #[test]
    fn a_cache_grows_with_the_text_and_small_calls_count_for_less() {
        let copy_bits = Cache::for_seeds(Isa::best(), IdWidth::U16, 50_000).bits_of_copy();
        let sizes = [0, COPY_AFTER - 1, COPY_AFTER, FULL_AFTER - 1, FULL_AFTER, usize::MAX];
        assert_eq!(sizes.map(|seen| Growth::default().bits(seen, copy_bits)), [0, 0, 16, 16, 18, 18]);
        assert_eq!(sizes.map(|seen| Growth::fixed(4).bits(seen, copy_bits)), [4; 6]);
        assert_eq!([0, FULL_AFTER].map(|seen| Growth::never().bits(seen, copy_bits)), [0; 2]);
        assert_eq!(
            [0, FULL_AFTER - 1, FULL_AFTER].map(|bytes| foreseen(7, bytes)),
            [7, 7, LATE * FULL_AFTER]
        );
        assert_eq!(foreseen(9 * FULL_AFTER, FULL_AFTER), 9 * FULL_AFTER);
        assert_eq!([512, 4096, 1 << 15, 1 << 30].map(counted_bytes), [64, 2048, 1 << 15, 1 << 30]);
    }

    #[test]
    fn a_scratch_uses_the_seeds_until_it_has_a_cache_of_its_own() {
        let growth = Growth { copy_after: 10, full_after: 20, full_bits: 15 };
        let new_seeds = || Cache::with_bits(Isa::best(), IdWidth::U32, 5);
        let seeds = Seeds::new(new_seeds());
        let kind = |own: &mut OwnCache, mut seen| match growth.store(own, &mut seen, &seeds, new_seeds) {
            Store::Own(cache) => cache.bits().to_string(),
            Store::Alone(_) => "alone".to_owned(),
            Store::Shared(_) => "shared".to_owned(),
        };
        let kinds = |seen: [usize; 3]| {
            let mut own = OwnCache::default();
            seen.map(|seen| kind(&mut own, seen))
        };
        assert_eq!(kinds([0, 10, 160]), ["alone", "alone", "15"]);
        let alone = seeds.lend();
        assert_eq!(kinds([0, 10, 160]), ["5", "5", "15"], "another call has them");
        drop(alone);
        assert_eq!(kinds([0, 10, 160]), ["shared", "14", "15"]);
    }

    #[test]
    fn calls_do_not_wait_for_a_cache_of_full_size_until_it_is_long_due() {
        let growth = Growth { copy_after: usize::MAX, full_after: FULL_AFTER, full_bits: 17 };
        let seeds = Seeds::new(Cache::with_bits(Isa::best(), IdWidth::U32, 5));
        let mut own = OwnCache::default();
        let late = LATE * FULL_AFTER;
        let bits = |seen: usize, own: &mut OwnCache| {
            let mut now = seen;
            let store = growth.store(own, &mut now, &seeds, || unreachable!());
            assert_eq!(now, seen);
            store.cache().bits()
        };
        assert_eq!(bits(FULL_AFTER - 1, &mut own), 5);
        assert!(own.next.is_none());
        let (pending, missing) = Preparation::in_a_forked_child();
        own.next = Some(Next::Prepared(pending));
        assert_eq!([FULL_AFTER, late - 1, late].map(|seen| bits(seen, &mut own)), [5, 5, 17]);
        drop(missing);

        let mut own = OwnCache::default();
        while !matches!(own.next, Some(Next::Filled(..))) {
            assert_eq!(bits(FULL_AFTER, &mut own), 5); // until the thread has prepared it
        }
        // Its four parts come one by one with the text, however many calls there are.
        let sizes = (0..=4).map(|part| {
            let seen = FULL_AFTER + part * PART_AFTER;
            (bits(seen, &mut own), bits(seen, &mut own)).1
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [5, 5, 5, 5, 17]);
        assert!(own.next.is_none());
    }
}
