//! The pretoken cache: short pretokens → their few ids.
//!
//! Two tables of a size that is set once, so that memory is bounded and nothing is ever moved or wiped. What is in
//! them never shows in a result. A key belongs to a line of two entries, and has a second line to go to when that is
//! full; when both are, the second entry of the first gives way. So the vocabulary, which is there from the start, and
//! the words that came first outlive the rare ones. (With one line alone a quarter of the words of an English text
//! kept pushing each other out; with lines of one entry 9% of the pretokens had to go to their second.)

use super::ring::Ring;
use crate::memory::Table;
use crate::pretokenize::key::{Key, fold};
use crate::simd::{self, Leaf};

/// Up to this many ids are kept beside a key (98% of all pretokens have at most two); more are in a ring.
pub(super) const FEW: usize = 4;
/// Where the number of ids is in a slot's `high`, beside the key's length.
const COUNT: u32 = 60;
const KEY: u64 = (1 << COUNT) - 1;

/// Two entries, one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line {
    /// Of each entry the key's two halves, and the number of ids on top of the second: 0 for no entry. A key of 15
    /// bytes has at most 15.
    keys: [[u64; 2]; 2],
    /// The ids, or, where they are more than there is room for, their place in the ring.
    ids: [[u32; FEW]; 2],
}

impl Line {
    #[inline(always)]
    fn count(&self, way: usize) -> usize {
        (self.keys[way][1] >> COUNT) as usize
    }
}

/// Pretokens that have a key.
#[derive(Clone, Default)]
pub(super) struct Cache {
    lines: Table<Line>,
    shift: u32,
    ring: Ring,
}

/// log2 of the number of lines of a cache that is added to: 8 MB. A text of 15 MB has 70,000 to 230,000 pretokens that
/// are no tokens; with half the lines, twice to three times as many of them are not there any more when they come again.
pub(super) const BITS: u32 = 17;
/// Ids from here on are no seeds of a thread's cache.
const SEEDS: u32 = 1 << 16;
/// The least for a cache of seeds.
const LEAST: u32 = 6;

impl Cache {
    /// An empty one with room for so many seeds.
    pub(super) fn for_seeds(count: usize) -> Self {
        Self::with_bits(count.next_power_of_two().trailing_zeros().clamp(LEAST, BITS))
    }

    /// An empty one of `1 << bits` lines.
    pub(super) fn with_bits(bits: u32) -> Self {
        Cache { lines: Table::new(Line::default(), 1 << bits), shift: 64 - bits, ring: Ring::default() }
    }

    /// One of `1 << bits` lines to be added to, with the seeds of this one that it has room for, of the lowest ids.
    ///
    /// Those are the frequent ones. Most tokens of a large vocabulary never occur in a text, and the words that do need
    /// the room; the others are merged when they are met.
    pub(super) fn to_own(&self, bits: u32) -> Self {
        let mut own = Self::with_bits(bits);
        for line in self.lines.iter() {
            for ([low, high], ids) in line.keys.into_iter().zip(&line.ids) {
                if ids[0] < SEEDS {
                    own.seed(Key { low, high: high & KEY }, &ids[..(high >> COUNT) as usize]);
                }
            }
        }
        own
    }

    /// Which line a key belongs to.
    #[inline(always)]
    pub(super) fn home(&self, key: Key) -> u32 {
        (key.hash() >> self.shift) as u32
    }

    /// Where a key goes that has no room there.
    #[inline]
    fn second(&self, key: Key) -> u32 {
        (key.hash().rotate_left(32) >> self.shift) as u32
    }

