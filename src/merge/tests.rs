use super::{FirstTokens, Merger, Pairs, long, placed_tokens, short};
use crate::control::Control;
use crate::random::Random;
use crate::simd::Isa;

type Listed = Vec<((u32, u32), u32)>;

/// Random pairs over a few letters, some of which no text reaches, with ascending ranks.
fn random_pairs(random: &mut Random) -> (Listed, Pairs) {
    let mut listed: Listed = Vec::new();
    let mut pairs = Pairs::new(std::array::from_fn(|byte| byte as u32), 30);
    for _ in 0..random.below(30) {
        let mut pick = || match random.below(2) {
            0 => u32::from(b"ab "[random.below(3)]),
            _ => listed.get(random.below(listed.len() + 1)).map_or(97, |&(_, result)| result),
        };
        let pair = (pick(), pick());
        if listed.iter().any(|&(other, _)| other == pair) {
            continue;
        }
        let result = 256 + listed.len() as u32;
        assert_eq!(pairs.insert(pair.0, pair.1, listed.len() as u32, result), Ok(()));
        listed.push((pair, result));
    }
    (listed, pairs)
}

/// BPE by its definition: the lowest rank merges first, then the leftmost place, until nothing merges.
fn by_definition(listed: &Listed, text: &[u8]) -> Vec<u32> {
    merged_by_definition(listed, text.iter().map(|&byte| u32::from(byte)).collect())
}

fn merged_by_definition(listed: &Listed, mut tokens: Vec<u32>) -> Vec<u32> {
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
    tokens.into_tokens()
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
fn scan_and_heap_agree_with_the_definition() {
    let mut random = Random::new(1);
    for _ in 0..600 {
        let (listed, pairs) = random_pairs(&mut random);
        for _ in 0..20 {
            let len = 1 + random.below(80);
            let text: Vec<u8> = (0..len).map(|_| b"aab "[random.below(4)]).collect();
            assert_merged(&pairs, &text, &by_definition(&listed, &text));
        }
    }
}

#[test]
fn windows_give_the_tokens_of_the_whole() {
    let mut random = Random::new(2);
    for round in 0..400 {
        let (_, pairs) = random_pairs(&mut random);
        for kind in 0..4 {
            let len = 65 + random.below(if round % 8 == 0 { 9_000 } else { 900 });
            // Runs of one letter, short cycles, runs that are rarely interrupted, and random letters.
            let cycle: Vec<u8> = (0..1 + random.below(9)).map(|_| b"aab "[random.below(4)]).collect();
            let text: Vec<u8> = (0..len)
                .map(|at| match kind {
                    0 => b'a',
                    1 => cycle[at % cycle.len()],
                    2 if random.below(90) > 0 => b'a',
                    _ => b"aab "[random.below(4)],
                })
                .collect();
            assert_eq!(merged(&pairs, &text), heap(&pairs, &text), "{kind} {}", text.escape_ascii());
        }
    }
}

#[test]
fn the_last_byte_can_decide_all_tokens() {
    // The letters of a cycle merge in pairs from the left, unless a token at the end has taken a letter: (b
    // a) (b a) … and (a b) (a b) … differ everywhere because of the last byte.
    let mut pairs = Pairs::new(std::array::from_fn(|byte| byte as u32), 400);
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
        assert_merged(&pairs, &text, &by_definition(&all, &text));
    }
}

