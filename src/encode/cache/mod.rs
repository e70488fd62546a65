//! The pretoken cache: pretokens of up to 1,024 bytes → their ids.
//!
//! The size of the cache is set once, so its memory is bounded, and its contents are never moved or wiped.
//! The contents never change a result: a pretoken that is not in the cache is merged again.
//!
//! # What is stored where
//!
//! A pretoken has a 16-byte key. Up to 15 bytes, the key is the bytes and their number, so equal keys are
//! equal pretokens. From 16 to 1,024 bytes it is a hash and the length ([`long_key`]): then the bytes are
//! compared too. Longer pretokens have no key and are not cached.
//!
//! The hash of the key chooses a [`bucket`]: one cache line with two slots. A slot holds a key and 16 bytes
//! more:
//!
//! | pretoken | ids | the slot holds | the [`overflow`] ring holds |
//! |---|---|---|---|
//! | up to 15 bytes | up to 7 (ids of 16 bits) or 4 (of 32 bits) | key and ids | nothing |
//! | up to 15 bytes | more, if a slot was free | key, place and number of the ids | pretoken and ids |
//! | up to 15 bytes, without a slot | any number | nothing | pretoken and ids, listed in the ring's index |
//! | 16 to 1,024 bytes | any number | nothing | pretoken and ids, listed in the ring's index |
//!
//! # What gives way to what
//!
//! A new pretoken takes a free slot of its bucket. If both are taken, or if it is long, it is written to the
//! ring and listed in the ring's index: half of the pretokens never come again, and a record displaces
//! nothing but the oldest. A pretoken of over 64 bytes, or one that was encoded in fragments, is written only
//! when it comes for the second time (the [`admission`] filter), since its record would take the place of
//! many others.
//!
//! A pretoken that is found through the index and has few ids gets a slot. If both slots are taken, the
//! second one is displaced: its ids are written to the ring, unless they are there already, and its record is
//! listed in the index. The first slot stays: it holds a token of the vocabulary, which is there from the
//! start, or the word that came first. In the ring, new records overwrite the oldest ones; in each bucket of
//! the index, a new entry replaces the oldest one.
//!
//! # How a lookup goes
//!
//! 1. The hot loop makes key and hash, and prefetches the bucket ([`Buckets::key_and_prefetch`]).
//! 2. It compares both slots ([`Buckets::find`]). Ids in the slot are a hit, and the lookup ends here.
//! 3. For all others it notes a [`Hint`] where the ids may be, and prefetches that
//!    ([`Cache::hint_and_prefetch`], then [`Cache::prefetch_record`]): in the record that the slot names; in
//!    a record that the index names; or nowhere, for a short pretoken whose bucket has a free slot: it would
//!    have got that one.
//! 4. [`Cache::get`] follows the hint. If it finds nothing, the caller merges the pretoken, asks
//!    [`Cache::should_cache`], and [adds](Cache::add) it.

mod admission;
mod bucket;
mod buckets;
mod gap;
mod long_key;
mod overflow;
#[cfg(test)]
mod tests;

pub(super) use bucket::{Bucket, IdWidth, MAX_INLINE_IDS};
pub(super) use buckets::Buckets;
pub(super) use gap::{Gap, Hint};

use std::ops::Range;

use super::padded_ids::PaddedIds;
use crate::memory::LargeTable;
use crate::pretokenize::key::{HashOf, Key};
use crate::room;
use crate::simd::{self, Isa, Kernel, Portable, Simd};
use admission::AdmissionFilter;
use bucket::RECORDED;
use long_key::is_long;
use overflow::{OverflowRing, words_before};

/// Pretokens and their ids.
pub(in crate::encode) struct Cache {
    buckets: LargeTable<Bucket>,
    shift: u32,
    id_width: IdWidth,
    /// The instruction set that makes the hashes: each has its own.
    isa: Isa,
    overflow: OverflowRing,
    admission: AdmissionFilter,
}

