use super::long_key::{MAX_RECORDED_BYTES, long_key};
use super::*;
use crate::pretokenize::key::KEY_BYTES;

fn key(text: &str) -> Key {
    let bytes = text.as_bytes();
    if bytes.len() > KEY_BYTES { long_key(bytes) } else { Key::new(bytes, 0, bytes.len()) }
}

/// The gap that a text is in a run.
fn gap<'a>(cache: &Cache, text: &'a str) -> Gap<'a> {
    let (key, bucket_index) = (key(text), cache.bucket_index(key(text)) as u32);
    let (_, slot) = cache.buckets().find(Portable, key, bucket_index);
    let mut hint = Hint::Nowhere;
    cache.hint_and_prefetch(key, bucket_index, slot, &mut hint);
    Gap { text: text.as_bytes(), start: 0, end: text.len(), key, bucket_index, hint }
}

fn ids_of(cache: &Cache, text: &str) -> Vec<u32> {
    let (key, bucket_index) = (key(text), cache.bucket_index(key(text)) as u32);
    let (bucket, slot) = cache.buckets().find(Portable, key, bucket_index);
    let mut room = [0; MAX_INLINE_IDS + 1];
    if let Some(slot) = slot.filter(|&slot| !bucket.has_many(slot)) {
        return bucket.inline_ids(slot, cache.id_width, &mut room).to_vec();
    }
    cache.get(&gap(cache, text), &mut room).map_or_else(Vec::new, |ids| ids.ids().to_vec())
}

fn add(cache: &mut Cache, text: &str, ids: &[u32]) {
    let miss = gap(cache, text);
    cache.add(&miss, ids);
}

#[test]
fn what_was_kept_is_found_and_nothing_else() {
    let widths = [(IdWidth::U16, 0xffff), (IdWidth::U32, u32::MAX)];
    for (isa, (id_width, highest)) in Isa::available().flat_map(|isa| widths.map(|width| (isa, width))) {
        let mut cache = Cache::with_bits(isa, id_width, 4);
        let long = "a pretoken of more than fifteen bytes";
        assert!(ids_of(&cache, "a").is_empty());
        assert!(ids_of(&cache, long).is_empty());
        let all = [("a", 1), ("b", 4), ("cc", 5), ("d", 7), ("e", 8), (long, 9)];
        let ids = |count: u32| (0..count).map(|id| highest - id).collect::<Vec<u32>>();
        for (text, count) in all {
            add(&mut cache, text, &ids(count));
        }
        for (text, count) in all {
            assert_eq!(ids_of(&cache, text), ids(count));
        }
        assert!(ids_of(&cache, "c").is_empty());
        assert!(ids_of(&cache, &long[1..]).is_empty());
        let far = "x".repeat(MAX_RECORDED_BYTES + 1);
        add(&mut cache, &far, &[1]);
        assert!(ids_of(&cache, &far).is_empty());
        add(&mut cache, &far[1..], &[1, 2]);
        assert_eq!(ids_of(&cache, &far[1..]), [1, 2]);
    }
}

#[test]
fn ids_of_16_bits_are_enough_up_to_the_highest_of_them() {
    let highest = [None, Some(0xffff), Some(0x1_0000)];
    assert_eq!(highest.map(IdWidth::of), [IdWidth::U16, IdWidth::U16, IdWidth::U32]);
}

#[test]
fn what_is_displaced_is_found_among_the_records() {
    let mut cache = Cache::with_bits(Isa::best(), IdWidth::U32, 1);
    let words: Vec<String> = (0..300).map(|i| format!("k{i}")).collect();
    for (id, word) in (0..).zip(&words) {
        add(&mut cache, word, &[id]);
        assert_eq!(ids_of(&cache, word), [id]);
        // The second time a word without a slot gets one, and displaces another word.
        let Gap { key, bucket_index, .. } = gap(&cache, word);
        cache.promote(key, bucket_index, &[id]);
        assert_eq!(ids_of(&cache, word), [id]);
    }
    let kept = (0..).zip(&words).filter(|&(id, word)| ids_of(&cache, word) == [id]).count();
    assert!(kept >= 100, "{kept}");
    for (id, word) in (0..).zip(&words) {
        let ids = ids_of(&cache, word);
        assert!(ids.is_empty() || ids == [id]);
    }
}

#[test]
fn what_the_records_have_lost_is_kept_anew_in_its_place() {
    let mut cache = Cache::with_bits(Isa::best(), IdWidth::U32, 4);
    let ids_in_record: Vec<u32> = (0..15).collect();
    add(&mut cache, "lost", &ids_in_record);
    for round in 0..1000 {
        add(&mut cache, &format!("something else {round}"), &ids_in_record);
    }
    assert!(ids_of(&cache, "lost").is_empty());
    add(&mut cache, "lost", &ids_in_record[1..]);
    assert_eq!(ids_of(&cache, "lost"), ids_in_record[1..]);
}

#[test]
fn a_cache_to_add_to_has_the_seeds() {
    let mut seeds = Cache::with_bits(Isa::best(), IdWidth::U32, 5);
    let words: Vec<String> = (0..30).map(|i| format!("k{i}")).collect();
    for (id, word) in (0..).zip(&words) {
        add(&mut seeds, word, &[id, id + 1]);
    }
    // Their ids are in the ring, whose places mean something else in another cache.
    let many: Vec<String> = (0..12).map(|i| format!("many{i}")).collect();
    for (id, word) in (0..).zip(&many) {
        add(&mut seeds, word, &[id; 10]);
    }
    for (bits, is_ahead) in [(5, false), (6, false), (10, false), (5, true), (10, true), (17, true)] {
        let mut own = match is_ahead {
            true => Cache::unmapped(Isa::best(), IdWidth::U32, bits).unwrap(),
            false => seeds.to_own(bits).unwrap(),
        };
        own.map();
        let mut parts = 0..;
        while is_ahead && !seeds.fill_part(&mut own, parts.next().unwrap()) {}
        for (id, word) in (0..).zip(&many) {
            add(&mut own, &format!("{word} of its own"), &[100 + id; 10]);
            let there = ids_of(&own, word);
            assert!(there.is_empty() || there == [id; 10]);
        }
        for (id, word) in (0..).zip(&words) {
            let there = ids_of(&own, word);
            assert!(there.is_empty() || there == [id, id + 1]);
        }
        assert!(words.iter().filter(|word| !ids_of(&own, word).is_empty()).count() > 20);
    }
}

#[test]
fn a_pretoken_without_a_slot_is_kept_the_first_time_and_a_large_one_the_second() {
    let mut cache = Cache::with_bits(Isa::best(), IdWidth::U32, 4);
    let (short, long) = ("x".repeat(MAX_BYTES_AT_ONCE), "x".repeat(MAX_BYTES_AT_ONCE + 1));
    let mut should_cache = |text: &str, in_fragments| {
        let miss = gap(&cache, text);
        cache.should_cache(&miss, in_fragments)
    };
    assert!(should_cache(&short, false));
    assert!(!should_cache(&short, true));
    assert!(should_cache(&short, true));
    assert!(!should_cache(&long, false));
    assert!(should_cache(&long, false));
    assert!(should_cache("free", true), "its bucket has a free slot");
}
