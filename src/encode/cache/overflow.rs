//! The overflow ring: records of pretokens with their ids, one after the other, and an index to find them by.
//!
//! It holds what slots have no room for: long pretokens, lists of more ids than a slot has, pretokens that
//! found no free slot, and those that were displaced. New records overwrite the oldest ones; in each bucket
//! of the index, a new entry replaces the oldest one. So memory is bounded, nothing is ever moved or wiped,
//! and pages are touched only as far as they are needed.

use super::super::padded_ids::PaddedIds;
use crate::memory::{self, LargeTable};
use crate::simd;

/// Words of the ring for each bucket of the index, as a power of two. The index takes 4 MB beside a ring of
/// 32 MB. With half as many buckets, a second pass over a text of many languages takes a sixth longer.
const RING_WORDS_PER_INDEX_BUCKET: u32 = 7;
/// log2 of the minimum number of words of a ring. A record of the longest pretoken has some 1,300.
const MIN_RING_BITS: u32 = 12;

/// The first 2 MB of a ring are in small pages, since a short text writes a few of them; the rest is in huge
/// ones.
const WORDS_IN_SMALL_PAGES: usize = 1 << 19;

/// Bits of an index entry that are taken from the hash, below the place.
const TAG_BITS: u32 = 24;
/// The number of places that an index entry can distinguish. Each time this many words, which are terabytes,
/// were written, the index is emptied.
const PLACES_PER_LAP: u64 = 1 << (64 - TAG_BITS);

/// Entries in a bucket of the index: one cache line.
const INDEX_SLOTS: usize = 8;

/// An index entry of no record, lower than all others.
///
/// Not 0: where zeroed memory is read before it is written, the system maps each page twice, and the second
/// time interrupts all threads. So tables that are read first are filled at once.
const FREE_SLOT: u64 = 1;

/// Records that are skipped before the system is asked for memory again.
const SKIPPED_AFTER_REFUSAL: u32 = 1 << 12;

/// The overflow ring. Its memory is allocated for the first record.
pub(in crate::encode) struct OverflowRing {
    /// Records. Each has a word with the length of the pretoken (lower half) and the number of ids (upper
    /// half); the bytes, padded with zeros to whole words; and the ids.
    words: Vec<u32>,
    /// Buckets of [`INDEX_SLOTS`] entries, each the place of a record and [`TAG_BITS`] of its hash; or
    /// [`FREE_SLOT`].
    index: LargeTable<u64>,
    /// Words ever written, including those left out where the ring wraps. A place is this number when the
    /// record was written. It starts at 1, so no place is 0.
    written: u64,
    /// log2 of the number of words.
    bits: u32,
    /// Records to skip before the system is asked again for memory that it did not have.
    refused: u32,
}

impl OverflowRing {
    /// An empty ring of `1 << bits` words, not allocated yet.
    pub(in crate::encode) fn with_bits(bits: u32) -> Self {
        OverflowRing {
            words: Vec::new(),
            index: LargeTable::default(),
            written: 1,
            bits: bits.max(MIN_RING_BITS),
            refused: 0,
        }
    }

    /// log2 of the number of words.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Prefetches the bucket of the index that [`OverflowRing::find`] reads.
    #[inline]
    pub(in crate::encode) fn prefetch_index(&self, hash: u64) {
        simd::prefetch(&self.index, self.index_bucket(hash));
    }

    /// Prefetches the words that [`OverflowRing::ids`] or [`OverflowRing::read`] reads.
    #[inline]
    pub(in crate::encode) fn prefetch_ids(&self, place: u64) {
        simd::prefetch(&self.words, self.at(place));
    }

    /// Prefetches the first record that [`OverflowRing::find`] reads.
    #[inline]
    pub(in crate::encode) fn prefetch_record(&self, hash: u64) {
        if let Some(slot) = self.index_slots(hash).iter().find(|&&slot| same_tag(slot, hash)) {
            simd::prefetch(&self.words, self.at(self.place(*slot)));
        }
    }

