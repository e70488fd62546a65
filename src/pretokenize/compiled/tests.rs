//! The automaton against a matcher that backtracks, on random patterns and all short texts.

use std::sync::Arc;

use super::*;
use crate::pretokenize::{CutRule, Pattern, Pretokenizer, Unmatched};
use crate::random::Random;
use crate::simd::{ENDS, Isa};

/// One character of each class: a, b, c, a letter of two bytes, a newline, a space; other text is a class of
/// its own.
const LETTERS: [&str; 7] = ["a", "b", "c", "é", "\n", " ", "漢"];
const NEWLINE: usize = 4;

fn alphabet() -> Alphabet {
    let single = |letter: &&str| {
        let code_point = letter.chars().next().unwrap() as u32;
        std::iter::once(code_point..code_point + 1).collect()
    };
    Alphabet::new(&LETTERS[..6].iter().map(single).collect::<Vec<_>>()).unwrap()
}

/// What the definition says: the first match that a backtracking engine finds, as an end.
///
/// `next` is what must match after the expression. The text is a list of symbols.
fn backtrack(
    expression: &Expression,
    text: &[Symbol],
    at: usize,
    newline: Symbol,
    next: &mut dyn FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    match expression {
        Expression::Set(set) => (at < text.len() && set.has(text[at])).then(|| next(at + 1)).flatten(),
        Expression::Sequence(all) => match all.split_first() {
            None => next(at),
            Some((first, tail)) => {
                let tail = Expression::Sequence(tail.to_vec());
                backtrack(first, text, at, newline, &mut |at| backtrack(&tail, text, at, newline, next))
            }
        },
        Expression::Alternatives(all) => all.iter().find_map(|part| backtrack(part, text, at, newline, next)),
        Expression::Atomic(inner) => next(backtrack(inner, text, at, newline, &mut Some)?),
        Expression::LookAhead { inner, negated } => {
            let matches = backtrack(inner, text, at, newline, &mut Some).is_some();
            if matches == *negated { None } else { next(at) }
        }
        Expression::End => {
            if at == text.len() {
                next(at)
            } else {
                None
            }
        }
        Expression::LineEnd => {
            let tail = &text[at..];
            if tail.is_empty() || tail == [newline] { next(at) } else { None }
        }
        Expression::Repeated { inner, min, max, kind } => {
            let shorter = Expression::Repeated {
                inner: inner.clone(),
                min: min.saturating_sub(1),
                max: max.map(|max| max.saturating_sub(1)),
                kind: *kind,
            };
            if *kind == Repeat::Possessive {
                let greedy =
                    Expression::Repeated { inner: inner.clone(), min: *min, max: *max, kind: Repeat::Greedy };
                return backtrack(&Expression::Atomic(Box::new(greedy)), text, at, newline, next);
            }
            let more = |next: &mut dyn FnMut(usize) -> Option<usize>| {
                if *max == Some(0) {
                    return None;
                }
                backtrack(inner, text, at, newline, &mut |end| {
                    // Once nothing more is needed, a turn that takes nothing ends the repeat.
                    if end == at && *min == 0 { None } else { backtrack(&shorter, text, end, newline, next) }
                })
            };
            match (min, kind) {
                (1.., _) => more(next),
                (0, Repeat::Lazy) => next(at).or_else(|| more(next)),
                (0, _) => more(next).or_else(|| next(at)),
            }
        }
    }
}

/// Pretokens by the definition: matches, and unless they are left out, what lies between them.
fn expected(
    expression: &Expression,
    text: &[Symbol],
    newline: Symbol,
    keeps_unmatched: bool,
) -> Vec<(usize, usize)> {
    let (mut ranges, mut at, mut gap) = (Vec::new(), 0, 0);
    while at < text.len() {
        match backtrack(expression, text, at, newline, &mut Some) {
            Some(end) => {
                if gap < at && keeps_unmatched {
                    ranges.push((gap, at));
                }
                ranges.push((at, end));
                (at, gap) = (end, end);
            }
            None => at += 1,
        }
    }
    if gap < at && keeps_unmatched {
        ranges.push((gap, at));
    }
    ranges
}

impl Random {
    fn expression(&mut self, depth: u32, alphabet: &Alphabet) -> Expression {
        let symbols = u64::from(alphabet.end());
        let parts = |random: &mut Random| {
            (0..2 + random.below64(2)).map(|_| random.expression(depth - 1, alphabet)).collect()
        };
        match if depth == 0 { 0 } else { self.below64(11) } {
            0..=3 => {
                let members =
                    (0..1 + self.below64(3)).map(|_| self.below64(symbols) as Symbol).collect::<Vec<_>>();
                let set = SymbolSet::of(members);
                Expression::Set(if self.below64(4) == 0 {
                    alphabet.characters().difference(set)
                } else {
                    set
                })
            }
            4..=5 => Expression::Sequence(parts(self)),
            6..=7 => Expression::Alternatives(parts(self)),
            8..=9 => {
                let (min, more) = (self.below64(3) as u32, self.below64(3) as u32);
                Expression::Repeated {
                    inner: Box::new(self.expression(depth - 1, alphabet)),
                    min,
                    max: (self.below64(2) == 0).then_some((min + more).max(1)),
                    kind: [Repeat::Greedy, Repeat::Lazy, Repeat::Possessive][self.below64(3) as usize],
                }
            }
            _ => match self.below64(4) {
                0 => Expression::End,
                1 => Expression::Atomic(Box::new(self.expression(depth - 1, alphabet))),
                _ => Expression::LookAhead {
                    inner: Box::new(self.expression(depth - 1, alphabet)),
                    negated: self.below64(2) == 0,
                },
            },
        }
    }
}

