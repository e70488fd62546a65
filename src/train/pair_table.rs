//! A hash table from pairs of tokens to their numbers. A lookup reads one cache line, which can be
//! prefetched.

use super::tokens::pack;
use crate::error::Result;
use crate::hashing::fold_words;
use crate::room;
use crate::simd;

/// A place without an entry.
const EMPTY_PLACE: u64 = u64::MAX;
/// log2 of the places of a new table.
const MIN_TABLE_BITS: u32 = 10;

/// A hash table with open addressing. A place holds a pair's number and half of its hash, the tag, so that
/// the tag alone rules most other pairs out. The caller decides whether a number with the same tag is that of
/// the pair.
pub(super) struct PairTable {
    places: Vec<u64>,
    bits: u32,
    used: usize,
}

impl Default for PairTable {
    fn default() -> Self {
        PairTable { places: vec![EMPTY_PLACE; 1 << MIN_TABLE_BITS], bits: MIN_TABLE_BITS, used: 0 }
    }
}

/// The tag of a pair: half of its hash. Its upper bits choose the first place of the search.
#[inline]
fn tag(left: u32, right: u32) -> u32 {
    fold_words(pack(left, right), 0) as u32
}

impl PairTable {
    /// The place at which the search for a tag begins.
    #[inline]
    fn first_place(&self, tag: u32) -> usize {
        (tag >> (u32::BITS - self.bits)) as usize
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    /// Prefetches the entry that a lookup of this pair reads first.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        simd::prefetch(&self.places, self.first_place(tag(left, right)));
    }

    /// The first place, from `place` on, with the same tag.
    #[inline]
    fn probe(&self, tag: u32, mut place: usize) -> Option<usize> {
        loop {
            let entry = self.places[place];
            if entry == EMPTY_PLACE {
                return None;
            }
            if (entry >> 32) as u32 == tag {
                return Some(place);
            }
            place = self.after(place);
        }
    }

    /// A number with the tag of the pair, which may be that of another pair; `None` if the table does not
    /// have the pair.
    #[inline]
    pub(super) fn first(&self, left: u32, right: u32) -> Option<u32> {
        let tag = tag(left, right);
        self.probe(tag, self.first_place(tag)).map(|place| self.places[place] as u32)
    }

    /// The place of the pair; `is_it` decides whether a number is that of the pair.
    #[inline]
    fn place(&self, left: u32, right: u32, is_it: impl Fn(u32) -> bool) -> Option<usize> {
        let tag = tag(left, right);
        let mut from = self.first_place(tag);
        loop {
            let place = self.probe(tag, from)?;
            if is_it(self.places[place] as u32) {
                return Some(place);
            }
            from = self.after(place);
        }
    }

    /// The number of the pair; `is_it` decides whether a number is that of the pair.
    #[inline]
    pub(super) fn find(&self, left: u32, right: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.place(left, right, is_it).map(|place| self.places[place] as u32)
    }

    /// Adds a pair, which must not be in the table yet.
    pub(super) fn insert(&mut self, left: u32, right: u32, number: u32) -> Result<()> {
        if 8 * (self.used + 1) > 5 * self.places.len() {
            self.grow()?;
        }
        self.used += 1;
        self.put(u64::from(tag(left, right)) << 32 | u64::from(number));
        Ok(())
    }

    fn put(&mut self, entry: u64) {
        let mut place = self.first_place((entry >> 32) as u32);
        while self.places[place] != EMPTY_PLACE {
            place = self.after(place);
        }
        self.places[place] = entry;
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        let places = room::filled(EMPTY_PLACE, 2 << self.bits)?;
        self.bits += 1;
        let old = std::mem::replace(&mut self.places, places);
        old.into_iter().filter(|&entry| entry != EMPTY_PLACE).for_each(|entry| self.put(entry));
        Ok(())
    }

    /// Removes a pair, if the table has it. Entries after it move up where that brings them nearer to their
    /// first place.
    pub(super) fn remove(&mut self, left: u32, right: u32, is_it: impl Fn(u32) -> bool) {
        let Some(mut gap) = self.place(left, right, is_it) else { return };
        self.used -= 1;
        let mask = self.places.len() - 1;
        let mut place = gap;
        loop {
            place = self.after(place);
            let entry = self.places[place];
            if entry == EMPTY_PLACE {
                break;
            }
            let distance = place.wrapping_sub(self.first_place((entry >> 32) as u32)) & mask;
            if distance >= place.wrapping_sub(gap) & mask {
                self.places[gap] = entry;
                gap = place;
            }
        }
        self.places[gap] = EMPTY_PLACE;
    }
}

#[cfg(test)]
mod tests {
    use super::PairTable;
    use crate::random::Random;
    use std::collections::HashMap;
    use std::collections::hash_map::Entry;

    #[test]
    fn the_table_agrees_with_a_hash_map() {
        let (mut table, mut pairs, mut map) = (PairTable::default(), Vec::new(), HashMap::new());
        let mut random = Random::new(1);
        for step in 0..200_000u32 {
            let pair = (random.below(60) as u32, random.below(60) as u32);
            let is_it = |number: u32| pairs[number as usize] == pair;
            assert_eq!(table.find(pair.0, pair.1, is_it), map.get(&pair).copied(), "{step}");
            if step % 3 > 0 && map.remove(&pair).is_some() {
                table.remove(pair.0, pair.1, is_it);
            } else if let Entry::Vacant(vacant) = map.entry(pair) {
                let number = pairs.len() as u32;
                pairs.push(pair);
                table.insert(pair.0, pair.1, number).unwrap();
                vacant.insert(number);
            }
            assert_eq!(table.used, map.len());
        }
    }
}
