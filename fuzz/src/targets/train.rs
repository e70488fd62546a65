//! The trainer against a recount from scratch: from words, from counts, interrupted, extended, with forced
//! tokens.

use std::collections::HashMap;

use toksmith::count::{CountOptions, Counting};
use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use toksmith::special::Specials;
use toksmith::train::{Merge, Options, Saver, Start, Ties, build_vocab, learn_from, resume};
use toksmith::{Control, Encoder, Vocab};

use super::input::Input;
use crate::oracle;

const TIES: [Ties; 6] =
    [Ties::Bytes, Ties::Ids, Ties::SmallestIds, Ties::First, Ties::HuggingFace, Ties::PrintableIds];

/// Among them bytes whose rank differs from their value, and prefixes of others with a zero behind.
const LETTERS: [&str; 12] = ["a", "a", "a", "b", "b", "c", " ", "\0", "\u{1}", "\u{ad}", "é", "!"];

/// On both sides of what a cell can hold.
const WEIGHTS: [u64; 10] = [1, 1, 2, 3, 0, 7, 4095, 4096, 65_536, 1 << 40];

type Words = Vec<(Vec<u8>, u64)>;

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let ties = input.pick(&TIES);
    // The last needs cells of 32 bits.
    let max_merges = input.pick(&[1, 3, 12, 30, 70_000]);
    let min_frequency = input.pick(&[0, 1, 2, 3, 5000]);
    let max_token_length = input.pick(&[u32::MAX, u32::MAX, 0, 1, 2, 3, 5, 9]);
    let options = Options { ties, max_merges, min_frequency, max_token_length, ..Options::default() };
    let (kind, at, change) = (input.below(6), input.below(256), input.number());
    let mut words = Words::new();
    let mut letters = 0;
    while !input.0.is_empty() && letters < 120 {
        let weight = input.pick(&WEIGHTS);
        let word = input.word(30, &LETTERS);
        letters += word.len();
        words.push((word, weight));
    }
    match kind {
        0 => counted(&words, &options, at),
        1 => interrupted(&words, &options, at, change),
        2 => extended(&words, &options, at),
        3 => forced(&words, &options, at),
        _ => drop(compared(&words, &options)),
    }
}

fn views(words: &Words) -> impl Iterator<Item = (&[u8], u64)> + Clone {
    words.iter().map(|(word, count)| (word.as_slice(), *count))
}

/// The merges, trained both ways.
fn compared(words: &Words, options: &Options) -> Vec<Merge> {
    let found =
        resume(views(words), &Start::default(), options, &mut Saver::none(), &Control::none()).unwrap();
    assert_eq!(found, oracle::learn_merges(words, options), "with {options:?} on {words:?}");
    found
}

/// Pretokens of documents, counted in memory that is too small for them or is not, and then trained on.
fn counted(words: &Words, options: &Options, choices: usize) {
    let documents: Vec<Vec<u8>> = words.iter().map(|(word, _)| word.repeat(1 + choices % 3)).collect();
    let pattern = Pattern::Named(Named::ALL[choices % Named::ALL.len()], Isa::best());
    let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
    // Without a limit the tables are so large that filling them takes most of the time.
    let table_limit = [Some(1), Some(1 << 20), Some(1 << 20), None][choices >> 3 & 3];
    let count = CountOptions { table_limit, workers: 1 + choices % 2, ..CountOptions::default() };
    let control = Control::none();
    let mut counting = Counting::new(Specials::default(), pretokenizer.clone(), count);
    let mut batches = documents.chunks(2).map(<[_]>::to_vec);
    counting.batches(|| Ok(batches.next()), &control).unwrap();
    let counts = counting.finish(&control).unwrap();
    let expected = oracle::count_pretokens(&documents, &pretokenizer);
    let found: Vec<_> = counts.iter().map(|(word, count, first)| (word.to_vec(), count, first)).collect();
    assert_eq!(found, expected);
    let sum = counts.plus(&counts, &control).unwrap();
    assert!(sum.iter().all(|(word, count, _)| counts.get(word, &control).unwrap().unwrap() * 2 == count));
    let words: Words = expected.into_iter().map(|(word, count, _)| (word, count)).collect();
    let found = learn_from(counts, &Start::default(), options, &mut Saver::none(), &control).unwrap();
    assert_eq!(found, oracle::learn_merges(&words, options));
    vocabulary(&found, &words);
}

