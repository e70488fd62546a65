//! The pretoken cache: short pretokens → their few ids.
//!
//! A table of a size that is set once, so that memory is bounded and nothing is ever moved or wiped. What is in it
//! never shows in a result. A key belongs to a line of two entries; when both are taken, the second gives way to what
//! is new, and goes to the records, where all that has no room here is found. So the vocabulary, which is there from
//! the start, and the words that came first stay in the first entries, which are looked at first.

use super::line::{Line, MOST, Packing, RECORDED};
use super::lookup::Missed;
use super::output::Among;
use super::records::{Records, is_long, long_key, long_len, words_before};
use crate::memory::Table;
use crate::pretokenize::key::{HashOf, KEY_BYTES, Key, Length};
use crate::room;
use crate::simd::{self, Isa, Leaf, Plain};

/// Pretokens and their ids.
pub(super) struct Cache {
    lines: Table<Line>,
    shift: u32,
    packing: Packing,
    /// Of the code that looks: hashes are its own.
    isa: Isa,
    records: Records,
}

/// log2 of the number of lines of a cache that is added to: 16 MB. A text of 15 MB has 70,000 to 230,000 pretokens that
/// are no tokens; with half the lines, 7% of the pretokens of a text of many languages are not in their line, 1% of those
/// of English.
pub(super) const BITS: u32 = 18;
/// Words of records for each line, as a power of two: 32 MB beside 16.
const WORDS_A_LINE: u32 = 5;
/// The same where there are only seeds, a fifth of which have no room in their lines if they are 200,000.
const WORDS_A_SEED: u32 = 4;
/// The most for a cache of seeds.
const SEED_BITS: u32 = 17;
/// Ids from here on are no seeds of a thread's cache.
const SEEDS: u32 = 1 << 16;
/// A thread has a cache of its own only where the system would give so many times its memory.
const SPARE: usize = 4;
/// The least for a cache of seeds.
const LEAST: u32 = 6;

impl Cache {
    /// An empty one with room for so many seeds.
    pub(super) fn for_seeds(isa: Isa, packing: Packing, count: usize) -> Self {
        let bits = seed_bits(count);
        Self::with_records(isa, packing, bits, Records::with_bits(bits + WORDS_A_SEED))
    }

    /// An empty one of `1 << bits` lines.
    pub(super) fn with_bits(isa: Isa, packing: Packing, bits: u32) -> Self {
        Self::with_records(isa, packing, bits, Records::with_bits(bits + WORDS_A_LINE))
    }

    fn with_records(isa: Isa, packing: Packing, bits: u32, records: Records) -> Self {
        Cache { lines: Table::zeroed(1 << bits), shift: 64 - bits, packing, isa, records }
    }

    /// One of `1 << bits` lines to be added to, with the seeds of this one that it has room for, of the lowest ids.
    ///
    /// Those are the frequent ones. Most tokens of a large vocabulary never occur in a text, and the words that do need
    /// the room; the others are merged when they are met.
    ///
    /// `None` where there is no memory for it, and for much more: what a call returns needs it first.
    pub(super) fn to_own(&self, bits: u32) -> Option<Self> {
        let bytes = (size_of::<Line>() + (size_of::<u32>() << WORDS_A_LINE)) << bits;
        room::expect(SPARE * bytes).ok()?;
        let records = Records::with_bits(bits + WORDS_A_LINE);
        let lines = Table::try_zeroed(1 << bits).ok()?;
        let mut own = Cache { lines, shift: 64 - bits, packing: self.packing, isa: self.isa, records };
        for line in self.lines.iter() {
            for way in (0..2).filter(|&way| !line.is_empty(way) && !line.has_many(way)) {
                let mut room = [0; MOST + 1];
                let (key, ids) = (line.key(way), line.few(way, self.packing, &mut room));
                if ids[0] < SEEDS && own.lines[own.home(key)].is_empty(1) {
                    own.insert(key, &[], ids);
                }
            }
        }
        Some(own)
    }

