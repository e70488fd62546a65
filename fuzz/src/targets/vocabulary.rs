//! Small vocabularies, chosen by an input: with overlapping tokens, merges that no text reaches, gaps in the
//! ids.

use toksmith::Vocab;
use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use toksmith::special::Segment;
use toksmith::vocab::SpecialSpec;

use super::input::Input;
use crate::oracle;

/// What vocabularies and texts are made of: bytes that make junctions between characters, and some that
/// patterns know.
pub(super) const LETTERS: [&str; 12] = ["a", "a", "b", " ", "c", "é", "中", "1", "'", "\n", "<", "😀"];

/// Special tokens that lie in each other, begin with spaces, and can be cut.
const SPECIALS: [&str; 8] = ["<s>", "<", "<<", "a b", "\n", " a", "中", "b\n a"];

/// Ids from numbers: dense, with gaps, the bytes from high to low, and far from zero.
fn id_of(layout: usize, number: u32) -> u32 {
    match layout {
        0 => number,
        1 => 3 * number + 2,
        2 => number ^ 0xff,
        _ => 4_000_000_000 + number,
    }
}

/// A vocabulary, with special tokens if they are wanted.
pub(super) fn vocabulary(input: &mut Input<'_>, with_specials: bool) -> Vocab {
    let (semantics, layout) = (input.below(3), input.below(4));
    let letters: Vec<u8> = LETTERS.iter().flat_map(|letter| letter.bytes()).collect();
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    for _ in 0..input.below(28) {
        let mut pick = || match input.below(4) {
            0 | 1 => vec![letters[input.below(letters.len())]],
            _ => tokens[tokens.len() - 1 - input.below((tokens.len() - 255).min(256))].clone(),
        };
        let (left, right) = (pick(), pick());
        let token = [left.as_slice(), &right].concat();
        if merges.contains(&(left.clone(), right.clone())) || token.len() > 40 {
            continue;
        }
        if !tokens.contains(&token) {
            tokens.push(token);
        }
        merges.push((left, right));
    }
    let highest = id_of(layout, tokens.len() as u32 + 255);
    let specials: Vec<SpecialSpec> = match with_specials {
        true => (highest..).zip(SPECIALS).map(|(id, name)| (name.into(), Some(id))).collect(),
        false => Vec::new(),
    };
    let tokens: Vec<(u32, Vec<u8>)> =
        (0..).zip(tokens).map(|(number, token)| (id_of(layout, number), token)).collect();
    let vocab = Vocab::new(&tokens, (semantics > 0).then_some(merges.as_slice()), &specials).unwrap();
    if semantics == 2 { vocab.ignoring_merges() } else { vocab }
}

/// A pattern for an instruction set, or none.
pub(super) fn pretokenizer(input: &mut Input<'_>) -> Pretokenizer {
    let all: Vec<Isa> = Isa::available().collect();
    let isa = input.pick(&all);
    let pattern = match input.below(2 + Named::ALL.len()) {
        0 | 1 => Pattern::Whole,
        named => Pattern::Named(Named::ALL[named - 2], isa),
    };
    Pretokenizer { pattern, unmatched: Unmatched::Keep }
}

/// The ids of a text and where each ends, from the definition. Special tokens are those that `find` allows.
pub(super) fn encoded(
    vocab: &Vocab,
    pretokenizer: &Pretokenizer,
    text: &[u8],
    special: bool,
) -> Vec<(u32, usize)> {
    let bpe = oracle::Bpe::new(vocab);
    let tokens = if special { vocab.specials().tokens() } else { &[] };
    let mut found = Vec::new();
    for segment in oracle::segments(tokens, text) {
        match segment {
            Segment::Special(special) => found.push((vocab.special_ids()[special.index], special.range.end)),
            Segment::Text(range) => ordinary(&bpe, vocab, pretokenizer, text, range, &mut found),
        }
    }
    found
}

/// Adds the ids of ordinary text.
pub(super) fn ordinary(
    bpe: &oracle::Bpe<'_>,
    vocab: &Vocab,
    pretokenizer: &Pretokenizer,
    text: &[u8],
    range: std::ops::Range<usize>,
    found: &mut Vec<(u32, usize)>,
) {
    let (mut at, segment) = (range.start, &text[..range.end]);
    while at < range.end {
        let end = match pretokenizer.pattern {
            Pattern::Named(named, _) => {
                range.start + toksmith::pretokenize::next(named, &segment[range.start..], at - range.start)
            }
            _ => range.end,
        };
        for id in bpe.encode(&text[at..end]) {
            at += vocab.token_bytes(id).unwrap().len();
            found.push((id, at));
        }
        assert_eq!(at, end);
    }
}

pub(super) fn ids(found: &[(u32, usize)]) -> Vec<u32> {
    found.iter().map(|&(id, _)| id).collect()
}