/// The vocabulary of a training, which is not checked, is the one that is read from its state, which is.
fn vocabulary(merges: &[Merge], words: &Words) -> Vocab {
    let built = build_vocab(None, merges, |token| token, &[]).unwrap();
    let checked = Vocab::from_state(&built.state(), &[]).unwrap();
    assert_eq!(built.merges(), checked.merges());
    let bpe = oracle::Bpe::new(&checked);
    let whole = Pretokenizer { pattern: Pattern::Whole, unmatched: Unmatched::Keep };
    let encoder = Encoder::of_training(built, whole);
    for (word, _) in words.iter().take(3) {
        assert_eq!(encoder.encode_to_vec(word, true, &Control::none()).unwrap(), bpe.encode(word));
    }
    checked
}

/// A training that was interrupted goes on to the same end; from merges that no training made it ends
/// somehow.
fn interrupted(words: &Words, options: &Options, at: usize, change: u64) {
    let expected = compared(words, options);
    let made = &expected[..at.min(expected.len())];
    let mut saved = Vec::new();
    let mut save = |merges: &[Merge]| {
        saved = merges.to_vec();
        Ok(())
    };
    let mut saver = Saver::new(std::time::Duration::MAX, &mut save);
    let start = Start { made, ..Start::default() };
    assert_eq!(resume(views(words), &start, options, &mut saver, &Control::none()).unwrap(), expected);
    assert_eq!(saved, expected);
    let mut broken = made.to_vec();
    let number = (change >> 16) as u32;
    let count = broken.len();
    let Some(merge) = broken.get_mut(change as usize % count.max(1)) else { return };
    match change >> 8 & 3 {
        0 => merge.left = number % 300,
        1 => merge.right = number,
        2 => merge.token = number % 300,
        _ => merge.left ^= 1,
    }
    let start = Start { made: &broken, ..Start::default() };
    let _ = resume(views(words), &start, options, &mut Saver::none(), &Control::none());
}

/// A vocabulary of the first merges, extended, learns the others.
fn extended(words: &Words, options: &Options, at: usize) {
    let expected = compared(words, options);
    let (first, rest) = expected.split_at(at.min(expected.len()));
    let base = vocabulary(first, words);
    let start = Start { base: Some(&base), ..Start::default() };
    let options = Options { max_merges: options.max_merges.saturating_sub(first.len()), ..*options };
    let found = resume(views(words), &start, &options, &mut Saver::none(), &Control::none()).unwrap();
    // Of a vocabulary the ids are compared as they are.
    if !matches!(options.ties, Ties::HuggingFace | Ties::PrintableIds) {
        assert_eq!(found, rest);
    }
    build_vocab(Some(&base), &found, |token| token, &[]).unwrap();
}

/// Forced tokens are there, made of what they say.
fn forced(words: &Words, options: &Options, at: usize) {
    let forced: Vec<Vec<u8>> =
        words.iter().skip(at % 4).take(3).map(|(word, _)| word.iter().copied().take(9).collect()).collect();
    let start = Start { forced: &forced, ..Start::default() };
    let Ok(merges) = resume(views(words), &start, options, &mut Saver::none(), &Control::none()) else {
        return;
    };
    assert!(merges.len() <= options.max_merges);
    let vocab = build_vocab(None, &merges, |token| token, &[]).unwrap();
    for token in &forced {
        assert!(token.is_empty() || vocab.ordinary_id(token).is_some(), "{forced:?}");
    }
    let mut tokens: HashMap<u32, Vec<u8>> = (0..256).map(|byte| (byte, vec![byte as u8])).collect();
    for merge in &merges {
        let bytes = [tokens[&merge.left].as_slice(), &tokens[&merge.right]].concat();
        assert_eq!(tokens.entry(merge.token).or_insert_with(|| bytes.clone()), &bytes);
    }
}