    /// What the hot loop looks at.
    #[inline(always)]
    pub(super) fn lines(&self) -> Lines<'_> {
        Lines { lines: &self.lines, shift: self.shift }
    }

    #[inline(always)]
    pub(super) fn packing(&self) -> Packing {
        self.packing
    }

    /// Where the ids of a pretoken may be that is not among the few of its line, with that memory asked for. `key` is
    /// its key, `home` its line, and `way` its entry there, if it has one. Ahead of [`Cache::seek`] and [`Cache::get`].
    #[inline(never)] // out of the hot loop; and a result of 16 bytes would be read before it is all written
    pub(super) fn ask(&self, key: Key, home: u32, way: Option<usize>, hint: &mut Hint) {
        let line = &self.lines[home as usize];
        if let Some(way) = way {
            let (place, count) = line.record(way);
            self.records.ask_ids(start(place, key));
            *hint = Hint::Ids { place, count: count as u32 };
        } else if line.is_empty(1) && !is_long(key) || key == Key::NONE {
            // Where there is room, nothing was ever pushed out; but of what is long it is kept whether it was met.
            *hint = Hint::Nowhere;
        } else {
            let hash = key.hash();
            self.records.ask(hash);
            *hint = Hint::Record(hash);
        }
    }

    /// Asks for the next memory that they may be in.
    #[inline]
    pub(super) fn seek(&self, hint: Hint) {
        if let Hint::Record(hash) = hint {
            self.records.seek(hash);
        }
    }

    /// The ids of a pretoken, if they are here; few of them may be in `room`.
    #[inline]
    pub(super) fn get<'a>(&'a self, missed: &Missed<'_>, room: &'a mut [u32; MOST + 1]) -> Option<Among<'a>> {
        let Missed { key, home, hint, .. } = *missed;
        if let Hint::Ids { place, count } = hint {
            return self.many(missed, place, count as usize);
        }
        // It may have come a moment ago for the first time, after the hint was given.
        let line = &self.lines[home as usize];
        if let Some(way) = (0..2).find(|&way| line.is(Plain, way, key)) {
            let (place, count) = line.record(way);
            return if line.has_many(way) {
                self.many(missed, place, count)
            } else {
                Some(line.few(way, self.packing, room).into())
            };
        }
        match hint {
            Hint::Record(hash) => self.records.find(hash, missed.pretoken()),
            _ => None,
        }
    }

    /// The ids in a record, if they are not lost, and if they are those of this pretoken: the key of a long one does not
    /// tell.
    #[inline]
    fn many(&self, missed: &Missed<'_>, place: u64, count: usize) -> Option<Among<'_>> {
        if is_long(missed.key) {
            self.records.read(start(place, missed.key), missed.pretoken())
        } else {
            self.records.ids(place, count)
        }
    }

    /// Whether a pretoken that [`Cache::get`] does not find should be kept: one that another has to leave for, or that is
    /// long, only when it comes a second time. Most never do.
    #[inline]
    pub(super) fn wants(&mut self, hint: Hint) -> bool {
        match hint {
            Hint::Record(hash) => self.records.meets_again(hash),
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
            let Some(place) = self.records.write(pretoken, ids) else { return };
            let home = self.home(key);
            let way = self.room(home, key);
            self.lines[home].put_many(way, key, place, ids.len());
        }
    }

    /// Puts a key with few ids, which has no entry, into its line; `recorded` is [`RECORDED`] if it has a record.
    fn put(&mut self, key: Key, ids: &[u32], recorded: u64) {
        let home = self.home(key);
        let way = self.room(home, key);
        self.lines[home].put(way, key, ids, self.packing, recorded);
    }

    /// Which entry of its line a key goes to; what has to leave for it can be found among the records from now on.
    fn room(&mut self, home: usize, key: Key) -> usize {
        let line = &self.lines[home];
        if let Some(way) = line.way_for(key) {
            return way;
        }
        let (key, mut bytes) = (line.key(1), [0; 16]);
        if line.has_many(1) {
            let (place, count) = line.record(1);
            if self.records.ids(place, count).is_some() {
                self.records.list(key.hash(), start(place, key));
            }
        } else if !line.is_recorded(1) {
            let mut room = [0; MOST + 1];
            let ids = line.few(1, self.packing, &mut room);
            self.records.push(key.hash(), key.bytes(&mut bytes), ids);
        }
        1
    }

    /// Whether so many ids have room beside a key.
    #[inline]
    pub(super) fn has_room(&self, key: Key, ids: usize) -> bool {
        ids <= self.packing.few() && !is_long(key)
    }

    /// Gives a key whose few ids were found in its record an entry of its line, if it has none.
    pub(super) fn promote(&mut self, key: Key, home: u32, ids: &[u32]) {
        if (0..2).all(|way| !self.lines[home as usize].is(Plain, way, key)) {
            self.put(key, ids, RECORDED);
        }
    }

    /// Asks for the line of a key, ahead of [`Cache::seed`].
    pub(super) fn ask_line(&self, key: Key) {
        simd::prefetch(&self.lines, self.home(key));
    }

    /// Like [`Cache::insert`], but pushes out nothing: what has no room in its line has a record.
    pub(super) fn seed(&mut self, key: Key, pretoken: &[u8], ids: &[u32]) {
        if self.lines[self.home(key)].is_empty(1) {
            self.insert(key, pretoken, ids);
        } else {
            self.records.push(key.hash(), pretoken, ids);
        }
    }

    /// The line of a key.
    #[inline]
    pub(super) fn home(&self, key: Key) -> usize {
        (self.isa.run(HashOf(key)) >> self.shift) as usize
    }
}

