//! Counting against the plain definition.

use std::collections::HashMap;

use toksmith::count::{CountOptions, Counting, DocumentFormat, InputFile, PretokenCounts};
use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use toksmith::source::{Compression, Stamp};
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
        let (memory_limit, table_limit) = (Some(memory_limit), Some(memory_limit));
        let options = CountOptions { memory_limit, table_limit, ..CountOptions::default() };
        let mut counting = Counting::new(Specials::default(), pretokenizer(), options);
        let mut batch = Some(documents.clone());
        counting.batches(|| Ok(batch.take()), &control).unwrap();
        counting.finish(&control)
    };
    let Err(Error::TooManyUnique { unique, needed, room: 524_288, offer: _ }) = finished(1) else {
        panic!("it does not fit into a byte")
    };
    let all = finished(2 * needed + 64).unwrap();
    assert_eq!(all.len() as u64, unique);
    let Err(Error::TooManyUnique { offer: Some((least, left)), .. }) = finished(needed) else {
        panic!("half of the limit is for the result")
    };
    assert_eq!(all.iter().filter(|&(_, count, _)| count >= least).count() as u64, left);
}

/// Counts that do not fit are saved from the temporary file, and read as those that do.
#[test]
fn counts_that_do_not_fit_are_saved() {
    let control = Control::none();
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let documents: Vec<_> = (0..4).flat_map(|_| random.documents(30_000)).collect();
        let whole = counted(&documents, &CountOptions { workers: 1, ..CountOptions::default() });
        let workers = 1 + seed as usize % 2;
        let limit = Some(if seed < 3 { 1 } else { whole.frequencies()[0].memory });
        let options =
            CountOptions { memory_limit: limit, table_limit: limit, workers, ..CountOptions::default() };
        let mut counting = Counting::new(Specials::default(), pretokenizer(), options);
        let mut batches = documents.chunks(3).map(<[_]>::to_vec);
        counting.batches(|| Ok(batches.next()), &control).unwrap();
        let oversized = counting.outcome(&control).unwrap().unwrap_err();
        assert_eq!(oversized.frequencies, whole.frequencies());
        assert_eq!(
            [oversized.unique(), oversized.total, oversized.end_place()],
            [whole.len() as u64, whole.total(), whole.end_place()]
        );
        let path = folder.path().join("counts");
        for min_count in [1, 1, 3] {
            std::fs::write(&path, b"").unwrap();
            oversized.append_to(&path, &control).unwrap();
            let end = std::fs::metadata(&path).unwrap().len();
            let (unique, place) = (oversized.unique(), oversized.end_place());
            let read =
                PretokenCounts::read_from(&path, (0, end), unique, place, min_count, &control).unwrap();
            assert!(read.iter().eq(whole.iter().filter(|&(_, count, _)| count >= min_count)));
            assert_eq!(read.end_place(), whole.end_place());
        }
    }
}

/// Rows of counts are summed, and sorted by bytes, in any memory.
#[test]
fn sums_of_rows_are_sorted_by_bytes() {
    let control = Control::none();
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let words = |random: &mut Random| random.documents(9000).join(&b' ');
        let (text, mut sums) = (words(&mut random), HashMap::<&[u8], u64>::new());
        let limit = [None, Some(1 << 20), Some(1 << 21)][seed as usize % 3];
        let options = CountOptions {
            memory_limit: limit.map(|_| 1 << 30),
            table_limit: limit,
            workers: 2,
            ..CountOptions::default()
        };
        let mut counting = Counting::new(Specials::default(), pretokenizer(), options);
        for _ in 0..5 {
            let rows: Vec<(&[u8], u64)> =
                text.split(|&byte| byte == b' ').map(|word| (word, random.below64(5))).collect();
            rows.iter().filter(|(word, count)| !word.is_empty() && *count > 0).for_each(|&(word, count)| {
                *sums.entry(word).or_default() += count;
            });
            counting.counts(rows.into_iter(), &control).unwrap();
        }
        let mut expected: Vec<(&[u8], u64)> = sums.into_iter().collect();
        expected.sort_unstable();
        let found = counting.finish(&control).unwrap();
        assert!(found.words().eq(expected.iter().copied()));
        assert!(found.iter().map(|(_, _, first)| first).eq(1..=expected.len() as u64));
    }
    let mut counting = Counting::new(Specials::default(), pretokenizer(), CountOptions::default());
    counting.counts([(&b"a"[..], 1 << 63)].into_iter(), &control).unwrap();
    let failed = counting.counts([(&b"b"[..], 1)].into_iter(), &control);
    assert!(matches!(failed, Err(Error::CountOverflow { .. })));
}

/// Sections of the temporary file that are more than can be merged at once.
#[test]
fn many_small_spills() {
    let mut random = Random::new(5);
    let documents: Vec<_> = (0..12).flat_map(|_| random.documents(60_000)).collect();
    let whole = counted(&documents, &CountOptions { workers: 1, ..CountOptions::default() });
    let options = CountOptions { table_limit: Some(1), workers: 1, ..CountOptions::default() };
    let mut counting = Counting::new(Specials::default(), pretokenizer(), options);
    let mut batch = Some(documents);
    counting.batches(|| Ok(batch.take()), &Control::none()).unwrap();
    assert!(counting.spilled().1 > 1 << 24);
    let spilled = counting.finish(&Control::none()).unwrap();
    assert!(spilled.iter().eq(whole.iter()));
}

