//! Special tokens, few and many, and added tokens against trying every one at every place.

use toksmith::special::{AddedTokens, Flags, Segment, Specials, overlap};
use toksmith::{Control, Error};

use super::input::Input;
use crate::oracle;
use crate::random::Random;

const LETTERS: [&str; 6] = ["a", "b", " ", "\n", "é", "c"];

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let mut tokens: Vec<Vec<u8>> = (0..input.below(12)).map(|_| input.word(9, &LETTERS)).collect();
    // Longer than what is searched for with an automaton, and full of itself.
    let (times, other) = (input.pick(&[1, 1, 5, 30]), input.below(4));
    if let Some(token) = tokens.first_mut() {
        *token = token.repeat(times);
        let (end, mut longer) = (token.len() - token.len() / 3, token.clone());
        longer.truncate(end);
        longer.extend(b"b ".repeat(other));
        tokens.push(longer);
    }
    // Enough for the tables of many tokens.
    let (more, longest, seed) = (input.pick(&[0, 0, 52, 64, 70, 150]), 1 + input.below(12), input.byte());
    let mut random = Random::new(seed.into());
    tokens.extend((0..more).map(|_| {
        let len = 1 + random.below(longest);
        random.text(b"ab \nc<s>|\xc3\xa9", len)
    }));
    let repeated = input.flag();
    if !repeated {
        tokens.sort();
        tokens.dedup();
        tokens.retain(|token| !token.is_empty());
    }
    let flags: Vec<u8> = input.take(4).to_vec();
    let text = input.text(&LETTERS).into_boxed_slice();
    let specials = match Specials::new(tokens.clone()) {
        Ok(specials) => specials,
        Err(Error::Vocab(_)) => {
            let different: std::collections::HashSet<_> = tokens.iter().collect();
            return assert!(different.len() < tokens.len() || tokens.iter().any(Vec::is_empty));
        }
        Err(other) => panic!("{other}"),
    };
    overlapping(&tokens);
    let expected = oracle::segments(&tokens, &text);
    let found: Vec<Segment> = specials.segments(&text, &Control::none()).map(Result::unwrap).collect();
    assert_eq!(found, expected, "{tokens:?} in {}", text.escape_ascii());
    straddling(&specials, &tokens, &text);
    if let Ok(text) = std::str::from_utf8(&text) {
        added(&tokens, &flags, text, &expected);
    }
}

/// Whether an end of one token, or all of it, stands in another or at its beginning.
fn overlapping(tokens: &[Vec<u8>]) {
    let (first, second) = tokens.split_at(tokens.len() / 2);
    let touch = |one: &Vec<u8>, other: &Vec<u8>| {
        (1 - one.len() as isize..other.len() as isize).any(|at| {
            let start = at.max(0) as usize;
            let end = (at + one.len() as isize).min(other.len() as isize) as usize;
            let from = (start as isize - at) as usize;
            one[from..from + end - start] == other[start..end]
        })
    };
    if tokens.len() < 24 && tokens.iter().all(|token| token.len() < 40) {
        let expected = first.iter().any(|one| second.iter().any(|other| touch(one, other)));
        assert_eq!(overlap(first.to_vec(), second.to_vec()).unwrap(), expected, "{first:?} {second:?}");
    }
}

/// An occurrence lies across a place in front of whitespace, or behind a line's end.
fn straddling(specials: &Specials, tokens: &[Vec<u8>], text: &[u8]) {
    let mut places = Vec::new();
    for at in 1..text.len() {
        if text[at] == b' ' && text[at - 1] != b' ' || text[at - 1] == b'\n' {
            let across = |token: &Vec<u8>| {
                (at.saturating_sub(token.len() - 1)..at)
                    .any(|start| start + token.len() > at && text[start..].starts_with(token))
            };
            let free = specials.first_uncrossed(text, at..at + 1, Some);
            assert_eq!(free.is_none(), tokens.iter().any(across), "{tokens:?} {text:?} {at}");
            places.push((at, free.is_some()));
        }
    }
    // From each place on, the first free one of them.
    for start in 0..places.len() {
        let next = |from| places.iter().map(|&(at, _)| at).find(|&at| at >= from);
        let expected = places[start..].iter().find(|(_, free)| *free).map(|&(at, _)| at);
        assert_eq!(specials.first_uncrossed(text, places[start].0..text.len(), next), expected);
    }
}

/// The added tokens in a text, and the text between them.
fn segments(tokens: &AddedTokens, text: &str, special: bool) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut push = |segment| {
        segments.push(segment);
        Ok(true)
    };
    let all = 0..text.len();
    tokens.for_each(text.as_bytes(), all, &|_| special, &Control::none(), &mut push).unwrap();
    segments
}

/// Added tokens without flags are special tokens; with flags they are fewer and wider.
fn added(tokens: &[Vec<u8>], flags: &[u8], text: &str, expected: &[Segment]) {
    let names: Option<Vec<String>> =
        tokens.iter().map(|token| String::from_utf8(token.clone()).ok()).collect();
    let Some(names) = names else { return };
    let plain = names.iter().map(|name| (name.clone(), Flags::default())).collect();
    let found = segments(&AddedTokens::new(plain).unwrap(), text, true);
    assert_eq!(found, expected);
    let flag = |index: usize, bit: u8| flags.get(index % 4).is_some_and(|bits| bits & bit != 0);
    let flags = |index| Flags {
        single_word: flag(index, 1),
        lstrip: flag(index, 2),
        rstrip: flag(index, 4),
        special: flag(index, 8),
    };
    let flagged = names.iter().enumerate().map(|(index, name)| (name.clone(), flags(index))).collect();
    let tokens = AddedTokens::new(flagged).unwrap();
    for special in [true, false] {
        let found = segments(&tokens, text, special);
        let mut end = 0;
        for segment in &found {
            let (index, range) = match segment {
                Segment::Text(range) => (None, range.clone()),
                Segment::Special(token) => (Some(token.index), token.range.clone()),
            };
            assert!(range.start == end || index.is_some() && range.start < end, "{found:?}");
            end = range.end;
            let Some(index) = index else { continue };
            let flags = flags(index);
            assert!(special || !flags.special);
            assert!(
                text[range.clone()].contains(names[index].as_str()) || flags.lstrip || flags.rstrip,
                "{found:?}"
            );
            assert!(flags.lstrip || flags.rstrip || text[range] == names[index]);
        }
        assert_eq!(end, text.len());
    }
}
