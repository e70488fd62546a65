//! The pretoken cache: short pretokens → their few ids.
//!
//! Two tables of a size that is set once, so that memory is bounded and nothing is ever moved or wiped. What is in
//! them never shows in a result. A line of a cache is two entries; the first stays, the second gives way: so the
//! vocabulary, which is there from the start, and the words that came first outlive the rare ones.

use super::key::{Key, fold};
use crate::simd;

/// Pretokens of up to this many ids are kept beside a key (98% of all have at most two).
pub(super) const FEW: usize = 4;
/// Where the number of ids is in an entry's `high`, beside the key's length.
const COUNT: u32 = 60;
const KEY: u64 = (1 << COUNT) - 1;

/// Two entries, one cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line {
    low: [u64; 2],
    /// The key's upper half, and the number of ids on top of it: 0 for no entry.
    high: [u64; 2],
    ids: [[u32; FEW]; 2],
}

/// Pretokens of up to [`KEY_BYTES`] bytes.
#[derive(Clone, Default)]
pub(super) struct Cache {
    lines: Vec<Line>,
    shift: u32,
}

/// log2 of the number of lines, at least and at most: 64 KB to 8 MB.
const BITS: std::ops::RangeInclusive<u32> = 10..=17;

impl Cache {
    /// An empty one that suits a vocabulary of so many tokens.
    pub(super) fn for_tokens(count: usize) -> Self {
        let bits = count.next_power_of_two().trailing_zeros();
        Self::with_bits(bits.clamp(*BITS.start(), *BITS.end()))
    }

    /// An empty one of `1 << bits` lines.
    pub(super) fn with_bits(bits: u32) -> Self {
        Cache { lines: vec![Line::default(); 1 << bits], shift: 64 - bits }
    }

    /// Which line a key belongs to.
    #[inline(always)]
    pub(super) fn line_of(&self, key: Key) -> u32 {
        (key.hash() >> self.shift) as u32
    }

    /// Asks for a line ahead of [`Cache::find`].
    #[inline(always)]
    pub(super) fn prefetch(&self, line: u32) {
        simd::prefetch(&self.lines, line as usize);
    }

    /// The ids of a key of this line, and how many of them there are; 0 if it is not there.
    #[inline(always)]
    pub(super) fn find(&self, key: Key, line: u32) -> (&[u32; FEW], usize) {
        let line = &self.lines[line as usize];
        let differs = |way: usize| (line.low[way] ^ key.low) | ((line.high[way] & KEY) ^ key.high);
        // Both ways are looked at: a branch would be guessed wrong too often.
        let way = usize::from(differs(0) != 0);
        let count = if differs(way) == 0 { (line.high[way] >> COUNT) as usize } else { 0 };
        (&line.ids[way], count)
    }

    /// Keeps the ids of a key, if they are few enough, in place of the line's second entry.
    pub(super) fn insert(&mut self, key: Key, ids: &[u32]) {
        self.insert_if(key, ids, |_| true);
    }

    /// Keeps the ids of a key if there is room for it. A key comes once.
    pub(super) fn seed(&mut self, key: Key, ids: &[u32]) {
        self.insert_if(key, ids, |line| line.high[1] == 0);
    }

    fn insert_if(&mut self, key: Key, ids: &[u32], may: impl Fn(&Line) -> bool) {
        let at = self.line_of(key) as usize;
        let line = &mut self.lines[at];
        if key == Key::NONE || ids.len() > FEW || !may(line) {
            return;
        }
        let way = usize::from(line.high[0] != 0);
        line.low[way] = key.low;
        line.high[way] = key.high | (ids.len() as u64) << COUNT;
        line.ids[way][..ids.len()].copy_from_slice(ids);
    }
}

/// Pretokens up to this long are kept whole.
pub(super) const LONG_BYTES: usize = 48;
/// Up to this many ids.
const MANY: usize = 18;
/// log2 of the number of entries of the second table: 1 MB.
const LONG_BITS: u32 = 13;

#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct Entry {
    bytes: [u8; LONG_BYTES],
    len: u8,
    count: u8,
    ids: [u32; MANY],
}

/// Pretokens of more bytes, or more ids, than [`Cache`] takes. One entry a line; made when first needed.
#[derive(Clone, Default)]
pub(super) struct LongCache(Vec<Entry>);

impl LongCache {
    /// The ids of a pretoken, if they are here.
    #[inline]
    pub(super) fn find(&self, pretoken: &[u8]) -> Option<&[u32]> {
        let entry = self.0.get(slot(pretoken))?;
        let same = usize::from(entry.len) == pretoken.len() && &entry.bytes[..pretoken.len()] == pretoken;
        same.then(|| &entry.ids[..usize::from(entry.count)])
    }

    /// Keeps the ids of a pretoken, if it fits, in place of what was there.
    pub(super) fn insert(&mut self, pretoken: &[u8], ids: &[u32]) {
        if pretoken.len() > LONG_BYTES || ids.len() > MANY {
            return;
        }
        if self.0.is_empty() {
            let none = Entry { bytes: [0; LONG_BYTES], len: 0, count: 0, ids: [0; MANY] };
            self.0.resize(1 << LONG_BITS, none);
        }
        let entry = &mut self.0[slot(pretoken)];
        entry.bytes[..pretoken.len()].copy_from_slice(pretoken);
        entry.ids[..ids.len()].copy_from_slice(ids);
        entry.len = pretoken.len() as u8;
        entry.count = ids.len() as u8;
    }
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
    use super::super::key::KEY_BYTES;
    use super::*;

    fn key(text: &str) -> Key {
        Key::new(text.as_bytes(), 0, text.len())
    }

    fn found(cache: &Cache, key: Key) -> Vec<u32> {
        let (ids, count) = cache.find(key, cache.line_of(key));
        ids[..count].to_vec()
    }

    #[test]
    fn what_was_kept_is_found_and_nothing_else() {
        let mut cache = Cache::with_bits(4);
        assert_eq!(found(&cache, Key::NONE), []);
        assert_eq!(found(&cache, key("a")), []);
        cache.insert(key("a"), &[1]);
        cache.insert(key("b"), &[1, 2, 3, 4]);
        cache.insert(key("c"), &[1, 2, 3, 4, 5]);
        cache.insert(Key::NONE, &[1]);
        assert_eq!(found(&cache, key("a")), [1]);
        assert_eq!(found(&cache, key("b")), [1, 2, 3, 4]);
        assert_eq!(found(&cache, key("c")), []);
        assert_eq!(found(&cache, Key::NONE), []);
    }

    #[test]
    fn keys_that_share_a_line_displace_the_second_entry_alone() {
        let mut cache = Cache::with_bits(1);
        let keys: Vec<Key> = (0..40).map(|i| key(&format!("k{i}"))).collect();
        let shared: Vec<Key> = keys.into_iter().filter(|key| cache.line_of(*key) == 0).collect();
        for (id, &key) in (0..).zip(&shared) {
            cache.seed(key, &[id]);
        }
        assert_eq!(found(&cache, shared[1]), [1], "a third seed has no room");
        for (id, &key) in (0..).zip(&shared).skip(2) {
            cache.insert(key, &[id]);
            assert_eq!([found(&cache, shared[0]), found(&cache, key)], [[0], [id]]);
            assert_eq!(found(&cache, shared[1]), []);
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
