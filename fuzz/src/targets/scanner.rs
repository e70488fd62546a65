//! The scanners of all patterns and instruction sets against the plain matcher of one pretoken, whole, cut
//! and settled.

use toksmith::pretokenize::{ENDS, Isa, Named, Pattern, Pretokenizer, Scanner, Unmatched, next};

use super::input::Input;

/// One character of each kind and length that some pattern or UTF-8 tells apart, and what contractions are
/// made of.
pub(super) const ALPHABET: [&str; 36] = [
    "a",
    "s",
    "l",
    "v",
    "e",
    "r",
    "d",
    "A",
    "L",
    "S",
    "é",
    "Д",
    "ſ",
    "ǅ",
    "ʰ",
    "中",
    "𐐷",
    "1",
    "٣",
    "²",
    " ",
    "\n",
    "\r",
    "\t",
    "\u{a0}",
    "\u{3000}",
    ".",
    "'",
    "/",
    "\u{301}",
    "。",
    "😀",
    "\u{1c}",
    "\u{e0100}",
    "\u{85}",
    "\u{200b}",
];

/// Put in front, so that what follows stands at any place of a block.
const FILLERS: [&str; 9] = ["x", " ", "é", ".", "\n", "A", "1", "/", "中"];

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let named = input.pick(&Named::ALL);
    let (filler, places) = (input.pick(&FILLERS), input.below(140));
    let at = input.below(256);
    let mut text = filler.repeat(places / filler.len()).into_bytes();
    text.extend(input.text(&ALPHABET));
    // Of no more room than it has bytes: what reads on is seen.
    let text = text.into_boxed_slice();
    let plain = plain_ends(named, &text);
    for isa in Isa::available() {
        assert_eq!(scanned_ends(named, isa, &text), plain, "{} with {}", named.name(), isa.name());
    }
    let at = if text.is_empty() { 0 } else { at % text.len() };
    cut(named, &text, at, &plain);
    settled(named, &text[..at], &plain);
}

fn plain_ends(named: Named, text: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = next(named, text, at);
        ends.push(at);
    }
    ends
}

fn scanned_ends(named: Named, isa: Isa, text: &[u8]) -> Vec<usize> {
    let mut scanner = Scanner::new(named, isa, text);
    let mut room = [0; ENDS];
    let mut ends = Vec::new();
    loop {
        let count = scanner.fill(&mut room);
        if count == 0 {
            return ends;
        }
        ends.extend_from_slice(&room[..count]);
    }
}

/// Both sides of a cut have the pretokens of the whole; a window shows no cut that the whole does not have.
fn cut(named: Named, text: &[u8], from: usize, whole: &[usize]) {
    let rule = named.cut_rule();
    let next_cut = rule.next_cut(text, from);
    assert_eq!(next_cut, (from..text.len()).find(|&at| rule.is_cut(text, at)));
    let Some(at) = next_cut else { return };
    let mut parts = plain_ends(named, &text[..at]);
    parts.extend(plain_ends(named, &text[at..]).iter().map(|end| at + end));
    assert_eq!(parts, whole, "{} is cut at {at}", named.name());
    let window = &text[from.saturating_sub(3)..];
    for at in 0..window.len() {
        let place = from.saturating_sub(3) + at;
        assert!(!rule.is_cut(window, at) || rule.is_cut(text, place), "{} at {place}", named.name());
    }
}

/// The settled pretokens of a beginning are those of the whole.
fn settled(named: Named, beginning: &[u8], whole: &[usize]) {
    let pretokenizer =
        Pretokenizer { pattern: Pattern::Named(named, Isa::best()), unmatched: Unmatched::Keep };
    let mut ends = Vec::new();
    let rest = pretokenizer.for_each_settled(beginning, |range| {
        ends.push(range.end);
        Ok(())
    });
    assert_eq!(rest.unwrap(), ends.last().copied().unwrap_or(0));
    assert_eq!(ends, whole[..ends.len()], "{} settles {}", named.name(), beginning.len());
}