/// Text whose tables grow at bad moments: many short words, then long ones, then few, then giants.
fn text_of_changing_shape() -> Vec<Vec<u8>> {
    let letters = |number: u64, length: usize| -> Vec<u8> {
        let mut random = Random::new(number);
        (0..length).map(|_| b'a' + random.below(26) as u8).chain([b' ']).collect()
    };
    let phase = |from: u64, words: u64, length: usize| -> Vec<u8> {
        (from..from + words).flat_map(|number| letters(number, length)).collect()
    };
    let mut all = Vec::new();
    for round in 0..2 {
        let from = round * 1_000_000;
        all.push(phase(from, 60_000, 7));
        all.push(phase(from + 100_000, 8_000, 60));
        all.push(phase(from, 60_000, 7));
        all.push(phase(from + 200_000, 1_000, 900));
        all.push(phase(from + 300_000, 2, 400_000));
        all.push(phase(from + 400_000, 60_000, 9));
    }
    all
}

/// A spill is of a good part of a table, whatever the limit is and came before it.
#[test]
fn limits_do_not_degenerate() {
    let documents = text_of_changing_shape();
    let bytes: u64 = documents.iter().map(|document| document.len() as u64).sum();
    let whole = counted(&documents, &CountOptions { workers: 1, ..CountOptions::default() });
    let mut spilled_at_all = 0;
    for step in 0..20 {
        let limit = (f64::from(3 << 20) * 1.25_f64.powi(step)) as u64;
        let workers = 1 + step as usize % 2;
        let options = CountOptions { table_limit: Some(limit), workers, ..CountOptions::default() };
        let mut counting = Counting::new(Specials::default(), pretokenizer(), options);
        let mut batches = documents.chunks(3).map(<[_]>::to_vec);
        counting.batches(|| Ok(batches.next()), &Control::none()).unwrap();
        let (spills, spilled) = counting.spilled();
        // Each pretoken is written once at the most for each of its occurrences, and takes 40 bytes beside
        // its own.
        assert!(spilled <= 6 * bytes, "{limit}: {spilled} of {bytes} bytes");
        // A table is a 64th of a third of the limit, and a spill is of no less than a sixth of it.
        let table = (limit / 3 / 64).max(1 << 12);
        assert!(spills <= 6 * spilled / table + 1, "{limit}: {spills} spills of {spilled} bytes");
        spilled_at_all += u64::from(spills > 0);
        let found = counting.finish(&Control::none()).unwrap();
        assert!(found.iter().eq(whole.iter()), "{limit}");
    }
    assert!(spilled_at_all > 10, "{spilled_at_all}");
}

/// A file in a folder of its own, which goes with it.
struct Temporary(std::path::PathBuf);

impl Temporary {
    fn new(name: &str, text: &[u8]) -> Self {
        let folder = std::env::temp_dir().join(format!("toksmith-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("text"), text).unwrap();
        Temporary(folder)
    }

    fn file(&self) -> InputFile {
        InputFile::text(self.0.join("text"))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Files that are not what they were when they were first looked at.
#[test]
fn files_that_changed_are_refused() {
    let folder = Temporary::new("changed", b"low lower newest");
    let count = |file: InputFile| {
        let mut counting = Counting::new(Specials::default(), pretokenizer(), CountOptions::default());
        counting.files(&[file], &Control::none())
    };
    let meta = std::fs::metadata(folder.0.join("text")).unwrap();
    let time = meta.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i128;
    let records = DocumentFormat::JsonLines("text".into());
    for file in [folder.file(), InputFile { compression: Compression::Gzip, records, ..folder.file() }] {
        for (size, modified, said) in [
            (17, time, "text: the file became shorter while it was read, from 17 to 16 bytes"),
            (15, time, "text: the file became longer while it was read, from 15 to 16 bytes"),
            (0, time, "text: the file became longer while it was read, from 0 to 16 bytes"),
            (16, time - 1, "text: the file was changed while it was read"),
        ] {
            let seen = Some(Stamp { size, modified: Some(modified) });
            let error = count(InputFile { seen, ..file.clone() }).unwrap_err();
            assert!(matches!(error, Error::Io { .. }) && error.to_string().contains(said), "{error}");
        }
    }
    let seen = Some(Stamp { size: 16, modified: Some(time) });
    count(InputFile { seen, ..folder.file() }).unwrap();
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
    let counts: HashMap<&[u8], u64> = whole.words().collect();
    assert_eq!(counts.len(), whole.len());
    for (word, count) in counts {
        assert_eq!(whole.get(word, &Control::none()).unwrap(), Some(count));
        assert_eq!(whole.get(&[word, b"-"].concat(), &Control::none()).unwrap(), None);
    }
}
