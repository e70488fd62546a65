//! The merge loop against a recount from scratch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use toksmith::count::{CountOptions, Counting, PretokenCounts};
use toksmith::encode::Encoder;
use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use toksmith::special::Specials;
use toksmith::train::{
    Measure, Merge, Options, Saver, Start, Texts, Ties, build_vocab, learn, learn_from, resume,
};
use toksmith::vocab::Vocab;
use toksmith::{Control, Error};

use crate::oracle;
use crate::random::Random;

const ALL_TIES: [Ties; 7] = [
    Ties::Bytes,
    Ties::Ids,
    Ties::SmallestIds,
    Ties::First,
    Ties::HuggingFace,
    Ties::PrintableIds,
    Ties::Spelling,
];

const BASICS: Options = Options {
    ties: Ties::Bytes,
    max_merges: 10,
    min_frequency: 0,
    max_token_length: u32::MAX,
    memory_limit: None,
    max_words: None,
};

type Words = Vec<(Vec<u8>, u64)>;

fn train(words: &Words, options: &Options, control: &Control) -> toksmith::Result<Vec<Merge>> {
    let words = words.iter().map(|(word, count)| (word.as_slice(), *count));
    resume(words, &Start::default(), options, &mut Saver::none(), control)
}

/// Trains both ways and names the first merge that differs.
fn compare(words: &Words, options: &Options) {
    let found = train(words, options, &Control::none()).unwrap();
    let expected = oracle::learn_merges(words, options);
    let merges = found.len().max(expected.len());
    if let Some(i) = (0..merges).find(|&i| found.get(i) != expected.get(i)) {
        let (found, expected) = (found.get(i), expected.get(i));
        panic!("merge {i} is {found:?}, should be {expected:?}, with {options:?} on {words:?}");
    }
}

fn words(list: &[(&str, u64)]) -> Words {
    list.iter().map(|&(word, count)| (word.as_bytes().to_vec(), count)).collect()
}

impl Random {
    fn weight(&mut self, scale: u64) -> u64 {
        match scale {
            0 => 1,
            1 => self.below64(4),
            2 => 1 + self.below64(1000),
            // On both sides of what a cell can hold.
            3 => (1 << self.below64(26)) - 1 + self.below64(2),
            _ => (1 << 32) + self.below64(1 << 40),
        }
    }

    fn word(&mut self, letters: &[u8], length: u64) -> Vec<u8> {
        let mut word = Vec::new();
        for _ in 0..self.below64(length + 1) {
            let letter = letters[self.below64(letters.len() as u64) as usize];
            let run = if self.below64(4) == 0 { 1 + self.below64(6) } else { 1 };
            word.extend((0..run).map(|_| letter));
        }
        word
    }

    fn corpus(&mut self) -> Words {
        // Among them bytes whose rank differs from their value, and prefixes of others with a zero behind.
        let sets: [&[u8]; 9] =
            [b"a", b"ab", b"abc", b"abcd", b"\0a", b"\0\x01", b" a\xad", b"\n!\x7f\xa1", b" the"];
        let letters = sets[self.below64(sets.len() as u64) as usize];
        let length = [3, 8, 20][self.below64(3) as usize];
        let scale = self.below64(5);
        (0..1 + self.below64(12)).map(|_| (self.word(letters, length), self.weight(scale))).collect()
    }
}

#[test]
fn equals_a_recount_on_random_corpora() {
    let mut random = Random::new(0x7261_6E64_6F6D);
    for _ in 0..1500 {
        let corpus = random.corpus();
        let heaviest = corpus.iter().map(|&(_, count)| count).max().unwrap_or(0);
        let min_frequency = [0, 1, 2, 5, heaviest][random.below64(5) as usize];
        // The last needs cells of 32 bits.
        let max_merges = [1, 7, 300, 70_000][random.below64(4) as usize];
        let max_token_length = [u32::MAX, u32::MAX, 0, 1, 2, 3, 5, 9][random.below64(8) as usize];
        for ties in ALL_TIES {
            // A scan for each merge takes long.
            let memory_limit = (random.below64(40) == 0).then_some(0);
            let options =
                Options { ties, max_merges, min_frequency, max_token_length, memory_limit, ..BASICS };
            compare(&corpus, &options);
        }
    }
}