/// log2 of the number of buckets of a scratch's own cache: 16 MB. A text of 15 MB has 70,000 to 230,000
/// pretokens that are not tokens. With half the buckets, 7% of the pretokens of a text of many languages are
/// not in their bucket, 1% of those of English.
pub(in crate::encode) const BUCKET_BITS: u32 = 18;
/// Words of the overflow ring for each bucket, as a power of two: 32 MB beside 16.
const RING_WORDS_PER_BUCKET: u32 = 5;
/// Words of the overflow ring for each bucket of a cache of seeds, as a power of two. Of 200,000 seeds a
/// fifth have no room in their buckets.
const RING_WORDS_PER_SEED_BUCKET: u32 = 4;
/// The same for a cache of fewer buckets.
const RING_WORDS_PER_COPIED_BUCKET: u32 = 3;
/// log2 of the minimum number of buckets of a scratch's own cache.
const MIN_COPY_BITS: u32 = 14;
/// log2 of the maximum number of buckets of a cache of seeds.
const MAX_SEED_BUCKET_BITS: u32 = 17;
/// Tokens of this id or a higher one are not put into a scratch's own cache: all 200,000 tokens of a large
/// vocabulary would leave little room for words. With 131,072, or with all, no text was faster.
const FIRST_UNSEEDED_ID: u32 = 1 << 16;
/// Longer pretokens are cached only when they occur for the second time: their records are large.
const MAX_BYTES_AT_ONCE: usize = 64;
/// A scratch gets a cache only if the system would give this many times its memory, since the result of the
/// call also needs memory.
const MEMORY_MARGIN: usize = 4;
/// log2 of the minimum number of buckets of a cache of seeds.
const MIN_SEED_BUCKET_BITS: u32 = 6;

impl Cache {
    /// An empty cache with room for `count` seeds.
    pub(in crate::encode) fn for_seeds(isa: Isa, id_width: IdWidth, count: usize) -> Self {
        let buckets = LargeTable::zeroed(1 << seed_bits(count));
        Self::empty(isa, id_width, buckets, RING_WORDS_PER_SEED_BUCKET)
    }

    /// An empty cache of `1 << bits` buckets.
    pub(in crate::encode) fn with_bits(isa: Isa, id_width: IdWidth, bits: u32) -> Self {
        Self::empty(isa, id_width, LargeTable::zeroed(1 << bits), RING_WORDS_PER_BUCKET)
    }

    fn empty(isa: Isa, id_width: IdWidth, buckets: LargeTable<Bucket>, ring: u32) -> Self {
        let bits = buckets.len().trailing_zeros();
        let overflow = OverflowRing::with_bits(bits + ring);
        let admission = AdmissionFilter::for_ring(overflow.bits());
        Cache { buckets, shift: 64 - bits, id_width, isa, overflow, admission }
    }

    /// A cache of `1 << bits` buckets, at least as many as here, for a scratch, with what
    /// [`Cache::fill_part`] takes along. `None` if the system does not have [`MEMORY_MARGIN`] times the
    /// memory.
    #[cold]
    pub(in crate::encode) fn to_own(&self, bits: u32) -> Option<Self> {
        let mut own = Self::unmapped(self.isa, self.id_width, bits)?;
        for part in LargeTable::<Bucket>::parts(own.buckets.len()) {
            own.buckets.map(part.clone());
            self.copy_slots(&mut own, part);
        }
        Some(own)
    }

    /// Copies the ids in slots that belong to the part of this number of an empty cache, at least as large:
    /// all of them if it has as many buckets, else those that begin with an id below [`FIRST_UNSEEDED_ID`]
    /// and find a free slot. Returns whether it is the last part.
    ///
    /// Low ids are frequent tokens. Most tokens of a large vocabulary never occur in a text, and the words
    /// that do need the room; other tokens are merged when they occur.
    pub(in crate::encode) fn fill_part(&self, own: &mut Cache, number: usize) -> bool {
        let mut parts = LargeTable::<Bucket>::parts(own.buckets.len()).skip(number);
        parts.next().into_iter().for_each(|part| self.copy_slots(own, part));
        parts.next().is_none()
    }

    fn copy_slots(&self, own: &mut Cache, part: Range<usize>) {
        let first_left_out = if own.bits() == self.bits() { u32::MAX } else { FIRST_UNSEEDED_ID };
        // Both are ordered by the upper bits of the hash, so the writes go on from bucket to bucket.
        let per_bucket = own.buckets.len() / self.buckets.len();
        let from = &self.buckets[part.start / per_bucket..part.end / per_bucket];
        self.isa.run(CopySlots { from, to: own, first_left_out });
    }

    /// An empty cache for a scratch, whose memory is not mapped yet. `None` if the system does not have
    /// [`MEMORY_MARGIN`] times the memory.
    pub(in crate::encode) fn unmapped(isa: Isa, id_width: IdWidth, bits: u32) -> Option<Self> {
        let ring = if bits >= BUCKET_BITS { RING_WORDS_PER_BUCKET } else { RING_WORDS_PER_COPIED_BUCKET };
        let bytes = (size_of::<Bucket>() + (size_of::<u32>() << ring)) << bits;
        room::check_available(MEMORY_MARGIN * bytes).ok()?;
        Some(Self::empty(isa, id_width, LargeTable::try_unmapped(1 << bits).ok()?, ring))
    }

    /// Maps the memory of the buckets, and of the index of the ring.
    pub(in crate::encode) fn map(&mut self) {
        LargeTable::<Bucket>::parts(self.buckets.len()).for_each(|part| self.buckets.map(part));
        self.overflow.allocate();
    }