fn pretokens(automaton: &Arc<Automaton>, text: &str, keeps_unmatched: bool) -> Vec<(usize, usize)> {
    let unmatched = if keeps_unmatched { Unmatched::Keep } else { Unmatched::Drop };
    let pretokenizer = Pretokenizer { pattern: Pattern::Compiled(Arc::clone(automaton)), unmatched };
    let ranges = pretokenizer.ranges(text.as_bytes()).unwrap();
    ranges.into_iter().map(|range| (range.start, range.end)).collect()
}

/// Compares pretokens and cuts of one text.
fn check(expression: &Expression, automaton: &Arc<Automaton>, letters: &[usize], alphabet: &Alphabet) {
    let text: String = letters.iter().map(|&letter| LETTERS[letter]).collect();
    for (keeps_unmatched, expected) in check_pretokens(expression, automaton, letters, alphabet) {
        let is_cut = |at: &usize| automaton.is_cut(text.as_bytes(), *at, keeps_unmatched);
        for at in (1..text.len()).filter(|&at| text.is_char_boundary(at)).filter(is_cut) {
            let mut parts = pretokens(automaton, &text[..at], keeps_unmatched);
            let shifted = |(start, end)| (start + at, end + at);
            parts.extend(pretokens(automaton, &text[at..], keeps_unmatched).into_iter().map(shifted));
            assert_eq!(parts, expected, "{expression:?} on {text:?}, cut at {at}");
        }
    }
}

/// Compares the pretokens of one text, kept and left out, and returns them. The definition counts in
/// characters.
fn check_pretokens(
    expression: &Expression,
    automaton: &Arc<Automaton>,
    letters: &[usize],
    alphabet: &Alphabet,
) -> [(bool, Vec<(usize, usize)>); 2] {
    let text: String = letters.iter().map(|&letter| LETTERS[letter]).collect();
    let symbols: Vec<Symbol> =
        text.char_indices().map(|(at, _)| alphabet.decode(text.as_bytes(), at).0).collect();
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    places.push(text.len());
    let newline = alphabet.decode(b"\n", 0).0;
    [true, false].map(|keeps_unmatched| {
        let expected: Vec<_> = expected(expression, &symbols, newline, keeps_unmatched)
            .into_iter()
            .map(|(start, end)| (places[start], places[end]))
            .collect();
        for isa in Isa::available() {
            let (mut ranges, mut ends) = (Vec::new(), [0; ENDS]);
            let mut scanner = CompiledScanner::new(isa, automaton, text.as_bytes(), keeps_unmatched);
            while let (mut start, count @ 1..) = scanner.fill(&mut ends).unwrap() {
                ranges.extend(ends[..count].iter().map(|&end| (std::mem::replace(&mut start, end), end)));
            }
            assert!(
                ranges == expected,
                "{expression:?} on {text:?}, keeps the rest: {keeps_unmatched}, {}",
                isa.name()
            );
        }
        (keeps_unmatched, expected)
    })
}

#[test]
fn random_patterns_match_as_backtracking_does() {
    let mut random = Random::new(1);
    let (mut compiled, mut cuts, mut bimachines) = (0, 0, 0);
    for _ in 0..3000 {
        let alphabet = alphabet();
        let expression = random.expression(4, &alphabet);
        let Ok(automaton) = compile(&expression, alphabet, NEWLINE, None) else { continue };
        compiled += 1;
        bimachines += usize::from(automaton.is_bimachine());
        cuts += usize::from((0..48).any(|pair| {
            let text = format!("{}{}", LETTERS[pair / 7], LETTERS[pair % 7]);
            automaton.is_cut(text.as_bytes(), LETTERS[pair / 7].len(), true)
        }));
        let alphabet = self::alphabet();
        for _ in 0..25 {
            let letters: Vec<usize> =
                (0..1 + random.below64(12)).map(|_| random.below64(LETTERS.len() as u64) as usize).collect();
            check(&expression, &automaton, &letters, &alphabet);
        }
    }
    assert!(compiled > 1000, "only {compiled} of the patterns were compiled");
    assert!(cuts > 250, "only {cuts} of the patterns have cuts");
    assert!(bimachines > 900 && bimachines < compiled, "{bimachines} of {compiled} patterns have bimachines");
}

