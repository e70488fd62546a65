use super::many::tests::check;
use super::search::{MAX_FORWARD_BYTES, MIN_FILTERED_TOKENS, SearchMethod};
use super::*;
use crate::control::Control;
use crate::error::Error;
use crate::pretokenize::cut::may_cut_inside;
use crate::random::Random;

impl Random {
    /// A word that makes naive searches read bytes again: periodic, a Fibonacci word, or random.
    fn hard_word(&mut self, letters: &[u8]) -> Vec<u8> {
        let len = 1 + self.below(400);
        let period = 1 + self.below(6);
        match self.below(4) {
            0 => self.text(letters, len),
            1 => fibonacci(len, letters[0], letters[self.below(letters.len())]),
            _ => self.text(letters, period).into_iter().cycle().take(len).collect(),
        }
    }
}

/// The first `len` letters of the Fibonacci word, which maps to itself when each `left` becomes `left right`
/// and each `right` becomes `left`.
fn fibonacci(len: usize, left: u8, right: u8) -> Vec<u8> {
    let (mut word, mut before) = (vec![left], vec![right]);
    while word.len() < len {
        let next = [&word[..], &before].concat();
        before = std::mem::replace(&mut word, next);
    }
    word.truncate(len);
    word
}

pub(super) fn distinct(mut tokens: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    tokens.sort();
    tokens.dedup();
    tokens
}

fn find_all(tokens: &[Vec<u8>], text: &[u8]) -> Vec<(usize, usize)> {
    let (specials, control) = (Specials::new(tokens.to_vec()).unwrap(), Control::none());
    let mut matches = specials.matches(text, 0);
    std::iter::from_fn(|| matches.next(&control).unwrap())
        .map(|special| (special.index, special.range.start))
        .collect()
}

/// The definition of the search.
pub(super) fn naive(tokens: &[Vec<u8>], text: &[u8]) -> Vec<(usize, usize)> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let starts = (0..tokens.len()).filter(|&index| text[at..].starts_with(&tokens[index]));
        match starts.max_by_key(|&index| tokens[index].len()) {
            None => at += 1,
            Some(index) => {
                all.push((index, at));
                at += tokens[index].len();
            }
        }
    }
    all
}

#[test]
fn tokens_of_any_length_are_found_as_defined() {
    let mut random = Random::new(1);
    let mut long = 0;
    for round in 0..1500 {
        let letters = &b"abcde"[..1 + round % 5];
        let word = random.hard_word(letters);
        let mut tokens: Vec<Vec<u8>> = (0..1 + random.below(8)).map(|_| random.hard_word(letters)).collect();
        let len = 1 + random.below(20);
        tokens.extend((0..random.below(40)).map(|_| random.text(letters, len)));
        // Prefixes, suffixes and parts of one word.
        for _ in 0..random.below(8) {
            let from = random.below(word.len());
            let part = word[from..from + 1 + random.below(word.len() - from)].to_vec();
            tokens.extend([word[..part.len()].to_vec(), word[from..].to_vec(), part]);
        }
        if round % 2 == 0 {
            tokens.iter_mut().for_each(|token| token.truncate(MAX_FORWARD_BYTES));
        }
        let tokens = distinct(tokens);
        let text: Vec<u8> = (0..random.below(8))
            .flat_map(|_| match random.below(3) {
                0 => random.hard_word(letters),
                1 => word.repeat(1 + random.below(3)),
                _ => tokens[random.below(tokens.len())].clone(),
            })
            .collect();
        match tokens.iter().any(|token| token.len() > MAX_FORWARD_BYTES) {
            true => long += 1,
            false => check(&tokens, &text),
        }
        assert_eq!(find_all(&tokens, &text), naive(&tokens, &text), "{tokens:?} in {}", text.escape_ascii());
    }
    assert!(long > 500);
}