    /// log2 of the number of buckets.
    pub(in crate::encode) fn bits(&self) -> u32 {
        64 - self.shift
    }

    /// log2 of the number of buckets of a copy of these seeds.
    pub(in crate::encode) fn bits_of_copy(&self) -> u32 {
        self.bits().max(MIN_COPY_BITS)
    }

    /// The buckets, for the hot loop.
    #[inline(always)]
    pub(in crate::encode) fn buckets(&self) -> Buckets<'_> {
        Buckets { buckets: &self.buckets, shift: self.shift }
    }

    /// The instruction set that makes the hashes.
    pub(in crate::encode) fn isa(&self) -> Isa {
        self.isa
    }

    #[inline(always)]
    pub(in crate::encode) fn id_width(&self) -> IdWidth {
        self.id_width
    }

    /// For a pretoken whose ids are not in a slot, notes in `hint` where they may be, and prefetches that
    /// place. `bucket_index` is the bucket of its key, and `slot` the slot that names its record, if one
    /// does. Must be called before [`Cache::prefetch_record`] and [`Cache::get`].
    #[inline(never)] // out of the hot loop; and a result of 16 bytes would be read before it is all written
    pub(in crate::encode) fn hint_and_prefetch(
        &self,
        key: Key,
        bucket_index: u32,
        slot: Option<usize>,
        hint: &mut Hint,
    ) {
        let bucket = &self.buckets[bucket_index as usize];
        if let Some(slot) = slot {
            let (place, count) = bucket.record(slot);
            self.overflow.prefetch_ids(place);
            *hint = Hint::Ids { place, count: count as u32 };
        } else if bucket.is_empty(1) && !is_long(key) || key == Key::NONE {
            // A short pretoken would have got the free slot of its bucket. A long one can only be in the
            // ring.
            *hint = Hint::Nowhere;
        } else {
            let hash = key.hash();
            self.overflow.prefetch_index(hash);
            *hint = Hint::Record(hash);
        }
    }

    /// Prefetches the record that the ring's index names.
    #[inline]
    pub(in crate::encode) fn prefetch_record(&self, hint: Hint) {
        if let Hint::Record(hash) = hint {
            self.overflow.prefetch_record(hash);
        }
    }

    /// The ids of a pretoken, if they are in the cache; ids from a slot are unpacked into `room`.
    #[inline]
    pub(in crate::encode) fn get<'a>(
        &'a self,
        gap: &Gap<'_>,
        room: &'a mut [u32; MAX_INLINE_IDS + 1],
    ) -> Option<PaddedIds<'a>> {
        let Gap { key, bucket_index, hint, .. } = *gap;
        if let Hint::Ids { place, count } = hint {
            return self.overflow.ids(place, count as usize);
        }
        // A pretoken that occurs twice in a run may have been cached since the hint was made.
        let bucket = &self.buckets[bucket_index as usize];
        if let Some(slot) = (0..2).find(|&slot| bucket.holds(Portable, slot, key)) {
            let (place, count) = bucket.record(slot);
            return if bucket.has_many(slot) {
                self.overflow.ids(place, count)
            } else {
                Some(bucket.inline_ids(slot, self.id_width, room).into())
            };
        }
        match hint {
            Hint::Record(hash) => self.overflow.find(hash, gap.pretoken()),
            _ => None,
        }
    }

    /// Whether a pretoken that [`Cache::get`] does not find should be cached. `in_fragments` says whether it
    /// was encoded in fragments, which are in the cache. Such a pretoken, or one of over
    /// [`MAX_BYTES_AT_ONCE`] bytes, is cached only when it occurs for the second time, unless a slot is free
    /// for it.
    #[inline]
    pub(in crate::encode) fn should_cache(&mut self, miss: &Gap<'_>, in_fragments: bool) -> bool {
        match miss.hint {
            Hint::Record(hash) if in_fragments || miss.end - miss.start > MAX_BYTES_AT_ONCE => {
                self.admission.admits(hash)
            }
            _ => true,
        }
    }

    /// Caches the ids of a pretoken that [`Cache::get`] does not find, unless it is too long for a key.
    pub(in crate::encode) fn add(&mut self, miss: &Gap<'_>, ids: &[u32]) {
        if ids.is_empty() || miss.key == Key::NONE {
            return;
        }
        match miss.hint {
            Hint::Record(hash) => self.overflow.push(hash, miss.pretoken(), ids),
            _ => self.insert(miss.key, miss.pretoken(), ids),
        }
    }

    /// Puts a short pretoken that has no slot, and has ids, into its bucket. `pretoken` may be empty where
    /// its ids fit into a slot.
    fn insert(&mut self, key: Key, pretoken: &[u8], ids: &[u32]) {
        if self.has_room(key, ids.len()) {
            self.put(key, ids, 0);
        } else {
            let Some(place) = self.overflow.write(pretoken, ids) else { return };
            let bucket_index = self.bucket_index(key);
            let slot = self.room(bucket_index, key);
            self.buckets[bucket_index].put_many(slot, key, place, ids.len());
        }
    }

    /// Puts a key that has no slot, and ids that fit into one, into its bucket. `recorded` is [`RECORDED`] if
    /// the ring has a record of it, else 0.
    fn put(&mut self, key: Key, ids: &[u32], recorded: u64) {
        let bucket_index = self.bucket_index(key);
        let slot = self.room(bucket_index, key);
        self.buckets[bucket_index].put(slot, key, ids, self.id_width, recorded);
    }

    /// The slot that a key goes to. A pretoken that is displaced from it is listed in the ring's index, if it
    /// has ids there, or written to the ring.
    fn room(&mut self, bucket_index: usize, key: Key) -> usize {
        let bucket = &self.buckets[bucket_index];
        if let Some(slot) = bucket.slot_for(key) {
            return slot;
        }
        let (key, mut bytes) = (bucket.key(1), [0; 16]);
        if bucket.has_many(1) {
            let (place, count) = bucket.record(1);
            if self.overflow.ids(place, count).is_some() {
                self.overflow.add_to_index(key.hash(), place - words_before(key.len()) as u64);
            }
        } else if !bucket.is_recorded(1) {
            let mut room = [0; MAX_INLINE_IDS + 1];
            let ids = bucket.inline_ids(1, self.id_width, &mut room);
            self.overflow.push(key.hash(), key.bytes(&mut bytes), ids);
        }
        1
    }

    /// Whether `ids` ids fit into the slot of a key.
    #[inline]
    pub(in crate::encode) fn has_room(&self, key: Key, ids: usize) -> bool {
        ids <= self.id_width.inline_capacity() && !is_long(key)
    }

    /// Gives a slot to a key whose ids were found through the ring's index and fit into it, if it has none.
    pub(in crate::encode) fn promote(&mut self, key: Key, bucket_index: u32, ids: &[u32]) {
        if (0..2).all(|slot| !self.buckets[bucket_index as usize].holds(Portable, slot, key)) {
            self.put(key, ids, RECORDED);
        }
    }

    /// Prefetches the bucket of a key, for [`Cache::seed`].
    pub(in crate::encode) fn prefetch_bucket(&self, key: Key) {
        simd::prefetch(&self.buckets, self.bucket_index(key));
    }

    /// Like [`Cache::insert`], but displaces nothing: a pretoken without a free slot goes to the ring.
    pub(in crate::encode) fn seed(&mut self, key: Key, pretoken: &[u8], ids: &[u32]) {
        if self.buckets[self.bucket_index(key)].is_empty(1) {
            self.insert(key, pretoken, ids);
        } else {
            self.overflow.push(key.hash(), pretoken, ids);
        }
    }

    /// The index of a key's bucket.
    #[inline]
    pub(in crate::encode) fn bucket_index(&self, key: Key) -> usize {
        (self.isa.run(HashOf(key)) >> self.shift) as usize
    }
}

