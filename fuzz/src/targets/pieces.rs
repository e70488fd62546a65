//! Marked text, pieces and completions of a text against what the documentation says of them.

use toksmith::control::Control;
use toksmith::decode::decode;
use toksmith::encode::{Continuations, MarkedText, SpecialSet, marks};
use toksmith::pretokenize::Pretokenizer;
use toksmith::{Encoder, Error, Vocab};

use super::input::Input;
use super::vocabulary::{LETTERS, encoded, ids, ordinary, pretokenizer, vocabulary};
use crate::oracle;

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let (special, most, overlap) = (input.flag(), input.below(12), input.below(9));
    let cuts: Vec<(usize, bool)> = (0..input.below(6)).map(|_| (input.below(20), input.flag())).collect();
    let pretokenizer = pretokenizer(&mut input);
    let vocab = vocabulary(&mut input, special);
    let text = input.text(&LETTERS);
    let encoder = Encoder::with_small_cache(vocab.clone(), pretokenizer.clone(), 1);
    let text = String::from_utf8_lossy(&text);
    marked(&encoder, &vocab, &pretokenizer, &text, &cuts);
    let definition = Definition { vocab: &vocab, pretokenizer: &pretokenizer, special, most };
    definition.check(&encoder, &text, overlap);
    completions(&encoder, &text);
}

/// The special tokens of each trusted stretch, searched for in it alone; the rest is one text.
fn marked(encoder: &Encoder, vocab: &Vocab, pretokenizer: &Pretokenizer, text: &str, cuts: &[(usize, bool)]) {
    let mut marks: Vec<u8> = Vec::new();
    cuts.iter().for_each(|&(len, trusted)| marks.resize(marks.len() + len, trusted.into()));
    marks.resize(text.chars().count(), marks::TRUSTED);
    let marked = MarkedText::new(text, &marks).unwrap();
    let bpe = oracle::Bpe::new(vocab);
    let (text, mut expected, mut from) = (text.as_bytes(), Vec::new(), 0);
    for (range, mark) in &marked.runs {
        let tokens = if *mark == marks::TRUSTED { vocab.specials().tokens() } else { &[] };
        for segment in oracle::segments(tokens, &text[range.clone()]) {
            let toksmith::special::Segment::Special(found) = segment else { continue };
            let special = range.start + found.range.start..range.start + found.range.end;
            ordinary(&bpe, vocab, pretokenizer, text, from..special.start, &mut expected);
            expected.push((vocab.special_ids()[found.index], special.end));
            from = special.end;
        }
    }
    ordinary(&bpe, vocab, pretokenizer, text, from..text.len(), &mut expected);
    let mut encoded = Vec::new();
    encoder.encode_marked(&marked, &mut encoded, &Control::none()).unwrap();
    assert_eq!(encoded, ids(&expected), "{:?}", marked.runs);
}

struct Definition<'a> {
    vocab: &'a Vocab,
    pretokenizer: &'a Pretokenizer,
    special: bool,
    most: usize,
}

impl Definition<'_> {
    fn encoded(&self, text: &str) -> Vec<(u32, usize)> {
        encoded(self.vocab, self.pretokenizer, text.as_bytes(), self.special)
    }

    /// Where the tokens of the longest beginning end that has few enough, in the text and alone.
    fn truncated(&self, text: &str) -> Vec<usize> {
        let mut ends: Vec<usize> =
            self.encoded(text).into_iter().map(|(_, end)| end).take(self.most).collect();
        while let Some(&end) = ends.last() {
            if text.is_char_boundary(end) && self.encoded(&text[..end]).len() <= self.most {
                break;
            }
            ends.pop();
        }
        ends
    }

    fn check(&self, encoder: &Encoder, text: &str, overlap: usize) {
        let control = Control::none();
        let range = encoder.truncate(text, self.most, self.special, &control).unwrap();
        assert_eq!(range, 0..self.truncated(text).last().copied().unwrap_or(0), "{text:?}");
        match (encoder.split(text, self.most, overlap, self.special, &control), self.split(text, overlap)) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text:?}"),
            (Err(Error::CharacterTooLong { at, .. }), Err(expected)) => assert_eq!(at, expected),
            (found, expected) => panic!("{found:?}, should be {expected:?}"),
        }
    }

    /// The pieces, or the place of a character that no piece can hold.
    fn split(&self, text: &str, overlap: usize) -> Result<Vec<std::ops::Range<usize>>, usize> {
        let (mut pieces, mut start) = (Vec::new(), 0);
        while start < text.len() {
            let rest = &text[start..];
            let mut ends = self.truncated(rest);
            if ends.is_empty() {
                let end = rest.chars().next().unwrap().len_utf8();
                if self.encoded(&rest[..end]).len() > self.most || self.most == 0 {
                    return Err(start);
                }
                ends = vec![end];
            }
            let end = start + ends[ends.len() - 1];
            pieces.push(start..end);
            if end == text.len() {
                break;
            }
            let first = ends.len().saturating_sub(overlap + 1);
            start += ends[first..].iter().find(|&&end| rest.is_char_boundary(end)).unwrap();
        }
        Ok(pieces)
    }
}

/// Completions begin with the rest of the text; broken text loses no byte.
fn completions(encoder: &Encoder, text: &str) {
    let control = Control::none();
    let text: String = text.chars().take(40).collect();
    let (continuations, none) = (Continuations::new(encoder), SpecialSet::default());
    let bytes = |ids: &[u32]| decode(encoder.vocab(), ids, &control).unwrap();
    let found = continuations.of_text(&text, &none, &control).unwrap();
    let stable = bytes(&found.stable);
    let rest = text.as_bytes().strip_prefix(stable.as_slice()).unwrap();
    assert_eq!(found.completions.is_empty(), rest.is_empty());
    for ids in &found.completions {
        assert!(bytes(ids).starts_with(rest) || rest.starts_with(&bytes(ids)), "{text:?} {ids:?}");
    }
    let cut = &text.as_bytes()[..text.len().saturating_sub(1)];
    assert_eq!(bytes(&encoder.encode_broken(cut, &control).unwrap()), cut);
}
