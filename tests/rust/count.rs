//! Counting against the plain definition.

use std::collections::HashMap;

use toksmith::count::{CountOptions, Counting, PretokenCounts};
use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use toksmith::special::Specials;
use toksmith::{Control, Error};

use crate::oracle;
use crate::random::Random;

fn pretokenizer() -> Pretokenizer {
    Pretokenizer { pattern: Pattern::Named(Named::Gpt2, Isa::best()), unmatched: Unmatched::Keep }
}

impl Random {
    /// Words of 1 to 40 letters out of so many, over and over.
    fn documents(&mut self, words: u64) -> Vec<Vec<u8>> {
        let word = |number: u64| -> Vec<u8> {
            let letter = |at: u64| b'a' + (number.wrapping_mul(at + 7) >> 3) as u8 % 26;
            (0..1 + number % 40).map(letter).chain([b' ']).collect()
        };
        (0..20).map(|_| (0..self.below64(3000)).flat_map(|_| word(self.below64(words))).collect()).collect()
    }
}

fn counted(documents: &[Vec<u8>], options: &CountOptions) -> PretokenCounts {
    let control = Control::none();
    let mut counting = Counting::new(Specials::default(), pretokenizer(), options.clone());
    let mut batches = documents.chunks(3).map(<[_]>::to_vec);
    counting.batches(|| Ok(batches.next()), &control).unwrap();
    counting.finish(&control).unwrap()
}

#[test]
fn counts_and_places_are_those_of_the_definition() {
    let mut random = Random::new(0x636F_756E_7473);
    for words in [10, 300, 20_000] {
        let documents = random.documents(words);
        let expected = oracle::count_pretokens(&documents, &pretokenizer());
        for table_limit in [None, Some(1), Some(1 << 20)] {
            for workers in [1, 2, 8] {
                let found =
                    counted(&documents, &CountOptions { table_limit, workers, ..CountOptions::default() });
                let found: Vec<_> =
                    found.iter().map(|(word, count, first)| (word.to_vec(), count, first)).collect();
                assert!(found == expected, "{words} words, {table_limit:?}, {workers} workers");
            }
        }
    }
}

/// A worker's own table; that of a worker that knows of no size grows at eight megabytes.
#[test]
fn a_table_that_grows_loses_nothing() {
    let mut random = Random::new(5);
    let mut text: Vec<u8> = Vec::new();
    while text.len() < 10 << 20 {
        // Some words are frequent, and some are long.
        let bits = 4 + random.below64(14);
        let word = random.below64(1 << bits);
        let letters: Vec<u8> = format!("{word:x}").bytes().map(|digit| b'a' + digit % 26).collect();
        text.push(b' ');
        text.extend(letters.repeat(if word.is_multiple_of(7) { 6 } else { 1 }));
    }
    let mut expected: HashMap<&[u8], (u64, u64)> = HashMap::new();
    let spaces = (1..text.len()).filter(|&at| text[at] == b' ').chain([text.len()]);
    let mut start = 0;
    for end in spaces {
        expected.entry(&text[start..end]).or_insert((0, start as u64)).0 += 1;
        start = end;
    }
    let options = CountOptions { workers: 1, ..CountOptions::default() };
    let found = counted(&[text.clone()], &options);
    assert_eq!(found.iter().count(), expected.len());
    for (word, count, first) in found.iter() {
        assert_eq!(expected.get(word), Some(&(count, first)), "{}", String::from_utf8_lossy(word));
    }
}

#[test]
fn a_result_beyond_the_limit_is_refused_with_what_would_fit() {
    let documents = Random::new(3).documents(20_000);
    let control = Control::none();
    let finished = |memory_limit: u64| {
        let options = CountOptions { memory_limit: Some(memory_limit), ..CountOptions::default() };
        let mut counting = Counting::new(Specials::default(), pretokenizer(), options);
        for document in &documents {
            counting.document(document, &control).unwrap();
        }
        counting.finish(&control)
    };
    let Err(Error::TooManyUnique { unique, needed, limit: 1, offer: _ }) = finished(1) else {
        panic!("it does not fit into a byte")
    };
    let all = finished(2 * needed + 64).unwrap();
    assert_eq!(all.len() as u64, unique);
    let Err(Error::TooManyUnique { offer: Some((least, left)), .. }) = finished(needed) else {
        panic!("half of the limit is for the result")
    };
    assert_eq!(all.iter().filter(|&(_, count, _)| count >= least).count() as u64, left);
}

/// Sections of the temporary file that are more than can be merged at once.
#[test]
fn many_small_spills() {
    let mut random = Random::new(5);
    let documents: Vec<_> = (0..12).flat_map(|_| random.documents(60_000)).collect();
    let whole = counted(&documents, &CountOptions { workers: 1, ..CountOptions::default() });
    let options = CountOptions { table_limit: Some(1), workers: 1, ..CountOptions::default() };
    let mut counting = Counting::new(Specials::default(), pretokenizer(), options);
    for document in &documents {
        counting.document(document, &Control::none()).unwrap();
    }
    assert!(counting.spilled_bytes() > 1 << 24);
    let spilled = counting.finish(&Control::none()).unwrap();
    assert!(spilled.iter().eq(whole.iter()));
}

#[test]
fn looking_up_and_adding() {
    let mut random = Random::new(9);
    let documents = random.documents(500);
    let (one, other) = documents.split_at(9);
    let options = CountOptions::default();
    let whole = counted(&documents, &options);
    let sum = counted(one, &options).plus(&counted(other, &options), &Control::none()).unwrap();
    assert!(sum.iter().eq(whole.iter()));
    let counts: HashMap<&[u8], u64> = whole.in_order().into_iter().collect();
    assert_eq!(counts.len(), whole.len());
    for (word, count) in counts {
        assert_eq!(whole.get(word, &Control::none()).unwrap(), count);
        assert_eq!(whole.get(&[word, b"-"].concat(), &Control::none()).unwrap(), 0);
    }
}