#[test]
fn all_short_texts_match_as_backtracking_does() {
    let mut random = Random::new(2);
    let mut compiled = 0;
    while compiled < 60 {
        let alphabet = alphabet();
        let expression = random.expression(3, &alphabet);
        let Ok(automaton) = compile(&expression, alphabet, NEWLINE, None) else { continue };
        compiled += 1;
        let alphabet = self::alphabet();
        for len in 1..5 {
            for number in 0..LETTERS.len().pow(len) {
                let letters: Vec<usize> =
                    (0..len).map(|place| number / LETTERS.len().pow(place) % LETTERS.len()).collect();
                check(&expression, &automaton, &letters, &alphabet);
            }
        }
    }
}

#[test]
fn long_texts_match_as_backtracking_does() {
    // The definition calls itself for each character of a match.
    let checks = || {
        let mut random = Random::new(3);
        let mut in_stripes = 0;
        while in_stripes < 100 {
            let alphabet = alphabet();
            let expression = random.expression(3, &alphabet);
            // One character of any class, so that all text is matched.
            let any = Expression::Set(alphabet.characters());
            let expression = if random.below64(2) == 0 {
                Expression::Alternatives(vec![repeated(expression, Repeat::Greedy), any])
            } else {
                // A cut before each newline.
                let newlines = repeated(set("\n"), Repeat::Possessive);
                let no_newline = Expression::LookAhead { inner: Box::new(set("\n")), negated: true };
                let guarded = Expression::Sequence(vec![no_newline, expression]);
                Expression::Alternatives(vec![newlines, guarded, any])
            };
            let Ok(automaton) = compile(&expression, alphabet, NEWLINE, None) else { continue };
            let alphabet = self::alphabet();
            let letters: Vec<usize> = (0..9000)
                .map(|_| random.below64(LETTERS.len() as u64 + 3).min(6) as usize % LETTERS.len())
                .collect();
            in_stripes += usize::from(automaton.is_bimachine());
            check_pretokens(&expression, &automaton, &letters, &alphabet);
        }
    };
    std::thread::Builder::new().stack_size(1 << 29).spawn(checks).unwrap().join().unwrap();
}

fn set(letters: &str) -> Expression {
    let alphabet = alphabet();
    Expression::Set(SymbolSet::of(
        letters.char_indices().map(|(at, _)| alphabet.decode(letters.as_bytes(), at).0),
    ))
}

fn repeated(inner: Expression, kind: Repeat) -> Expression {
    Expression::Repeated { inner: Box::new(inner), min: 1, max: None, kind }
}

#[test]
fn what_depends_on_the_start_of_a_text_is_known_in_all_windows() {
    // `[ab][ab]|c+a|c+|.`: in a run of a and b every second place is an end, and in one of c none.
    let pair = Expression::Sequence(vec![set("ab"), set("ab")]);
    let cs = || repeated(set("c"), Repeat::Greedy);
    let any = Expression::Set(alphabet().characters());
    let expression =
        Expression::Alternatives(vec![pair, Expression::Sequence(vec![cs(), set("a")]), cs(), any]);
    let automaton = compile(&expression, alphabet(), NEWLINE, None).unwrap();
    assert!(automaton.is_bimachine());
    let mut random = Random::new(8);
    for len in [500, 3000, 3001, 4095, 8000, 8001] {
        let run: Vec<usize> = (0..len).map(|_| random.below64(2) as usize).collect();
        let cs = vec![2; len % 3000];
        check_pretokens(&expression, &automaton, &[&cs[..], &[4], &run, &cs, &[0]].concat(), &alphabet());
        check_pretokens(&expression, &automaton, &[&[4], &run[..]].concat(), &alphabet());
    }
}

#[test]
fn cuts_are_found_as_in_the_scanners() {
    // ` ?[^\s]+|\s+(?!\S)|\s+`, with a, b and c for text: before a space that follows text, as in GPT-2's.
    let text = || repeated(set("abcé漢"), Repeat::Greedy);
    let spaces = || repeated(set(" \n"), Repeat::Greedy);
    let not_text = Expression::LookAhead { inner: Box::new(set("abcé漢")), negated: true };
    let optional =
        Expression::Repeated { inner: Box::new(set(" ")), min: 0, max: Some(1), kind: Repeat::Greedy };
    let expression = Expression::Alternatives(vec![
        Expression::Sequence(vec![optional, text()]),
        Expression::Sequence(vec![spaces(), not_text]),
        spaces(),
    ]);
    let automaton = compile(&expression, alphabet(), NEWLINE, None).unwrap();
    let rule = CutRule::Compiled { automaton, keeps_unmatched: true };
    let text = "ab c\né  a\n\nb 漢 b";
    let cuts: Vec<usize> = (0..=text.len()).filter(|&at| rule.is_cut(text.as_bytes(), at)).collect();
    assert_eq!(cuts, [2, 4, 7, 10, 13, 17]);
}
