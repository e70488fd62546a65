//! Compares the pieces of texts with long pretokens with pieces that are each made by encoding the whole rest
//! of the text.

use crate::Control;
use crate::encode::{Encoder, Spans};
use crate::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use crate::random::Random;
use crate::vocab::Vocab;

const CHARACTERS: [&str; 18] = [
    "a", "b", "A", "ǅ", "水", "木", "ʰ", "\u{301}", " ", "\u{3000}", "\n", "\r", "'", "!", "/", "7", "²", "s",
];

/// Runs of one, two or three characters, few of them short. Half of the texts have letters and marks only.
fn text(random: &mut Random) -> String {
    let mut text = String::new();
    let kinds = [8, CHARACTERS.len()][random.below(2)];
    for _ in 0..1 + random.below(5) {
        let kinds: Vec<&str> = (0..1 + random.below(3)).map(|_| CHARACTERS[random.below(kinds)]).collect();
        for _ in 0..[1, 3, 60, 300][random.below(4)] {
            text.push_str(kinds[random.below(kinds.len())]);
        }
        if random.below(6) == 0 {
            text.push_str(["<|x|>", "<|", "'s", "a/"][random.below(4)]);
        }
    }
    text
}

fn encoder(random: &mut Random, text: &str, pattern: Pattern) -> Encoder {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for _ in 0..random.below(40) {
        let start = random.below(text.len());
        let token = text.as_bytes()[start..text.len().min(start + 2 + random.below(5))].to_vec();
        if token.len() > 1 && !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    let tokens: Vec<(u32, Vec<u8>)> = (0..).zip(tokens).collect();
    let vocab = Vocab::new(&tokens, None, &[(b"<|x|>".to_vec(), None)]).unwrap();
    Encoder::new(vocab, Pretokenizer { pattern, unmatched: Unmatched::Keep }).unwrap()
}

fn slow_split(encoder: &Encoder, text: &str, limit: usize, overlap: usize, special: bool) -> Vec<String> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    while start < text.len() {
        let tail = &text[start..];
        let mut spans = Spans::default();
        encoder.encode(tail.as_bytes(), special, &mut spans, &Control::none()).unwrap();
        let mut ends: Vec<usize> = spans.spans.iter().take(limit).map(|span| span.end).collect();
        while let Some(&end) = ends.last() {
            let fits =
                |piece: &str| encoder.count(piece.as_bytes(), special, &Control::none()).unwrap() <= limit;
            if tail.is_char_boundary(end) && fits(&tail[..end]) {
                break;
            }
            ends.pop();
        }
        if ends.is_empty() {
            ends.push(tail.chars().next().unwrap().len_utf8());
        }
        let end = ends[ends.len() - 1];
        pieces.push(tail[..end].to_owned());
        if end == tail.len() {
            break;
        }
        let first = ends.len().saturating_sub(overlap + 1);
        start += ends[first..].iter().copied().find(|&end| tail.is_char_boundary(end)).unwrap_or(end);
    }
    pieces
}

#[test]
fn pieces_are_those_made_of_the_whole_rest() {
    let mut random = Random::new(3);
    let control = Control::none();
    let named = Named::ALL.map(|named| Pattern::Named(named, Isa::best()));
    for round in 0..if cfg!(debug_assertions) { 1_500 } else { 4_000 } {
        let text = text(&mut random);
        let pattern = named.get(round % (named.len() + 1)).cloned().unwrap_or(Pattern::Whole);
        let encoder = encoder(&mut random, &text, pattern.clone());
        let limit = 4 + random.below(9);
        let overlap = random.below(3);
        let special = random.below(3) > 0;
        let pieces = encoder.split(&text, limit, overlap, special, &control).unwrap();
        let pieces: Vec<&str> = pieces.into_iter().map(|range| &text[range]).collect();
        let expected = slow_split(&encoder, &text, limit, overlap, special);
        let name = match &pattern {
            Pattern::Named(named, _) => named.name(),
            _ => "none",
        };
        assert_eq!(pieces, expected, "{name} {limit} {overlap} {special} {text:?}");
    }
}