    /// What the hot loop looks at.
    #[inline(always)]
    pub(super) fn lines(&self) -> Lines<'_> {
        Lines { lines: &self.lines, shift: self.shift, ring: &self.ring }
    }

    /// The ids of a key, if they are here.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<&[u32]> {
        let home = self.home(key);
        match self.get_in(key, home) {
            // Nothing leaves a line, so nothing went past one that has room: no wait for the second.
            None if self.lines[home as usize].count(1) > 0 => self.get_in(key, self.second(key)),
            found => found,
        }
    }

    #[inline]
    fn get_in(&self, key: Key, line: u32) -> Option<&[u32]> {
        let (ids, count) = self.lines().find(simd::Plain, key, line);
        match count {
            0 => None,
            1..=FEW => Some(&ids[..count]),
            _ => self.ring.get(place(ids), count),
        }
    }

    /// Keeps the ids of a key.
    pub(super) fn insert(&mut self, key: Key, ids: &[u32]) {
        if key == Key::NONE || ids.is_empty() {
            return;
        }
        let mut entry = [0; FEW];
        if ids.len() <= FEW {
            entry[..ids.len()].copy_from_slice(ids);
        } else {
            let place = self.ring.push(ids);
            entry[0] = place as u32;
            entry[1] = (place >> 32) as u32;
        }
        let (line, way) = self.room(key);
        let line = &mut self.lines[line as usize];
        line.keys[way] = [key.low, key.high | (ids.len() as u64) << COUNT];
        line.ids[way] = entry;
    }

    /// Where to put a key: where it is, if the ring has lost its ids; where there is room; or the second entry of its
    /// first line.
    fn room(&self, key: Key) -> (u32, usize) {
        let home = self.home(key);
        if let Some(way) = self.way_in(key, home) {
            return (home, way);
        }
        let second = self.second(key);
        self.way_in(key, second).map_or((home, 1), |way| (second, way))
    }

    /// The entry of a line that has the key, or none.
    fn way_in(&self, key: Key, line: u32) -> Option<usize> {
        let line = &self.lines[line as usize];
        let same = |&way: &usize| line.keys[way][0] == key.low && line.keys[way][1] & KEY == key.high;
        (0..2).find(same).or_else(|| (0..2).find(|&way| line.count(way) == 0))
    }

    /// Like [`Cache::insert`], if there is room.
    pub(super) fn seed(&mut self, key: Key, ids: &[u32]) {
        let (line, way) = self.room(key);
        if self.lines[line as usize].count(way) == 0 {
            self.insert(key, ids);
        }
    }
}

/// Where in the ring the ids of an entry are.
#[inline]
fn place(ids: &[u32; FEW]) -> u64 {
    u64::from(ids[1]) << 32 | u64::from(ids[0])
}

/// The lines of a cache, held near by a loop.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a> {
    lines: &'a [Line],
    shift: u32,
    ring: &'a Ring,
}

impl<'a> Lines<'a> {
    /// Which line a key belongs to; the line is asked for, ahead of [`Lines::find`].
    #[inline(always)]
    pub(super) fn ask(self, key: Key) -> u32 {
        let line = (key.hash() >> self.shift) as u32;
        simd::prefetch(self.lines, line as usize);
        line
    }

    /// The entry of a key in a line, and how many ids it has: 0 if it is not there; where there are more than [`FEW`],
    /// [`Lines::many`] has them.
    #[inline(always)]
    pub(super) fn find(self, leaf: impl Leaf, key: Key, line: u32) -> (&'a [u32; FEW], usize) {
        let line = &self.lines[line as usize];
        match leaf.which(&line.keys, [key.low, key.high], [u64::MAX, KEY]) {
            // One case for both: a branch on which of them it is would be guessed wrong too often.
            way @ 0..2 => (&line.ids[way], line.count(way)),
            _ => (&line.ids[0], 0),
        }
    }

    /// The ids of an entry of more than [`FEW`], if they are still there.
    #[inline]
    pub(super) fn many(self, entry: &[u32; FEW], count: usize) -> Option<&'a [u32]> {
        self.ring.get(place(entry), count)
    }
}

/// Pretokens up to this long are kept whole.
pub(super) const LONG_BYTES: usize = 48;
/// The same, in words.
const WORDS: usize = LONG_BYTES / 4;
/// Up to this many ids.
const MANY: usize = 18;
/// log2 of the number of entries of the second table: 4 MB.
const LONG_BITS: u32 = 15;

/// How long a pretoken is and how many ids it has, in one word; its bytes, zero-filled; its ids.
type Entry = [u32; 1 + WORDS + MANY + 1];

/// Pretokens of more bytes, or more ids, than [`Cache`] takes. One entry a line; made when first needed, of zeros that
/// the system gives out when they are written to: many texts need few.
#[derive(Clone, Default)]
pub(super) struct LongCache(Vec<Entry>);

impl LongCache {
    /// The ids of a pretoken, if they are here.
    #[inline]
    pub(super) fn find(&self, pretoken: &[u8]) -> Option<&[u32]> {
        let entry = self.0.get(slot(pretoken))?;
        let (bytes, ids) = entry[1..].split_at(WORDS);
        let same = entry[0] as usize & 0xffff == pretoken.len() && bytes == words(pretoken);
        same.then(|| &ids[..(entry[0] >> 16) as usize])
    }

    /// Keeps the ids of a pretoken, if it fits, in place of what was there.
    pub(super) fn insert(&mut self, pretoken: &[u8], ids: &[u32]) {
        if pretoken.len() > LONG_BYTES || ids.len() > MANY {
            return;
        }
        if self.0.is_empty() {
            self.0 = vec![[0; size_of::<Entry>() / 4]; 1 << LONG_BITS];
        }
        let entry = &mut self.0[slot(pretoken)];
        entry[0] = pretoken.len() as u32 | (ids.len() as u32) << 16;
        entry[1..=WORDS].copy_from_slice(&words(pretoken));
        entry[1 + WORDS..][..ids.len()].copy_from_slice(ids);
    }
}

