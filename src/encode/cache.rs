//! The pretoken cache: short pretokens → their few ids.
//!
//! A table of a size that is set once, so that memory is bounded and nothing is ever moved or wiped. What is in it
//! never shows in a result. A key belongs to a line of two entries; when both are taken, the second gives way to what
//! is new, and goes to the records, where all that has no room here is found. So the vocabulary, which is there from
//! the start, and the words that came first stay in the first entries, which are looked at first.

use super::bucket::{Bucket, IdWidth, MAX_INLINE_IDS, RECORDED};
use super::lookup::Miss;
use super::output::PaddedIds;
use super::overflow::{OverflowRing, is_long, long_key, long_len, words_before};
use crate::memory::LargeTable;
use crate::pretokenize::key::{HashOf, KEY_BYTES, Key, Length};
use crate::room;
use crate::simd::{self, Isa, Portable, Simd};

/// Pretokens and their ids.
pub(super) struct Cache {
    buckets: LargeTable<Bucket>,
    shift: u32,
    id_width: IdWidth,
    /// Of the code that looks: hashes are its own.
    isa: Isa,
    overflow: OverflowRing,
}

/// log2 of the number of lines of a cache that is added to: 16 MB. A text of 15 MB has 70,000 to 230,000 pretokens that
/// are no tokens; with half the lines, 7% of the pretokens of a text of many languages are not in their line, 1% of those
/// of English.
pub(super) const BUCKET_BITS: u32 = 18;
/// Words of records for each line, as a power of two: 32 MB beside 16.
const RING_WORDS_PER_BUCKET: u32 = 5;
/// The same where there are only seeds, a fifth of which have no room in their lines if they are 200,000.
const RING_WORDS_PER_SEED_BUCKET: u32 = 4;
/// The most for a cache of seeds.
const MAX_SEED_BUCKET_BITS: u32 = 17;
/// Ids from here on are no seeds of a thread's cache.
const FIRST_UNSEEDED_ID: u32 = 1 << 16;
/// A thread has a cache of its own only where the system would give so many times its memory.
const MEMORY_MARGIN: usize = 4;
/// The least for a cache of seeds.
const MIN_SEED_BUCKET_BITS: u32 = 6;

impl Cache {
    /// An empty one with room for so many seeds.
    pub(super) fn for_seeds(isa: Isa, id_width: IdWidth, count: usize) -> Self {
        let bits = seed_bits(count);
        Self::with_records(isa, id_width, bits, OverflowRing::with_bits(bits + RING_WORDS_PER_SEED_BUCKET))
    }

    /// An empty one of `1 << bits` lines.
    pub(super) fn with_bits(isa: Isa, id_width: IdWidth, bits: u32) -> Self {
        Self::with_records(isa, id_width, bits, OverflowRing::with_bits(bits + RING_WORDS_PER_BUCKET))
    }

    fn with_records(isa: Isa, id_width: IdWidth, bits: u32, overflow: OverflowRing) -> Self {
        Cache { buckets: LargeTable::zeroed(1 << bits), shift: 64 - bits, id_width, isa, overflow }
    }

    /// One of `1 << bits` lines to be added to, with the seeds of this one that it has room for, of the lowest ids.
    ///
    /// Those are the frequent ones. Most tokens of a large vocabulary never occur in a text, and the words that do need
    /// the room; the others are merged when they are met.
    ///
    /// `None` where there is no memory for it, and for much more: what a call returns needs it first.
    pub(super) fn to_own(&self, bits: u32) -> Option<Self> {
        let bytes = (size_of::<Bucket>() + (size_of::<u32>() << RING_WORDS_PER_BUCKET)) << bits;
        room::check_available(MEMORY_MARGIN * bytes).ok()?;
        let overflow = OverflowRing::with_bits(bits + RING_WORDS_PER_BUCKET);
        let buckets = LargeTable::try_zeroed(1 << bits).ok()?;
        let mut own = Cache { buckets, shift: 64 - bits, id_width: self.id_width, isa: self.isa, overflow };
        for bucket in self.buckets.iter() {
            for slot in (0..2).filter(|&slot| !bucket.is_empty(slot) && !bucket.has_many(slot)) {
                let mut room = [0; MAX_INLINE_IDS + 1];
                let (key, ids) = (bucket.key(slot), bucket.inline_ids(slot, self.id_width, &mut room));
                if ids[0] < FIRST_UNSEEDED_ID && own.buckets[own.bucket_index(key)].is_empty(1) {
                    own.insert(key, &[], ids);
                }
            }
        }
        Some(own)
    }