/// Bytes of a cache of so many seeds, about.
pub(super) fn memory_of_seeds(count: usize) -> usize {
    let lines = 1_usize << seed_bits(count);
    lines * size_of::<Line>() + (lines << WORDS_A_SEED) * size_of::<u32>() * 2 + (4 << 20)
}

/// log2 of the lines for so many seeds.
fn seed_bits(count: usize) -> u32 {
    count.next_power_of_two().trailing_zeros().clamp(LEAST, SEED_BITS)
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
pub(super) struct Lines<'a> {
    lines: &'a [Line],
    shift: u32,
}

impl<'a> Lines<'a> {
    /// The key of `text[start..end]` and which line it belongs to; the line is asked for, ahead of [`Lines::find`].
    #[inline(always)]
    pub(super) fn ask(
        self,
        leaf: impl Leaf,
        text: &[u8],
        start: usize,
        end: usize,
        len: Length,
    ) -> (Key, u32) {
        let (mut key, mut hash) = Key::hashed(leaf, text, start, len);
        if len.is_long() {
            key = long_key(&text[start..end]);
            hash = key.hash_by(leaf);
        }
        let line = (hash >> self.shift) as usize;
        simd::prefetch(self.lines, line);
        (key, line as u32)
    }

    /// A line, and which of its entries is that of a key.
    #[inline(always)]
    pub(super) fn find(self, leaf: impl Leaf, key: Key, line: u32) -> (&'a Line, Option<usize>) {
        let line = &self.lines[line as usize];
        // A branch: nine of ten are in the first entry. To choose without one took half as long again.
        let way = if line.is(leaf, 0, key) {
            Some(0)
        } else if line.is(leaf, 1, key) {
            Some(1)
        } else {
            None
        };
        (line, way)
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::LONGEST;
    use super::*;

    fn key(text: &str) -> Key {
        key_of(text.as_bytes())
    }

    fn found(cache: &Cache, text: &str) -> Vec<u32> {
        let (key, home) = (key(text), cache.home(key(text)) as u32);
        let (line, way) = cache.lines().find(Plain, key, home);
        let mut room = [0; MOST + 1];
        if let Some(way) = way.filter(|&way| !line.has_many(way)) {
            return line.few(way, cache.packing, &mut room).to_vec();
        }
        let mut hint = Hint::Nowhere;
        cache.ask(key, home, way, &mut hint);
        let missed = Missed { text: text.as_bytes(), start: 0, end: text.len(), key, home, hint };
        cache.get(&missed, &mut room).map_or_else(Vec::new, |ids| ids.ids().to_vec())
    }

    fn insert(cache: &mut Cache, text: &str, ids: &[u32]) {
        cache.insert(key(text), text.as_bytes(), ids);
    }

    #[test]
    fn what_was_kept_is_found_and_nothing_else() {
        for (isa, packing) in Isa::available().flat_map(|isa| [(isa, Packing::Narrow), (isa, Packing::Wide)])
        {
            let mut cache = Cache::with_bits(isa, packing, 4);
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
            let far = "x".repeat(LONGEST + 1);
            insert(&mut cache, &far, &[1]);
            assert!(found(&cache, &far).is_empty());
            insert(&mut cache, &far[1..], &[1, 2]);
            assert_eq!(found(&cache, &far[1..]), [1, 2]);
        }
    }

    #[test]
    fn what_is_pushed_out_is_found_among_the_records() {
        let mut cache = Cache::with_bits(Isa::best(), Packing::Wide, 1);
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
        let mut cache = Cache::with_bits(Isa::best(), Packing::Wide, 4);
        let many: Vec<u32> = (0..15).collect();
        insert(&mut cache, "lost", &many);
        for round in 0..1000 {
            insert(&mut cache, &format!("something else {round}"), &many);
        }
        assert!(found(&cache, "lost").is_empty());
        insert(&mut cache, "lost", &many[1..]);
        assert_eq!(found(&cache, "lost"), many[1..]);
    }

    #[test]
    fn a_cache_to_add_to_has_the_seeds() {
        let mut seeds = Cache::with_bits(Isa::best(), Packing::Wide, 5);
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