/// A second language with a higher ratio, whose words have no pair, is chosen first, and never again.
#[test]
fn balancing_one_language_is_ordinary_training() {
    let mut random = Random::new(0x6C61_6E67);
    for round in 0..400 {
        let mut corpus = random.corpus();
        corpus.sort();
        corpus.dedup_by(|next, word| next.0 == word.0);
        for ties in ALL_TIES {
            let max_token_length = [u32::MAX, 1, 3, 5][round % 4];
            let options = Options { ties, max_merges: 300, max_token_length, ..BASICS };
            let counts = |words: &[(&[u8], u64)]| {
                let items = words.iter().enumerate().map(|(at, &(word, count))| (word, count, at as u64));
                Arc::new(PretokenCounts::from_items(items, 0, &Control::none()).unwrap())
            };
            let words: Vec<(&[u8], u64)> = corpus.iter().map(|(word, count)| (&**word, *count)).collect();
            let texts = vec![counts(&words), counts(&[(b"a", 1)])];
            let languages = Texts::Languages { texts, measure: Measure::Ratio(vec![1.0, 1e9]), window: None };
            let (start, control) = (Start::default(), Control::none());
            let merges = learn(languages, &start, &options, &mut Saver::none(), &control).unwrap();
            assert_eq!(merges, train(&corpus, &options, &Control::none()).unwrap(), "{options:?} {corpus:?}");
        }
    }
}

/// Limits from none of the index to all of it; with 70,000 merges in cells of 32 bits, with counts beyond 32
/// bits, and from a checkpoint on.
#[test]
fn a_memory_limit_changes_no_merge() {
    let mut random = Random::new(0x6C69_6D69_7473);
    for round in 0..6 {
        let letters = [b"abcdefghijklmnopqrstuvwxyz_".as_slice(), b"0123456789abcdef", b"ab"][round % 3];
        let scale = if round < 3 { 1 } else { 1 << 28 };
        let mut words: Words =
            (0..1000).map(|_| (random.word(letters, 24), scale * (1 + random.below64(40)))).collect();
        words.sort();
        words.dedup_by(|next, word| next.0 == word.0);
        for ties in ALL_TIES {
            let max_merges = if round % 2 == 0 { 200 } else { 66_000 };
            let fast = Options { ties, max_merges, min_frequency: 8 * scale, ..BASICS };
            let expected = train(&words, &fast, &Control::none()).unwrap();
            let least = if round % 2 == 0 { 0 } else { 4_300_000 };
            for bytes in [[0, 1 << 17], [1 << 15, 1 << 20]][round / 2 % 2] {
                let memory_limit = Some(least + bytes);
                let limited = Options { memory_limit, ..fast };
                let merges = train(&words, &limited, &Control::none()).unwrap();
                assert_eq!(merges, expected, "{limited:?} in round {round}");
                let made = &expected[..random.below64(expected.len() as u64) as usize];
                let start = Start { made, ..Start::default() };
                let all = words.iter().enumerate().map(|(at, (word, count))| (&**word, *count, at as u64));
                let counts = PretokenCounts::from_items(all, 0, &Control::none()).unwrap();
                let resumed =
                    learn_from(counts, &start, &limited, &mut Saver::none(), &Control::none()).unwrap();
                assert_eq!(resumed, expected, "{limited:?} in round {round}, resumed at {}", made.len());
            }
        }
    }
}

/// Long words: tokens grow past the eight bytes that ties compare first, and occurrences overlap at length.
/// Counts a text of random words, on so many threads.
fn counted(text: &[u8], workers: usize) -> PretokenCounts {
    let pretokenizer =
        Pretokenizer { pattern: Pattern::Named(Named::Gpt2, Isa::best()), unmatched: Unmatched::Keep };
    let options = CountOptions { workers, ..CountOptions::default() };
    let mut counting = Counting::new(Specials::default(), pretokenizer, options);
    let mut batch = Some(vec![text]);
    counting.batches(|| Ok(batch.take()), &Control::none()).unwrap();
    counting.finish(&Control::none()).unwrap()
}