    /// What the hot loop looks at.
    #[inline(always)]
    pub(super) fn buckets(&self) -> Buckets<'_> {
        Buckets { buckets: &self.buckets, shift: self.shift }
    }

    #[inline(always)]
    pub(super) fn id_width(&self) -> IdWidth {
        self.id_width
    }

    /// Where the ids of a pretoken may be that is not among the few of its line, with that memory asked for. `key` is
    /// its key, `bucket_index` its line, and `slot` its entry there, if it has one. Ahead of [`Cache::prefetch_record`] and [`Cache::get`].
    #[inline(never)] // out of the hot loop; and a result of 16 bytes would be read before it is all written
    pub(super) fn hint_and_prefetch(
        &self,
        key: Key,
        bucket_index: u32,
        slot: Option<usize>,
        hint: &mut Hint,
    ) {
        let bucket = &self.buckets[bucket_index as usize];
        if let Some(slot) = slot {
            let (place, count) = bucket.record(slot);
            self.overflow.prefetch_ids(start(place, key));
            *hint = Hint::Ids { place, count: count as u32 };
        } else if bucket.is_empty(1) && !is_long(key) || key == Key::NONE {
            // Where there is room, nothing was ever pushed out; but of what is long it is kept whether it was met.
            *hint = Hint::Nowhere;
        } else {
            let hash = key.hash();
            self.overflow.prefetch_index(hash);
            *hint = Hint::Record(hash);
        }
    }

    /// Asks for the next memory that they may be in.
    #[inline]
    pub(super) fn prefetch_record(&self, hint: Hint) {
        if let Hint::Record(hash) = hint {
            self.overflow.prefetch_record(hash);
        }
    }

    /// The ids of a pretoken, if they are here; few of them may be in `room`.
    #[inline]
    pub(super) fn get<'a>(
        &'a self,
        miss: &Miss<'_>,
        room: &'a mut [u32; MAX_INLINE_IDS + 1],
    ) -> Option<PaddedIds<'a>> {
        let Miss { key, bucket_index, hint, .. } = *miss;
        if let Hint::Ids { place, count } = hint {
            return self.ids_in_record(miss, place, count as usize);
        }
        // It may have come a moment ago for the first time, after the hint was given.
        let bucket = &self.buckets[bucket_index as usize];
        if let Some(slot) = (0..2).find(|&slot| bucket.holds(Portable, slot, key)) {
            let (place, count) = bucket.record(slot);
            return if bucket.has_many(slot) {
                self.ids_in_record(miss, place, count)
            } else {
                Some(bucket.inline_ids(slot, self.id_width, room).into())
            };
        }
        match hint {
            Hint::Record(hash) => self.overflow.find(hash, miss.pretoken()),
            _ => None,
        }
    }

    /// The ids in a record, if they are not lost, and if they are those of this pretoken: the key of a long one does not
    /// tell.
    #[inline]
    fn ids_in_record(&self, miss: &Miss<'_>, place: u64, count: usize) -> Option<PaddedIds<'_>> {
        if is_long(miss.key) {
            self.overflow.read(start(place, miss.key), miss.pretoken())
        } else {
            self.overflow.ids(place, count)
        }
    }

    /// Whether a pretoken that [`Cache::get`] does not find should be kept: one that another has to leave for, or that is
    /// long, only when it comes a second time. Most never do.
    #[inline]
    pub(super) fn should_cache(&mut self, hint: Hint) -> bool {
        match hint {
            Hint::Record(hash) => self.overflow.admits(hash),
            _ => true,
        }
    }

    /// Keeps the ids of a pretoken that [`Cache::get`] does not find, unless it is longer than others ever are.
    /// `pretoken` may be empty where it is short and has few ids.
    pub(super) fn insert(&mut self, key: Key, pretoken: &[u8], ids: &[u32]) {
        if ids.is_empty() || key == Key::NONE {
            return;
        }
        if self.has_room(key, ids.len()) {
            self.put(key, ids, 0);
        } else {
            let Some(place) = self.overflow.write(pretoken, ids) else { return };
            let bucket_index = self.bucket_index(key);
            let slot = self.room(bucket_index, key);
            self.buckets[bucket_index].put_many(slot, key, place, ids.len());
        }
    }

    /// Puts a key with few ids, which has no entry, into its line; `recorded` is [`RECORDED`] if it has a record.
    fn put(&mut self, key: Key, ids: &[u32], recorded: u64) {
        let bucket_index = self.bucket_index(key);
        let slot = self.room(bucket_index, key);
        self.buckets[bucket_index].put(slot, key, ids, self.id_width, recorded);
    }

    /// Which entry of its line a key goes to; what has to leave for it can be found among the records from now on.
    fn room(&mut self, bucket_index: usize, key: Key) -> usize {
        let bucket = &self.buckets[bucket_index];
        if let Some(slot) = bucket.slot_for(key) {
            return slot;
        }
        let (key, mut bytes) = (bucket.key(1), [0; 16]);
        if bucket.has_many(1) {
            let (place, count) = bucket.record(1);
            if self.overflow.ids(place, count).is_some() {
                self.overflow.add_to_index(key.hash(), start(place, key));
            }
        } else if !bucket.is_recorded(1) {
            let mut room = [0; MAX_INLINE_IDS + 1];
            let ids = bucket.inline_ids(1, self.id_width, &mut room);
            self.overflow.push(key.hash(), key.bytes(&mut bytes), ids);
        }
        1
    }

    /// Whether so many ids have room beside a key.
    #[inline]
    pub(super) fn has_room(&self, key: Key, ids: usize) -> bool {
        ids <= self.id_width.inline_capacity() && !is_long(key)
    }

    /// Gives a key whose few ids were found in its record an entry of its line, if it has none.
    pub(super) fn promote(&mut self, key: Key, bucket_index: u32, ids: &[u32]) {
        if (0..2).all(|slot| !self.buckets[bucket_index as usize].holds(Portable, slot, key)) {
            self.put(key, ids, RECORDED);
        }
    }

    /// Asks for the line of a key, ahead of [`Cache::seed`].
    pub(super) fn prefetch_bucket(&self, key: Key) {
        simd::prefetch(&self.buckets, self.bucket_index(key));
    }

    /// Like [`Cache::insert`], but pushes out nothing: what has no room in its line has a record.
    pub(super) fn seed(&mut self, key: Key, pretoken: &[u8], ids: &[u32]) {
        if self.buckets[self.bucket_index(key)].is_empty(1) {
            self.insert(key, pretoken, ids);
        } else {
            self.overflow.push(key.hash(), pretoken, ids);
        }
    }

    /// The line of a key.
    #[inline]
    pub(super) fn bucket_index(&self, key: Key) -> usize {
        (self.isa.run(HashOf(key)) >> self.shift) as usize
    }
}