/// The bytes of a pretoken of up to [`LONG_BYTES`], zero-filled.
#[inline]
fn words(pretoken: &[u8]) -> [u32; WORDS] {
    let mut bytes = [0; LONG_BYTES];
    bytes[..pretoken.len()].copy_from_slice(pretoken);
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// The slot of a pretoken, from its first [`LONG_BYTES`] bytes.
#[inline]
fn slot(pretoken: &[u8]) -> usize {
    let mut hash = pretoken.len() as u64 ^ 0x9E37_79B9_7F4A_7C15;
    let mut mix = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = fold(hash ^ u64::from_le_bytes(word), 0xD6E8_FEB8_6659_FD93);
    };
    let (chunks, rest) = pretoken[..pretoken.len().min(LONG_BYTES)].as_chunks::<8>();
    for chunk in chunks {
        mix(chunk);
    }
    mix(rest);
    (hash >> (64 - LONG_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::key::KEY_BYTES;

    fn key(text: &str) -> Key {
        Key::new(text.as_bytes(), 0, text.len())
    }

    fn found(cache: &Cache, key: Key) -> Vec<u32> {
        cache.get(key).map_or_else(Vec::new, <[u32]>::to_vec)
    }

    #[test]
    fn what_was_kept_is_found_and_nothing_else() {
        let mut cache = Cache::with_bits(4);
        assert!(found(&cache, Key::NONE).is_empty());
        assert!(found(&cache, key("a")).is_empty());
        cache.insert(key("a"), &[1]);
        cache.insert(key("b"), &[1, 2, 3, 4]);
        cache.insert(key("cc"), &[1, 2, 3, 4, 5]);
        cache.insert(Key::NONE, &[1]);
        assert_eq!(found(&cache, key("a")), [1]);
        assert_eq!(found(&cache, key("b")), [1, 2, 3, 4]);
        assert_eq!(found(&cache, key("cc")), [1, 2, 3, 4, 5]);
        assert!(found(&cache, key("c")).is_empty());
        assert!(found(&cache, Key::NONE).is_empty());
    }

    #[test]
    fn a_full_cache_takes_what_comes_and_gives_up_as_much() {
        let mut cache = Cache::with_bits(1);
        let keys: Vec<Key> = (0..40).map(|i| key(&format!("k{i}"))).collect();
        for (id, &key) in (0..).zip(&keys) {
            cache.seed(key, &[id]);
        }
        let kept = |cache: &Cache| (0..).zip(&keys).filter(|&(id, &key)| found(cache, key) == [id]).count();
        assert_eq!(kept(&cache), 4, "there is room for no more");
        for (id, &key) in (0..).zip(&keys) {
            if found(&cache, key).is_empty() {
                cache.insert(key, &[id]);
            }
            assert_eq!(found(&cache, key), [id]);
            assert_eq!(kept(&cache), 4);
        }
    }

    #[test]
    fn what_the_ring_has_lost_is_kept_anew_in_its_place() {
        let mut cache = Cache::with_bits(4);
        let many: Vec<u32> = (0..15).collect();
        cache.insert(key("lost"), &many);
        for _ in 0..80_000 {
            cache.ring.push(&many);
        }
        assert!(found(&cache, key("lost")).is_empty());
        cache.insert(key("lost"), &many[1..]);
        assert_eq!(found(&cache, key("lost")), many[1..]);
    }

    #[test]
    fn a_cache_to_add_to_has_the_seeds() {
        let mut seeds = Cache::with_bits(5);
        let keys: Vec<Key> = (0..30).map(|i| key(&format!("k{i}"))).collect();
        for (id, &key) in (0..).zip(&keys) {
            seeds.seed(key, &[id, id + 1]);
        }
        let own = seeds.to_own(10);
        for (id, &key) in (0..).zip(&keys) {
            let there = found(&seeds, key);
            assert!(there.is_empty() || there == [id, id + 1]);
            assert_eq!(found(&own, key), there);
        }
    }

    #[test]
    fn long_pretokens_are_compared_whole() {
        let mut cache = LongCache::default();
        let pretoken: Vec<u8> = (0..LONG_BYTES as u8).collect();
        assert!(cache.find(&pretoken).is_none());
        cache.insert(&pretoken, &[7; MANY]);
        assert_eq!(cache.find(&pretoken), Some(&[7; MANY][..]));
        assert!(cache.find(&pretoken[..LONG_BYTES - 1]).is_none());
        cache.insert(&[1; LONG_BYTES + 1], &[1]);
        assert!(cache.find(&[1; LONG_BYTES + 1]).is_none());
        cache.insert(&[2; KEY_BYTES], &[1; MANY + 1]);
        assert!(cache.find(&[2; KEY_BYTES]).is_none());
    }
}