#[test]
fn counts_that_are_let_go_of_teach_the_same() {
    let mut random = Random::new(11);
    for round in 0..60 {
        let mut text = Vec::new();
        for _ in 0..40 + random.below64(4000) {
            // Some of more bytes than a slot has.
            text.extend(random.word(b"abcdef\xc3\xa9", if round % 3 == 0 { 3 } else { 12 }));
            text.push(b' ');
        }
        let text = String::from_utf8_lossy(&text).into_owned().into_bytes();
        for ties in ALL_TIES {
            let options = Options { ties, max_merges: 1 + random.below64(400) as usize, ..BASICS };
            let known = counted(&text, 1);
            let words: Words = known.words().map(|(word, count)| (word.to_vec(), count)).collect();
            let expected = train(&words, &options, &Control::none()).unwrap();
            let (start, control) = (Start::default(), Control::none());
            let counts = counted(&text, 1);
            assert_eq!(
                counts.frequencies()[0].bytes,
                words.iter().map(|(word, _)| word.len() as u64).sum::<u64>()
            );
            assert_eq!(counts.len(), words.len());
            let found = learn_from(counts, &start, &options, &mut Saver::none(), &control).unwrap();
            assert_eq!(found, expected, "{ties:?}");
            same_as_when_checked(&found, &text, random.below64(2) as u32);
        }
    }
}

/// The vocabulary of a training, which is not checked, is the one that is read from its state, which is.
fn same_as_when_checked(merges: &[Merge], text: &[u8], shift: u32) {
    let specials = [(b"<|end|>".to_vec(), Some(if shift > 0 { 0 } else { 256 + merges.len() as u32 }))];
    let built = build_vocab(None, merges, |token| token + shift, &specials).unwrap();
    let checked = Vocab::from_state(&built.state(), &specials).unwrap();
    assert_eq!(built.merges(), checked.merges());
    for (id, bytes) in checked.tokens().iter() {
        assert_eq!(built.ordinary_id(bytes), checked.ordinary_id(bytes));
        assert_eq!(built.token_bytes(id).unwrap(), bytes);
    }
    let pretokenizer =
        Pretokenizer { pattern: Pattern::Named(Named::Gpt2, Isa::best()), unmatched: Unmatched::Keep };
    let one = Encoder::of_training(built, pretokenizer.clone());
    let other = Encoder::new(checked, pretokenizer).unwrap();
    let ids = |encoder: &Encoder| encoder.encode_to_vec(text, true, &Control::none()).unwrap();
    assert_eq!(ids(&one), ids(&other));
}

#[test]
fn equals_a_recount_on_one_long_word() {
    let mut random = Random::new(0x6C6F_6E67);
    for letters in [b"a".as_slice(), b"ab", b"abc", b"abcd"] {
        for length in [30, 300] {
            for _ in 0..20 {
                let corpus = vec![(random.word(letters, length), 1 + random.below64(3))];
                for ties in ALL_TIES {
                    compare(&corpus, &Options { ties, max_merges: 100, ..BASICS });
                }
            }
        }
    }
}

/// Long enough for the postings of merged pairs to be cleared away on the way.
#[test]
fn equals_a_recount_on_a_large_word() {
    let mut random = Random::new(0x006C_6172_6765);
    let corpus = vec![(random.word(b"abcd", 200_000), 1)];
    for ties in [Ties::Bytes, Ties::First] {
        compare(&corpus, &Options { ties, max_merges: 40, ..BASICS });
    }
}

/// A text-like corpus with a steep curve of counts: the threshold of the pair index is lowered on the way.
#[test]
fn equals_a_recount_where_counts_span_many_orders() {
    let mut random = Random::new(0x7A69_7066);
    for _ in 0..25 {
        let corpus: Words = (0..60u64)
            .map(|rank| (random.word(b"etaoinsh ", 7), 1_000_000_000 / (1 + rank * rank * rank)))
            .collect();
        for ties in ALL_TIES {
            compare(&corpus, &Options { ties, max_merges: 400, ..BASICS });
        }
    }
}