/// Bytes of a cache of so many seeds, about.
pub(super) fn memory_of_seeds(count: usize) -> usize {
    let buckets = 1_usize << seed_bits(count);
    buckets * size_of::<Bucket>() + (buckets << RING_WORDS_PER_SEED_BUCKET) * size_of::<u32>() * 2 + (4 << 20)
}

/// log2 of the lines for so many seeds.
fn seed_bits(count: usize) -> u32 {
    count.next_power_of_two().trailing_zeros().clamp(MIN_SEED_BUCKET_BITS, MAX_SEED_BUCKET_BITS)
}

/// The key of a pretoken of any length.
pub(super) fn key_of(pretoken: &[u8]) -> Key {
    if pretoken.len() > KEY_BYTES { long_key(pretoken) } else { Key::new(pretoken, 0, pretoken.len()) }
}

/// Where the record of a key begins whose ids are at `place`.
#[inline]
fn start(place: u64, key: Key) -> u64 {
    let len = if is_long(key) { long_len(key) } else { key.len() };
    place - words_before(len) as u64
}

/// Where ids may be that are not in a line.
#[derive(Clone, Copy, Default)]
pub(super) enum Hint {
    #[default]
    Nowhere,
    /// At a place of the records.
    Ids { place: u64, count: u32 },
    /// In the record of a pretoken of this hash.
    Record(u64),
}

/// The lines of a cache, held near by a loop.
#[derive(Clone, Copy)]
pub(super) struct Buckets<'a> {
    buckets: &'a [Bucket],
    shift: u32,
}

impl<'a> Buckets<'a> {
    /// The key of `text[start..end]` and which line it belongs to; the line is asked for, ahead of [`Buckets::find`].
    #[inline(always)]
    pub(super) fn key_and_prefetch(
        self,
        simd: impl Simd,
        text: &[u8],
        start: usize,
        end: usize,
        len: Length,
    ) -> (Key, u32) {
        let (mut key, mut hash) = Key::hashed(simd, text, start, len);
        if len.is_long() {
            key = long_key(&text[start..end]);
            hash = key.hash_by(simd);
        }
        let bucket = (hash >> self.shift) as usize;
        simd::prefetch(self.buckets, bucket);
        (key, bucket as u32)
    }

