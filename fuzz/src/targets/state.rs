//! What is read from bytes of strangers: a vocabulary's state, rank files, counts, and vocabularies of any
//! tokens.

use std::path::Path;
use std::sync::LazyLock;

use toksmith::count::PretokenCounts;
use toksmith::formats::RankLines;
use toksmith::pretokenize::{Pattern, Pretokenizer, Unmatched};
use toksmith::vocab::SpecialSpec;
use toksmith::{Control, Encoder, Vocab};

use super::input::Input;
use super::vocabulary;
use crate::oracle;

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

const LETTERS: [&str; 5] = ["a", "b", "c", " ", "é"];

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    match input.below(4) {
        0 => changed_state(&mut input),
        1 => ranks(input.0),
        2 => counts(&mut input),
        _ => any_tokens(&mut input),
    }
}

/// A state with some numbers changed.
fn changed_state(input: &mut Input<'_>) {
    let mut bytes = vocabulary::vocabulary(input, false).state();
    for _ in 0..input.below(4) {
        let at = (input.number() as usize) % bytes.len();
        match input.below(4) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] ^= 1 << input.below(8),
            2 => bytes[at] = input.byte(),
            _ => bytes.insert(at, input.byte()),
        }
    }
    state(&bytes);
}

/// A state that is accepted is the state of what it became, which encodes as its definition says.
fn state(bytes: &[u8]) {
    let Ok(vocab) = Vocab::from_state(bytes, &[]) else { return };
    let again = Vocab::from_state(&vocab.state(), &[]).unwrap();
    assert_eq!(again.state(), vocab.state());
    encodes(vocab);
}

/// A vocabulary encodes as its definition says.
pub(super) fn encodes(vocab: Vocab) {
    let bpe = oracle::Bpe::new(&vocab);
    let whole = Pretokenizer { pattern: Pattern::Whole, unmatched: Unmatched::Keep };
    let encoder = Encoder::with_small_cache(vocab.clone(), whole, 1);
    let longest = vocab.tokens().iter().map(|(_, token)| token).max_by_key(|token| token.len());
    let longest = longest.unwrap_or_default();
    for text in [b"ab aab \xc3\xa9cab".as_slice(), &longest[..longest.len().min(200)]] {
        if !text.is_empty() {
            assert_eq!(encoder.encode_to_vec(text, false, &Control::none()).unwrap(), bpe.encode(text));
        }
    }
}

/// Lines of base64 and a number.
fn ranks(bytes: &[u8]) {
    let Ok(lines) = RankLines::parse(bytes) else { return };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let tokens = lines.tokens();
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines = text.split('\n').filter(|line| !line.trim_ascii().is_empty());
    for (id, token) in &tokens {
        let (base64, number) =
            lines.next().unwrap().trim_ascii().split_once(|c: char| c.is_ascii_whitespace()).unwrap();
        assert_eq!(number.trim_ascii().parse(), Ok(*id));
        assert_eq!(base64.trim_end_matches('=').len(), (4 * token.len()).div_ceil(3));
    }
    assert_eq!(lines.next(), None);
    let owned: Vec<(u32, Vec<u8>)> = tokens.iter().map(|(id, token)| (*id, token.to_vec())).collect();
    if let Ok(vocab) = Vocab::new(&owned, None, &[]) {
        encodes(vocab);
    }
}

/// Counts that are read from a file are written as they were read, but for numbers in more bytes than they
/// need.
fn counts(input: &mut Input<'_>) {
    let (before, count, end_place) = (input.below(9), input.number() % 1000, input.number() >> 2);
    let (path, again) = (FOLDER.path().join("counts"), FOLDER.path().join("again"));
    std::fs::write(&path, input.0).unwrap();
    let read = |path: &Path, start: usize, count| {
        let end = std::fs::metadata(path).unwrap().len();
        PretokenCounts::read_from(path, (start as u64, end), count, end_place, 1, &Control::none())
    };
    let Ok(counts) = read(&path, before, count) else { return };
    assert_eq!(counts.len() as u64, count);
    std::fs::write(&again, b"").unwrap();
    counts.append_to(&again, &Control::none()).unwrap();
    let written = read(&again, 0, count).unwrap();
    assert!(written.iter().eq(counts.iter()));
    for (pretoken, count, _) in counts.iter() {
        assert_eq!(counts.get(pretoken, &Control::none()).unwrap(), Some(count));
    }
    let _ = counts.plus(&written, &Control::none());
}

/// Any tokens, merges and special tokens: a vocabulary or an error, and no id twice.
fn any_tokens(input: &mut Input<'_>) {
    let id = |input: &mut Input<'_>| match input.below(4) {
        0 => u32::MAX - input.below(4) as u32,
        1 => input.below(256) as u32,
        _ => 250 + input.below(40) as u32,
    };
    let mut tokens: Vec<(u32, Vec<u8>)> = (0..=255).map(|byte| (byte, vec![byte as u8])).collect();
    tokens.truncate(256 - usize::from(input.below(8) == 7));
    for _ in 0..input.below(12) {
        tokens.push((id(input), input.word(4, &LETTERS)));
    }
    let merges: Vec<(Vec<u8>, Vec<u8>)> =
        (0..input.below(8)).map(|_| (input.word(2, &LETTERS), input.word(2, &LETTERS))).collect();
    let specials: Vec<SpecialSpec> =
        (0..input.below(5)).map(|_| (input.word(3, &LETTERS), input.flag().then(|| id(input)))).collect();
    let merges = input.flag().then_some(merges.as_slice());
    let Ok(vocab) = Vocab::new(&tokens, merges, &specials) else { return };
    for ((name, wanted), &id) in specials.iter().zip(vocab.special_ids()) {
        assert!(wanted.is_none_or(|wanted| wanted == id));
        assert_eq!(vocab.token_bytes(id).unwrap(), name);
        assert_eq!(vocab.special_id(name), Some(id));
    }
    for (id, bytes) in vocab.tokens().iter() {
        assert!(vocab.ordinary_id(bytes) == Some(id) || vocab.special_ids().contains(&id));
    }
    let kept: Vec<SpecialSpec> = vocab
        .specials()
        .tokens()
        .iter()
        .cloned()
        .zip(vocab.special_ids().iter().map(|&id| Some(id)))
        .collect();
    assert_eq!(Vocab::from_state(&vocab.state(), &kept).unwrap().state(), vocab.state());
    encodes(vocab);
}