/// Copies the slots that hold ids to free slots of another cache, but for those that begin with an id from
/// `first_left_out` on. What is in the ring stays behind.
struct CopySlots<'a> {
    from: &'a [Bucket],
    to: &'a mut Cache,
    first_left_out: u32,
}

impl Kernel for CopySlots<'_> {
    type Out = ();

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) {
        let Cache { shift, id_width, .. } = *self.to;
        for bucket in self.from {
            for slot in (0..2).filter(|&slot| !bucket.is_empty(slot) && !bucket.has_many(slot)) {
                if bucket.first_id(slot, id_width) < self.first_left_out {
                    let index = (bucket.key(slot).hash_by(simd) >> shift) as usize;
                    self.to.buckets[index].copy_slot(bucket, slot);
                }
            }
        }
    }
}

/// About how many bytes a cache of `count` seeds takes.
pub(in crate::encode) fn memory_of_seeds(count: usize) -> usize {
    let buckets = 1_usize << seed_bits(count);
    buckets * size_of::<Bucket>() + (buckets << RING_WORDS_PER_SEED_BUCKET) * size_of::<u32>() * 2 + (4 << 20)
}

/// log2 of the number of buckets for `count` seeds.
fn seed_bits(count: usize) -> u32 {
    count.next_power_of_two().trailing_zeros().clamp(MIN_SEED_BUCKET_BITS, MAX_SEED_BUCKET_BITS)
}