    /// The ids of a pretoken, if the index lists it.
    #[inline]
    pub(in crate::encode) fn find(&self, hash: u64, pretoken: &[u8]) -> Option<PaddedIds<'_>> {
        self.index_slots(hash)
            .iter()
            .filter(|&&slot| same_tag(slot, hash))
            .find_map(|&slot| self.read(self.place(slot), pretoken))
    }

    /// The ids of the record at `place`, if it is that of the pretoken.
    #[inline]
    pub(in crate::encode) fn read(&self, place: u64, pretoken: &[u8]) -> Option<PaddedIds<'_>> {
        if !self.is_kept(place) {
            return None;
        }
        let at = self.at(place);
        let (&head, body) = self.words[at..].split_first()?;
        if head as usize & 0xffff != pretoken.len() {
            return None;
        }
        let bytes = &body[..pretoken.len().div_ceil(4)];
        let (whole, tail) = pretoken.as_chunks::<4>();
        let mut differs = 0;
        let words = &bytes[..whole.len()];
        for at in 0..whole.len() {
            // No early exit, so that compilers vectorize the loop.
            differs |= words[at] ^ u32::from_le_bytes(whole[at]);
        }
        if !tail.is_empty() {
            differs |= bytes[whole.len()] ^ padded(tail);
        }
        let ids = at + words_before(pretoken.len());
        if differs == 0 { PaddedIds::new(&self.words, ids, (head >> 16) as usize) } else { None }
    }

    /// The `count` ids at `place`, if they are not overwritten.
    #[inline]
    pub(in crate::encode) fn ids(&self, place: u64, count: usize) -> Option<PaddedIds<'_>> {
        if self.is_kept(place) { PaddedIds::new(&self.words, self.at(place), count) } else { None }
    }

    /// Writes the record of a pretoken of at most [`MAX_RECORDED_BYTES`](super::long_key::MAX_RECORDED_BYTES)
    /// bytes and lists it in the index, if there is memory for the ring.
    pub(in crate::encode) fn push(&mut self, hash: u64, pretoken: &[u8], ids: &[u32]) {
        if let Some(place) = self.write(pretoken, ids) {
            self.add_to_index(hash, place - words_before(pretoken.len()) as u64);
        }
    }

    /// Writes the record of a pretoken of at most [`MAX_RECORDED_BYTES`](super::long_key::MAX_RECORDED_BYTES)
    /// bytes, and returns the place of its ids; `None` where there is no memory for the ring.
    pub(in crate::encode) fn write(&mut self, pretoken: &[u8], ids: &[u32]) -> Option<u64> {
        if self.words.is_empty() && !self.allocate() {
            return None;
        }
        let before = words_before(pretoken.len());
        let place = self.reserve_words(before + ids.len());
        let at = self.at(place);
        self.words[at] = pretoken.len() as u32 | (ids.len() as u32) << 16;
        let (whole, tail) = pretoken.as_chunks::<4>();
        for (word, &four) in self.words[at + 1..].iter_mut().zip(whole) {
            *word = u32::from_le_bytes(four);
        }
        if !tail.is_empty() {
            self.words[at + before - 1] = padded(tail);
        }
        self.words[at + before..][..ids.len()].copy_from_slice(ids);
        Some(place + before as u64)
    }

    /// Allocates the ring and the index; returns `false` where there is no memory.
    #[cold]
    pub(super) fn allocate(&mut self) -> bool {
        if self.refused > 0 {
            self.refused -= 1;
            return false;
        }
        // Zeroed memory, whose pages the system maps when they are written to.
        let words = memory::zeros(1 << self.bits);
        let index = LargeTable::try_new(FREE_SLOT, INDEX_SLOTS << (self.bits - RING_WORDS_PER_INDEX_BUCKET));
        let (Ok(words), Ok(index)) = (words, index) else {
            self.refused = SKIPPED_AFTER_REFUSAL;
            return false;
        };
        (self.words, self.index) = (words, index);
        if let Some(later) = self.words.get_mut(WORDS_IN_SMALL_PAGES..) {
            memory::advise_huge_pages(later.as_mut_ptr().cast(), size_of_val(later));
        }
        true
    }

    /// Lists the record that begins at `start` in the index.
    pub(in crate::encode) fn add_to_index(&mut self, hash: u64, start: u64) {
        let index_bucket = self.index_bucket(hash);
        let index_slots = &mut self.index[index_bucket..index_bucket + INDEX_SLOTS];
        let oldest = (0..index_slots.len()).min_by_key(|&slot| index_slots[slot]).unwrap_or(0);
        index_slots[oldest] = start << TAG_BITS | hash & ((1 << TAG_BITS) - 1);
    }

    /// Reserves `words` words that do not wrap around the end, and returns their place.
    fn reserve_words(&mut self, words: usize) -> u64 {
        let lap = self.written / PLACES_PER_LAP;
        let left = self.words.len() - self.at(self.written);
        if words > left {
            self.written += left as u64;
        }
        if (self.written + words as u64) / PLACES_PER_LAP != lap {
            self.written = (lap + 1) * PLACES_PER_LAP;
            self.index.fill(FREE_SLOT);
        }
        let place = self.written;
        self.written += words as u64;
        place
    }

    /// Whether the record that holds `place` is not overwritten.
    #[inline]
    fn is_kept(&self, place: u64) -> bool {
        place < self.written && self.written <= place + self.words.len() as u64
    }

    #[inline]
    fn at(&self, place: u64) -> usize {
        place as usize & ((1 << self.bits) - 1)
    }

    /// The place in an index entry: all entries are of the same lap of [`PLACES_PER_LAP`].
    #[inline]
    fn place(&self, slot: u64) -> u64 {
        (self.written / PLACES_PER_LAP * PLACES_PER_LAP) | (slot >> TAG_BITS)
    }

    /// The first entry of the index bucket of a hash.
    #[inline]
    fn index_bucket(&self, hash: u64) -> usize {
        INDEX_SLOTS * (hash >> (64 + RING_WORDS_PER_INDEX_BUCKET - self.bits)) as usize
    }

    /// The index bucket of a hash; empty before the first record.
    #[inline]
    fn index_slots(&self, hash: u64) -> &[u64] {
        let index_bucket = self.index_bucket(hash);
        self.index.get(index_bucket..index_bucket + INDEX_SLOTS).unwrap_or_default()
    }
}