#[test]
fn tokens_with_one_prefix_and_too_many_lengths_use_the_automaton() {
    let mut random = Random::new(4);
    for lengths in [32, 33, 100] {
        let mut tokens: Vec<Vec<u8>> =
            (0..lengths).map(|at| [b"12345678", &b"a".repeat(at)[..]].concat()).collect();
        tokens.extend((0..MIN_FILTERED_TOKENS).map(|_| random.text(b"xyz", 9)));
        let tokens = distinct(tokens);
        let search = SearchMethod::new(&tokens, MAX_FORWARD_BYTES).unwrap();
        assert_eq!(matches!(search, SearchMethod::Long(_)), lengths > 32);
        let text: Vec<u8> = (0..60)
            .flat_map(|round| match round % 3 {
                0 => random.text(b"xyz", 9),
                _ => [b"12345678", &b"a".repeat(random.below(110))[..]].concat(),
            })
            .collect();
        assert_eq!(find_all(&tokens, &text), naive(&tokens, &text));
    }
}

/// Tokens and texts for which other searches take quadratic time.
fn hard(len: usize) -> Vec<(Vec<Vec<u8>>, Vec<u8>)> {
    let run = |len: usize| vec![b'x'; len];
    let behind = |len: usize, last: u8| [run(len), vec![last]].concat();
    let many = (0..4000_u32).map(|n| [&n.to_le_bytes()[..2], &run(n as usize % 200 + 1)].concat());
    vec![
        (vec![run(MAX_TOKEN_BYTES)], run(len)),
        (vec![run(MAX_TOKEN_BYTES - 1), behind(MAX_TOKEN_BYTES - 1, b'y')], run(len)),
        (vec![behind(3000, b'y'), b"x".to_vec()], run(len)),
        (vec![[&b"a"[..], &run(3000), b"y"].concat(), b"x".to_vec()], b"axx".repeat(len / 3)),
        (
            vec![b"ax".repeat(1500), [&b"ax".repeat(1500)[..], b"y"].concat(), b"x".to_vec()],
            b"ax".repeat(len / 2),
        ),
        (vec![fibonacci(3000, b'a', b'b'), b"a".to_vec()], fibonacci(len, b'a', b'b')),
        ((1..=1000).map(run).collect(), run(len)),
        ((1..1000).map(|at| behind(at, b'y')).collect(), run(len)),
        ((1..1000).map(|at| [vec![b'y'], run(at)].concat()).collect(), b"yxx".repeat(len / 3)),
        (distinct(many.collect()), run(len)),
    ]
}

#[test]
fn building_and_searching_are_linear() {
    for (tokens, text) in hard(100_000) {
        let name = tokens[0][..tokens[0].len().min(9)].escape_ascii();
        let bytes: usize = tokens.iter().map(Vec::len).sum();
        steps::take();
        let specials = Specials::new(tokens.clone()).unwrap();
        assert!(steps::take() <= 2 * bytes as u64, "{name}");
        assert!(matches!(specials.search, SearchMethod::Long(_)), "{name}");
        let control = Control::none();
        let mut matches = specials.matches(&text, 0);
        while matches.next(&control).unwrap().is_some() {}
        // Windows are small in tests. A byte is read for its own window, and for those before it that a token
        // could reach from.
        let read = text.len() * (1 + specials.max_len().div_ceil(512));
        assert!(steps::take() <= 2 * read as u64, "{name}");
    }
}

/// Whether a token lies across a place of a text, by the definition.
fn across(tokens: &[Vec<u8>], text: &[u8], at: usize) -> bool {
    tokens.iter().any(|token| {
        let from = (at + 1).saturating_sub(token.len());
        (from..at).any(|start| start + token.len() > at && text[start..].starts_with(token))
    })
}

fn next_cut(text: &[u8], from: usize) -> Option<usize> {
    (from.max(1)..text.len()).find(|&at| may_cut_inside(&text[at - 1..=at]))
}

#[test]
fn cuts_are_possible_where_no_token_lies_across() {
    let mut random = Random::new(3);
    for round in 0..300 {
        let max_len = [9, 90, 300][round % 3];
        let tokens = (0..1 + random.below(90)).map(|_| {
            let len = 2 + random.below(max_len);
            random.text(if round % 2 == 0 { b"ab \n" } else { b"a " }, len)
        });
        let tokens = distinct(tokens.collect());
        let specials = Specials::new(tokens.clone()).unwrap();
        let part = tokens[0].clone();
        let text = [random.text(b"ab \n", 150), part.repeat(3), random.text(b"a ", 150)].concat();
        let mut free = Vec::new();
        let mut at = 1;
        while let Some(cut) = specials.first_uncrossed(&text, at..text.len(), |from| next_cut(&text, from)) {
            free.push(cut);
            at = cut + 1;
        }
        let all = (1..text.len()).filter(|&at| may_cut_inside(&text[at - 1..=at]));
        assert_eq!(free, all.filter(|&at| !across(&tokens, &text, at)).collect::<Vec<_>>(), "{tokens:?}");
    }
}