#[test]
fn merging_a_long_pretoken_takes_little_time() {
    let mut pairs = Pairs::new(std::array::from_fn(|byte| byte as u32), 10);
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

/// Random pairs over characters, some of them beyond ASCII.
fn random_character_pairs(random: &mut Random) -> (Listed, Pairs) {
    let characters = ["a", "b", " ", "é", "漢"];
    let bytes = Box::new(std::array::from_fn(|byte| byte as u32));
    let tokens = (300..).zip(characters).map(|(token, character)| (character.as_bytes(), token));
    let mut pairs = Pairs::of_first_tokens(FirstTokens::new(tokens, bytes), 30);
    let mut listed: Listed = Vec::new();
    for _ in 0..random.below(30) {
        let mut pick = || match random.below(2) {
            0 => 300 + random.below(characters.len()) as u32,
            _ => listed.get(random.below(listed.len() + 1)).map_or(303, |&(_, result)| result),
        };
        let pair = (pick(), pick());
        if listed.iter().all(|&(other, _)| other != pair) {
            let result = 400 + listed.len() as u32;
            assert_eq!(pairs.insert(pair.0, pair.1, listed.len() as u32, result), Ok(()));
            listed.push((pair, result));
        }
    }
    (listed, pairs)
}

#[test]
fn characters_merge_by_the_definition() {
    let mut random = Random::new(3);
    for _ in 0..600 {
        let (listed, pairs) = random_character_pairs(&mut random);
        for _ in 0..10 {
            let count = 1 + random.below(100);
            let text: String = (0..count).map(|_| ["a", "é", "漢", "字", "b "][random.below(5)]).collect();
            let text = text.as_bytes();
            let symbols = pairs.first_tokens().unwrap().symbols(text).map(|(_, token)| token).collect();
            assert_merged(&pairs, text, &merged_by_definition(&listed, symbols));
        }
    }
}

#[test]
fn of_pairs_of_one_rank_the_leftmost_merges_first() {
    let mut random = Random::new(6);
    for _ in 0..600 {
        let (listed, pairs) = random_character_pairs(&mut random);
        let count = 1 + random.below(4);
        let ranks: Vec<u32> = listed.iter().map(|_| random.below(count) as u32).collect();
        let mut tied = pairs.without_merges(listed.len());
        for (&((left, right), result), &rank) in listed.iter().zip(&ranks) {
            tied.insert_shared(left, right, rank, result).unwrap();
        }
        let place = |pair: &[u32]| listed.iter().position(|&((left, right), _)| pair == [left, right]);
        for _ in 0..10 {
            let len = 1 + random.below(200);
            let text: String = (0..len).map(|_| ["a", "é", "é", "漢", "b "][random.below(5)]).collect();
            let symbols = tied.first_tokens().unwrap().symbols(text.as_bytes());
            let mut expected: Vec<u32> = symbols.map(|(_, token)| token).collect();
            let first_pair = |tokens: &[u32]| {
                let places = tokens.windows(2).enumerate().filter_map(|(at, pair)| Some((at, place(pair)?)));
                places.min_by_key(|&(at, place)| (ranks[place], at))
            };
            while let Some((at, place)) = first_pair(&expected) {
                expected.splice(at..at + 2, [listed[place].1]);
            }
            assert_merged(&tied, text.as_bytes(), &expected);
        }
    }
}

#[test]
fn windows_of_characters_give_the_tokens_of_the_whole() {
    let mut random = Random::new(4);
    for round in 0..200 {
        let (_, pairs) = random_character_pairs(&mut random);
        for kind in 0..3 {
            let count = 65 + random.below(if round % 8 == 0 { 5_000 } else { 500 });
            let pick = |random: &mut Random| ["é", "a", "漢", "字"][random.below(4)];
            let cycle: Vec<&str> = (0..1 + random.below(9)).map(|_| pick(&mut random)).collect();
            let text: String = (0..count)
                .map(|at| match kind {
                    0 => cycle[at % cycle.len()],
                    1 if random.below(90) > 0 => "é",
                    _ => pick(&mut random),
                })
                .collect();
            assert_eq!(merged(&pairs, text.as_bytes()), heap(&pairs, text.as_bytes()), "{kind} {text}");
        }
    }
}

#[test]
fn tokens_merge_further_as_the_definition_says() {
    let (mut random, mut merger) = (Random::new(5), Merger::new(Isa::best()));
    for _ in 0..2000 {
        let (listed, pairs) = random_pairs(&mut random);
        // The first merges, then the others: in one list or in two stages, the result is the same.
        let count = random.below(listed.len() + 1);
        let text: Vec<u8> = (0..2 + random.below(90)).map(|_| b"ab "[random.below(3)]).collect();
        let mut tokens = by_definition(&listed[..count].to_vec(), &text);
        let expected = merged_by_definition(&listed, tokens.clone());
        let mut ranks = tokens.windows(2).map(|pair| pairs.rank_of_symbols(pair[0], pair[1])).collect();
        if tokens.len() > 1 {
            merger.merge_tokens(&pairs, &mut tokens, &mut ranks, &Control::none()).unwrap();
        }
        assert_eq!(tokens, expected);
    }
}