/// Words of a record before its ids, for a pretoken of `len` bytes.
#[inline]
pub(in crate::encode) fn words_before(len: usize) -> usize {
    1 + len.div_ceil(4)
}

#[inline]
fn same_tag(slot: u64, hash: u64) -> bool {
    slot != FREE_SLOT && (slot ^ hash) & ((1 << TAG_BITS) - 1) == 0
}

/// Up to four bytes as a word, padded with zeros.
#[inline]
fn padded(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::super::long_key::hash_long;
    use super::*;
    use std::collections::VecDeque;

    fn ids_of(records: &OverflowRing, hash: u64, pretoken: &[u8]) -> Option<Vec<u32>> {
        records.find(hash, pretoken).map(|ids| ids.ids().to_vec())
    }

    fn pretoken(round: u32) -> Vec<u8> {
        round.to_le_bytes().repeat(12)[..16 + round as usize % 31].to_vec()
    }

    #[test]
    fn records_are_there_until_they_are_written_over() {
        let mut records = OverflowRing::with_bits(14);
        let mut kept: VecDeque<(u64, u32, Vec<u32>)> = VecDeque::new();
        for round in 0..60_000_u32 {
            let ids: Vec<u32> = (0..1 + round % 11).map(|id| round * 16 + id).collect();
            let name = pretoken(round);
            assert!(records.find(hash_long(&name), &name).is_none());
            let place = records.write(&name, &ids).unwrap();
            records.add_to_index(hash_long(&name), place - words_before(name.len()) as u64);
            kept.push_back((place, round, ids));
            assert_eq!(ids_of(&records, hash_long(&name), &name), Some(kept.back().unwrap().2.clone()));
            while records.ids(kept[0].0, kept[0].2.len()).is_none() {
                kept.pop_front();
            }
            if round % 997 == 0 {
                let mut there_yet = 0;
                for (place, round, ids) in &kept {
                    assert_eq!(records.ids(*place, ids.len()).map(PaddedIds::ids), Some(&ids[..]));
                    let name = pretoken(*round);
                    if let Some(there) = ids_of(&records, hash_long(&name), &name) {
                        assert_eq!(there, *ids);
                        there_yet += 1;
                    }
                }
                assert!(2 * there_yet > kept.len().min(512), "half of the index at least is in use");
                assert!(round < 10_000 || kept.len() > (1 << 14) / 25);
            }
        }
    }

    #[test]
    fn pretokens_of_the_same_hash_are_told_apart() {
        let mut records = OverflowRing::with_bits(MIN_RING_BITS);
        for id in 0..8 {
            records.push(7, format!("number {id}").as_bytes(), &[id]);
        }
        for id in 0..8 {
            assert_eq!(ids_of(&records, 7, format!("number {id}").as_bytes()), Some(vec![id]));
            assert_eq!(ids_of(&records, 7, format!("number {id}!").as_bytes()), None);
        }
        records.push(7, b"one more", &[9]);
        assert_eq!(ids_of(&records, 7, b"number 0"), None, "the oldest of a bucket gives way");
        assert_eq!(ids_of(&records, 7, b"one more"), Some(vec![9]));
    }

    #[test]
    fn the_index_starts_anew_before_places_are_too_large_for_it() {
        let mut records = OverflowRing::with_bits(MIN_RING_BITS);
        let first = records.write(b"first", &[1]).unwrap();
        records.push(1, b"before", &[1]);
        records.written = PLACES_PER_LAP - 6;
        let last = records.write(b"a", &[3]).unwrap();
        records.push(2, b"after", &[2]);
        assert_eq!(ids_of(&records, 1, b"before"), None);
        assert_eq!(ids_of(&records, 2, b"after"), Some(vec![2]));
        assert_eq!(records.ids(last, 1).map(PaddedIds::ids), Some(&[3][..]));
        assert_eq!(records.ids(first, 1).map(PaddedIds::ids), None, "its words are others' since long ago");
        for round in 0..3000_u32 {
            records.push(u64::from(round) << 40, &round.to_le_bytes(), &[round]);
            assert_eq!(ids_of(&records, u64::from(round) << 40, &round.to_le_bytes()), Some(vec![round]));
        }
    }
}