#[test]
fn a_place_for_a_cut_is_found_in_linear_time() {
    let tokens = vec![b"a ".repeat(2000), b" a".to_vec()];
    let specials = Specials::new(tokens).unwrap();
    let text = b"a ".repeat(100_000);
    steps::take();
    assert_eq!(specials.first_uncrossed(&text, 1..text.len(), |from| next_cut(&text, from)), None);
    assert!(steps::take() <= 4 * text.len() as u64);
}

#[test]
fn overlap_agrees_with_its_definition_and_is_linear() {
    let mut random = Random::new(4);
    let share = |left: &[u8], right: &[u8]| {
        let ends = (1..=left.len().min(right.len())).any(|size| left[left.len() - size..] == right[..size]);
        ends || left.windows(right.len()).any(|part| part == right)
    };
    let (mut yes, mut no) = (0, 0);
    for round in 0..2000 {
        let letters = &b"abcdefghi"[..2 + round % 8];
        let mut words = || {
            let words = (0..random.below(4)).map(|_| random.below(7) + 1).collect::<Vec<_>>();
            words.into_iter().map(|len| random.text(letters, len)).collect::<Vec<_>>()
        };
        let (first, second) = (words(), words());
        let any =
            first.iter().any(|left| second.iter().any(|right| share(left, right) || share(right, left)));
        assert_eq!(overlap(first.clone(), second.clone()).unwrap(), any, "{first:?} {second:?}");
        if any { yes += 1 } else { no += 1 }
    }
    assert!(yes > 200 && no > 200);
    let runs = |first: u8| (1..=600).map(|len| [vec![first], vec![b'x'; len]].concat()).collect::<Vec<_>>();
    steps::take();
    assert!(!overlap(runs(b'a'), runs(b'b')).unwrap());
    assert!(steps::take() <= 4 * 2 * 600 * 300);
}

#[test]
fn tokens_that_are_too_long_are_refused_by_name() {
    assert!(Specials::new(vec![vec![b'x'; MAX_TOKEN_BYTES]]).is_ok());
    let long = [&b"x".repeat(MAX_TOKEN_BYTES)[..], b"y"].concat();
    let message = "special token number 1, which begins with b\"xxxxxxxxxxxxxxxxxxxxxxxx\", has 4097 bytes: the \
                   maximum is 4096";
    assert_eq!(Specials::new(vec![b"a".to_vec(), long.clone()]).unwrap_err().to_string(), message);
    assert_eq!(overlap(Vec::new(), vec![b"a".to_vec(), long]).unwrap_err().to_string(), message);
    let many = (0..=MAX_SET_BYTES / MAX_TOKEN_BYTES)
        .map(|n| [&[b'x'; MAX_TOKEN_BYTES - 8][..], &n.to_le_bytes()].concat());
    let message =
        "too many or too long special tokens: they have 16781312 bytes together, the maximum is 16777216";
    assert_eq!(Specials::new(many.collect()).unwrap_err().to_string(), message);
}

#[test]
fn a_search_ends_when_the_control_is_stopped() {
    let control = Control::none();
    control.stop();
    for tokens in [vec![b"x".to_vec()], vec![b"z".to_vec()], vec![vec![b'x'; 200]], vec![vec![b'z'; 200]]] {
        for more in [0, MIN_FILTERED_TOKENS] {
            let more = (0..more).map(|n| format!("<{n}>").into_bytes());
            let specials = Specials::new(tokens.iter().cloned().chain(more).collect()).unwrap();
            let text = vec![b'x'; 5000];
            let mut segments = specials.segments(&text, &control);
            assert!(segments.any(|segment| matches!(segment, Err(Error::Interrupted))));
        }
    }
}
