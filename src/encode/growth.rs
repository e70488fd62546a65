//! When a scratch gets a cache of its own, and of what size.
//!
//! | a scratch has seen | its cache, where one call at a time needs the seeds | where several do | made in, with memory at hand |
//! |---|---|---|---|
//! | less than [`COPY_AFTER`] | the [seeds](super::seeds), to which it adds | the seeds; all else is merged again | |
//! | less than [`FULL_AFTER`] | the same | a copy of the seeds, 4 to 8 MB, to which it adds | 0.5 to 0.9 ms |
//! | more | of full size, 16 MB and more, with what was in the one before | the same | 0.7 to 1.4 ms |
//!
//! A call that would give its scratch a cache of full size in the end makes it at once. Text of small calls
//! counts for less: making a cache would delay them most, and they bring few pretokens twice.

use super::cache::{self, Cache};
use super::seeds::{Seeds, Store};

/// Counted bytes after which a scratch gets a copy of the seeds. Documents of 32 KB get it with the first.
const COPY_AFTER: usize = 1 << 15;
/// Counted bytes after which the cache gets its full size.
const FULL_AFTER: usize = 1 << 20;
/// Texts of at least this many bytes count in full.
pub(super) const MIN_FULL_CALL_BYTES: usize = 1 << 15;
/// Texts of fewer bytes are tiny.
const TINY_CALL_BYTES: usize = 1 << 11;
/// The bytes of a small text are divided by this, and those of a tiny one by [`TINY_CALL_DIVISOR`]. Measured:
/// 400 fresh documents of 512 bytes take a fifth to a third longer if a copy is made within them.
const SMALL_CALL_DIVISOR: usize = 2;
const TINY_CALL_DIVISOR: usize = 8;

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
        own: &'a mut Option<Cache>,
        seen: &mut usize,
        seeds: &'a Seeds,
        new_seeds: impl FnOnce() -> Cache,
    ) -> Store<'a> {
        let lent = if own.is_none() { seeds.lend() } else { None };
        if let Some(from) = own.as_ref().or(lent.as_ref().map(Store::cache)) {
            let copy_bits = if let Some(Store::Shared(seeds)) = &lent { seeds.bits_of_copy() } else { 0 };
            let bits = self.bits(*seen, copy_bits);
            if bits > own.as_ref().map_or(0, Cache::bits) {
                match from.to_own(bits) {
                    None => *seen = 0, // there is no memory for a cache: it is tried again after as much text
                    larger => *own = larger,
                }
            }
        }
        match lent {
            Some(lent) if own.is_none() => lent,
            _ => Store::Own(own.get_or_insert_with(new_seeds)),
        }
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
/// with it: enough for a cache of full size if the call alone would give it one in the end. The copy before
/// it would be made in vain.
pub(super) fn foreseen(seen: usize, bytes: usize) -> usize {
    if bytes >= FULL_AFTER { seen.max(FULL_AFTER) } else { seen }
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
        assert_eq!([0, FULL_AFTER - 1, FULL_AFTER].map(|bytes| foreseen(7, bytes)), [7, 7, FULL_AFTER]);
        assert_eq!(foreseen(2 * FULL_AFTER, FULL_AFTER), 2 * FULL_AFTER);
        assert_eq!([512, 4096, 1 << 15, 1 << 30].map(counted_bytes), [64, 2048, 1 << 15, 1 << 30]);
    }

    #[test]
    fn a_scratch_uses_the_seeds_until_it_has_a_cache_of_its_own() {
        let growth = Growth { copy_after: 10, full_after: 20, full_bits: 15 };
        let new_seeds = || Cache::with_bits(Isa::best(), IdWidth::U32, 5);
        let seeds = Seeds::new(new_seeds());
        let kind = |own: &mut Option<Cache>, mut seen| match growth.store(own, &mut seen, &seeds, new_seeds) {
            Store::Own(cache) => cache.bits().to_string(),
            Store::Alone(_) => "alone".to_owned(),
            Store::Shared(_) => "shared".to_owned(),
        };
        let kinds = |seen: [usize; 3]| {
            let mut own = None;
            seen.map(|seen| kind(&mut own, seen))
        };
        assert_eq!(kinds([0, 10, 20]), ["alone", "alone", "15"]);
        let alone = seeds.lend();
        assert_eq!(kinds([0, 10, 20]), ["5", "5", "15"], "another call has them");
        drop(alone);
        assert_eq!(kinds([0, 10, 20]), ["shared", "14", "15"]);
    }
}
