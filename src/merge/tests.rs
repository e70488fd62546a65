use super::{FirstTokens, Merger, Pairs, long, placed_tokens, short};
use crate::control::Control;
use crate::random::Random;
use crate::simd::Isa;

type Listed = Vec<((u32, u32), u32)>;

/// The characters of a vocabulary of characters: the first one is token 300.
const CHARACTERS: [&str; 5] = ["a", "b", " ", "é", "漢"];

/// An empty table for merging that begins with bytes.
fn byte_pairs(count: usize) -> Pairs {
    Pairs::new(std::array::from_fn(|byte| byte as u32), count)
}

/// Random pairs, some of which no text reaches, with ascending ranks: over a few letters, or over characters,
/// some of them beyond ASCII.
fn random_pairs(random: &mut Random, of_characters: bool) -> (Listed, Pairs) {
    let tokens = (300..).zip(CHARACTERS).map(|(token, character)| (character.as_bytes(), token));
    let bytes = Box::new(std::array::from_fn(|byte| byte as u32));
    let (first, made, mut pairs) = match of_characters {
        true => ((300..305).collect(), 400, Pairs::of_first_tokens(FirstTokens::new(tokens, bytes), 30)),
        false => (b"ab ".map(u32::from).to_vec(), 256, byte_pairs(30)),
    };
    let mut listed: Listed = Vec::new();
    for _ in 0..random.below(30) {
        let mut pick = || match random.below(2) {
            0 => first[random.below(first.len())],
            _ => listed.get(random.below(listed.len() + 1)).map_or(first[0], |&(_, result)| result),
        };
        let pair = (pick(), pick());
        if listed.iter().all(|&(other, _)| other != pair) {
            let result = made + listed.len() as u32;
            assert_eq!(pairs.insert(pair.0, pair.1, listed.len() as u32, result), Ok(()));
            listed.push((pair, result));
        }
    }
    (listed, pairs)
}

/// The symbols that merging begins with.
fn symbols(pairs: &Pairs, text: &[u8]) -> Vec<u32> {
    match pairs.first_tokens() {
        Some(first_tokens) => first_tokens.symbols(text).map(|(_, token)| token).collect(),
        None => text.iter().map(|&byte| u32::from(byte)).collect(),
    }
}

/// Random texts: runs of one part, short cycles, runs that are rarely interrupted, and random parts.
fn random_text(random: &mut Random, parts: &[&str], kind: usize, count: usize) -> Vec<u8> {
    let cycle: Vec<&str> = (0..1 + random.below(9)).map(|_| parts[random.below(parts.len())]).collect();
    let text = (0..count).map(|at| match kind {
        0 => parts[0],
        1 => cycle[at % cycle.len()],
        2 if random.below(90) > 0 => parts[0],
        _ => parts[random.below(parts.len())],
    });
    text.collect::<String>().into_bytes()
}

/// BPE by its definition: the lowest rank merges first, then the leftmost place, until nothing merges.
fn by_definition(listed: &Listed, mut tokens: Vec<u32>) -> Vec<u32> {
    for _ in 0..tokens.len() {
        let best = listed.iter().find_map(|&(pair, result)| {
            let at = tokens.windows(2).position(|p| (p[0], p[1]) == pair)?;
            Some((at, result))
        });
        let Some((at, result)) = best else { break };
        tokens.splice(at..at + 2, [result]);
    }
    tokens
}

/// Merges with the heap alone.
fn heap(pairs: &Pairs, text: &[u8]) -> Vec<u32> {
    let mut tokens = placed_tokens::PlacedTokens::default();
    long::PartHeap::default().merge(pairs, (text, 0), || false, &mut tokens, &Control::none()).unwrap();
    tokens.tokens
}

fn merged(pairs: &Pairs, text: &[u8]) -> Vec<u32> {
    let mut tokens = Vec::new();
    Merger::new(Isa::best()).merge(pairs, text, &mut tokens, &Control::none()).unwrap();
    tokens
}

/// Checks all ways of merging.
fn assert_merged(pairs: &Pairs, text: &[u8], expected: &[u32]) {
    assert_eq!(heap(pairs, text), expected, "{}", text.escape_ascii());
    assert_eq!(merged(pairs, text), expected, "{}", text.escape_ascii());
    for isa in Isa::available().filter(|_| text.len() <= short::MAX_SHORT_BYTES) {
        let mut scan = vec![];
        short::merge(isa, pairs, text, &mut scan);
        assert_eq!(scan, expected, "{} {}", isa.name(), text.escape_ascii());
    }
}

#[test]
fn all_ways_of_merging_agree_with_the_definition() {
    let mut random = Random::new(1);
    for round in 0..1200 {
        let (listed, pairs) = random_pairs(&mut random, round % 2 == 0);
        let parts: &[&str] =
            if round % 2 == 0 { &["a", "é", "漢", "字", "b "] } else { &["a", "a", "b", " "] };
        for _ in 0..15 {
            let count = 1 + random.below(90);
            let text = random_text(&mut random, parts, 3, count);
            assert_merged(&pairs, &text, &by_definition(&listed, symbols(&pairs, &text)));
        }
    }
}