    /// A line, and which of its entries is that of a key.
    #[inline(always)]
    pub(super) fn find(self, simd: impl Simd, key: Key, bucket: u32) -> (&'a Bucket, Option<usize>) {
        let bucket = &self.buckets[bucket as usize];
        // A branch: nine of ten are in the first entry. To choose without one took half as long again.
        let slot = if bucket.holds(simd, 0, key) {
            Some(0)
        } else if bucket.holds(simd, 1, key) {
            Some(1)
        } else {
            None
        };
        (bucket, slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::overflow::MAX_RECORDED_BYTES;
    use super::*;

    fn key(text: &str) -> Key {
        key_of(text.as_bytes())
    }

    fn found(cache: &Cache, text: &str) -> Vec<u32> {
        let (key, bucket_index) = (key(text), cache.bucket_index(key(text)) as u32);
        let (bucket, slot) = cache.buckets().find(Portable, key, bucket_index);
        let mut room = [0; MAX_INLINE_IDS + 1];
        if let Some(slot) = slot.filter(|&slot| !bucket.has_many(slot)) {
            return bucket.inline_ids(slot, cache.id_width, &mut room).to_vec();
        }
        let mut hint = Hint::Nowhere;
        cache.hint_and_prefetch(key, bucket_index, slot, &mut hint);
        let miss = Miss { text: text.as_bytes(), start: 0, end: text.len(), key, bucket_index, hint };
        cache.get(&miss, &mut room).map_or_else(Vec::new, |ids| ids.ids().to_vec())
    }

    fn insert(cache: &mut Cache, text: &str, ids: &[u32]) {
        cache.insert(key(text), text.as_bytes(), ids);
    }

    #[test]
    fn what_was_kept_is_found_and_nothing_else() {
        for (isa, id_width) in Isa::available().flat_map(|isa| [(isa, IdWidth::U16), (isa, IdWidth::U32)]) {
            let mut cache = Cache::with_bits(isa, id_width, 4);
            let long = "a pretoken of more than fifteen bytes";
            assert!(found(&cache, "a").is_empty());
            assert!(found(&cache, long).is_empty());
            let all = [("a", 1), ("b", 4), ("cc", 5), ("d", 7), ("e", 8), (long, 9)];
            for (text, count) in all {
                insert(&mut cache, text, &(0..count).collect::<Vec<u32>>());
            }
            for (text, count) in all {
                assert_eq!(found(&cache, text), (0..count).collect::<Vec<u32>>());
            }
            assert!(found(&cache, "c").is_empty());
            assert!(found(&cache, &long[1..]).is_empty());
            let far = "x".repeat(MAX_RECORDED_BYTES + 1);
            insert(&mut cache, &far, &[1]);
            assert!(found(&cache, &far).is_empty());
            insert(&mut cache, &far[1..], &[1, 2]);
            assert_eq!(found(&cache, &far[1..]), [1, 2]);
        }
    }

    #[test]
    fn what_is_pushed_out_is_found_among_the_records() {
        let mut cache = Cache::with_bits(Isa::best(), IdWidth::U32, 1);
        let words: Vec<String> = (0..300).map(|i| format!("k{i}")).collect();
        for (id, word) in (0..).zip(&words) {
            insert(&mut cache, word, &[id]);
            assert_eq!(found(&cache, word), [id]);
        }
        let kept = (0..).zip(&words).filter(|&(id, word)| found(&cache, word) == [id]).count();
        assert!(kept >= 100, "{kept}");
        for (id, word) in (0..).zip(&words) {
            let ids = found(&cache, word);
            assert!(ids.is_empty() || ids == [id]);
        }
    }

    #[test]
    fn what_the_records_have_lost_is_kept_anew_in_its_place() {
        let mut cache = Cache::with_bits(Isa::best(), IdWidth::U32, 4);
        let ids_in_record: Vec<u32> = (0..15).collect();
        insert(&mut cache, "lost", &ids_in_record);
        for round in 0..1000 {
            insert(&mut cache, &format!("something else {round}"), &ids_in_record);
        }
        assert!(found(&cache, "lost").is_empty());
        insert(&mut cache, "lost", &ids_in_record[1..]);
        assert_eq!(found(&cache, "lost"), ids_in_record[1..]);
    }

    #[test]
    fn a_cache_to_add_to_has_the_seeds() {
        let mut seeds = Cache::with_bits(Isa::best(), IdWidth::U32, 5);
        let words: Vec<String> = (0..30).map(|i| format!("k{i}")).collect();
        for (id, word) in (0..).zip(&words) {
            insert(&mut seeds, word, &[id, id + 1]);
        }
        let own = seeds.to_own(10).unwrap();
        for (id, word) in (0..).zip(&words) {
            let there = found(&own, word);
            assert!(there.is_empty() || there == [id, id + 1]);
        }
        assert!(words.iter().filter(|word| !found(&own, word).is_empty()).count() > 20);
    }
}