#[test]
fn overlapping_pairs() {
    for text in ["aa", "aaa", "aaaa", "aaaaa", "aaaaaaaaaaaaaaaaa", "abab", "ababa", "aabaabaaab", "abbabbba"]
    {
        for ties in ALL_TIES {
            compare(&words(&[(text, 3)]), &Options { ties, max_merges: 50, ..BASICS });
        }
    }
}

#[test]
fn each_tie_rule_chooses_its_own_pair() {
    let corpus = words(&[("ba", 1), ("\u{1}\u{2}", 1), ("zy", 1), ("b\u{1}", 1)]);
    let first = |ties| {
        let options = Options { ties, max_merges: 1, ..BASICS };
        let merges = train(&corpus, &options, &Control::none()).unwrap();
        (merges[0].left as u8, merges[0].right as u8)
    };
    assert_eq!(first(Ties::Bytes), (b'z', b'y'));
    assert_eq!(first(Ties::Ids), (b'z', b'y'));
    assert_eq!(first(Ties::SmallestIds), (1, 2));
    assert_eq!(first(Ties::First), (b'b', b'a'));
    // Printable bytes rank before the others.
    assert_eq!(first(Ties::HuggingFace), (b'b', b'a'));
    assert_eq!(first(Ties::PrintableIds), (1, 2));
}

#[test]
fn nothing_to_merge() {
    let options = BASICS;
    for corpus in [words(&[]), words(&[("", 5), ("a", 7)]), words(&[("ab", 0)])] {
        assert_eq!(train(&corpus, &options, &Control::none()).unwrap(), []);
    }
    let none = Options { max_merges: 0, ..options };
    assert_eq!(train(&words(&[("ab", 1)]), &none, &Control::none()).unwrap(), []);
}

#[test]
fn more_merges_than_can_be() {
    for max_merges in [1 << 20, u32::MAX as usize, usize::MAX] {
        let options = Options { ties: Ties::Bytes, max_merges, ..BASICS };
        compare(&words(&[("abcabcd", 3), ("bcd", 1 << 40)]), &options);
    }
}

#[test]
fn counts_up_to_the_limit_are_exact_and_beyond_it_refused() {
    let options = BASICS;
    compare(&words(&[("abc", 1 << 62), ("abd", 1 << 62)]), &options);
    for corpus in [
        words(&[("xab", 1 << 62), ("abd", (1 << 62) + 1)]),
        words(&[("ab", u64::MAX)]),
        words(&[("ab", u64::MAX), ("ab", u64::MAX)]),
    ] {
        match train(&corpus, &options, &Control::none()) {
            Err(Error::CountOverflow { left, right }) => assert_eq!((left, right), (vec![b'a'], vec![b'b'])),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn more_bytes_than_positions_are_refused() {
    let word = vec![b'a'; 1 << 20];
    let options = BASICS;
    let corpus = std::iter::repeat_n((word.as_slice(), 1), 1 << 12);
    match resume(corpus, &Start::default(), &options, &mut Saver::none(), &Control::none()) {
        Err(Error::TooManyPretokens { bytes, limit }) => {
            assert_eq!(bytes, 1 << 32);
            assert!(limit < bytes);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn progress_is_counted_in_merges_and_the_observer_can_stop() {
    let mut random = Random::new(1);
    let corpus: Words = (0..2000).map(|_| (random.word(b"abcdefgh", 12), 1)).collect();
    let options = Options { ties: Ties::Bytes, max_merges: 500, ..BASICS };
    let control = Control::none();
    let merges = train(&corpus, &options, &control).unwrap();
    assert_eq!(control.progress().done, merges.len() as u64);
    assert_eq!(control.progress().total, 500);

    let asked = AtomicU32::new(0);
    let refuse = |_| {
        asked.fetch_add(1, Ordering::Relaxed);
        false
    };
    let stopped = train(&corpus, &options, &Control::new(&refuse));
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}