#[test]
fn windows_give_the_tokens_of_the_whole() {
    let mut random = Random::new(2);
    for round in 0..600 {
        let of_characters = round % 3 == 0;
        let (_, pairs) = random_pairs(&mut random, of_characters);
        let parts: &[&str] = if of_characters { &["é", "a", "漢", "字"] } else { &["a", "a", "b", " "] };
        for kind in 0..4 {
            let count = 65 + random.below(if round % 8 == 0 { 9_000 } else { 900 });
            let text = random_text(&mut random, parts, kind, count);
            assert_eq!(merged(&pairs, &text), heap(&pairs, &text), "{kind} {}", text.escape_ascii());
        }
    }
}

#[test]
fn the_last_byte_can_decide_all_tokens() {
    // The letters of a cycle merge in pairs from the left, unless a token at the end has taken a letter: (b
    // a) (b a) … and (a b) (a b) … differ everywhere because of the last byte.
    let mut pairs = byte_pairs(400);
    let listed: Listed = vec![((b'b'.into(), b'!'.into()), 256), ((b'a'.into(), 256), 257)];
    let mut all = listed.clone();
    let mut last = 257;
    for _ in 0..300 {
        // Each merge adds two letters on the left.
        let left = if all.len().is_multiple_of(2) { b'b' } else { b'a' };
        let result = 256 + all.len() as u32;
        all.push(((left.into(), last), result));
        last = result;
    }
    all.push(((b'a'.into(), b'b'.into()), 256 + all.len() as u32));
    all.push(((b'b'.into(), b'a'.into()), 256 + all.len() as u32));
    for (rank, &((left, right), result)) in (0..).zip(&all) {
        pairs.insert(left, right, rank, result).unwrap();
    }
    for len in [1, 2, 30, 63, 64, 65, 66, 127, 200, 299, 310, 400] {
        let mut text: Vec<u8> = (0..len).map(|at| b"ab"[at % 2]).collect();
        text.push(b'!');
        assert_merged(&pairs, &text, &by_definition(&all, symbols(&pairs, &text)));
    }
}

#[test]
fn merging_a_long_pretoken_takes_little_time() {
    let mut pairs = byte_pairs(10);
    let mut half = 97;
    for power in 0..10 {
        pairs.insert(half, half, power, 256 + power).unwrap();
        half = 256 + power;
    }
    let mut tokens = Vec::new();
    Merger::new(Isa::best())
        .merge(&pairs, &vec![b'a'; (1 << 20) + 5], &mut tokens, &Control::none())
        .unwrap();
    assert_eq!(tokens.len(), (1 << 10) + 2);
    assert_eq!(tokens[1 << 10..], [257, 97]);
}

#[test]
fn of_pairs_of_one_rank_the_leftmost_merges_first() {
    let mut random = Random::new(6);
    for _ in 0..600 {
        let (listed, pairs) = random_pairs(&mut random, true);
        let count = 1 + random.below(4);
        let ranks: Vec<u32> = listed.iter().map(|_| random.below(count) as u32).collect();
        let mut tied = pairs.without_merges(listed.len());
        for (&((left, right), result), &rank) in listed.iter().zip(&ranks) {
            tied.insert_shared(left, right, rank, result).unwrap();
        }
        let place = |pair: &[u32]| listed.iter().position(|&((left, right), _)| pair == [left, right]);
        for _ in 0..10 {
            let count = 1 + random.below(200);
            let text = random_text(&mut random, &["a", "é", "é", "漢", "b "], 3, count);
            let mut expected = symbols(&tied, &text);
            let first_pair = |tokens: &[u32]| {
                let places = tokens.windows(2).enumerate().filter_map(|(at, pair)| Some((at, place(pair)?)));
                places.min_by_key(|&(at, place)| (ranks[place], at))
            };
            while let Some((at, place)) = first_pair(&expected) {
                expected.splice(at..at + 2, [listed[place].1]);
            }
            assert_merged(&tied, &text, &expected);
        }
    }
}

#[test]
fn tokens_merge_further_as_the_definition_says() {
    let (mut random, mut merger) = (Random::new(5), Merger::new(Isa::best()));
    for _ in 0..2000 {
        let (listed, pairs) = random_pairs(&mut random, false);
        // The first merges, then the others: in one list or in two stages, the result is the same.
        let count = random.below(listed.len() + 1);
        let len = 2 + random.below(90);
        let text = random_text(&mut random, &["a", "b", " "], 3, len);
        let mut tokens = by_definition(&listed[..count].to_vec(), symbols(&pairs, &text));
        let expected = by_definition(&listed, tokens.clone());
        let mut ranks = tokens.windows(2).map(|pair| pairs.rank_of_symbols(pair[0], pair[1])).collect();
        if tokens.len() > 1 {
            merger.merge_tokens(&pairs, &mut tokens, &mut ranks, &Control::none()).unwrap();
        }
        assert_eq!(tokens, expected);
    }
}
