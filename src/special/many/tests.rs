use super::*;
use crate::random::Random;

/// The definition of the search, without filters.
fn naive(all: &[Vec<u8>], text: &[u8], from: usize) -> Option<(usize, usize)> {
    (from..text.len()).find_map(|at| {
        let starts = (0..all.len()).filter(|&index| text[at..].starts_with(&all[index]));
        starts.max_by_key(|&index| all[index].len()).map(|index| (index, at))
    })
}

impl Random {
    fn word(&mut self, min_len: usize, more: usize, letters: usize) -> Vec<u8> {
        (0..min_len + self.below(more)).map(|_| b'a' + self.below(letters) as u8).collect()
    }
}

/// Removes repeated tokens, which [`super::super::Specials`] never has, and shuffles the rest.
fn distinct(mut all: Vec<Vec<u8>>, random: &mut Random) -> Vec<Vec<u8>> {
    all.sort();
    all.dedup();
    for at in (1..all.len()).rev() {
        all.swap(at, random.below(at + 1));
    }
    all
}

/// Finds all tokens of a text, one after the other, with every instruction set.
fn check(all: &[Vec<u8>], text: &[u8]) {
    for isa in Isa::available() {
        let many = ManyTokens::with_isa(all, isa);
        let mut from = 0;
        loop {
            let actual = many.find(all, text, from);
            assert_eq!(actual, naive(all, text, from), "{} from {from}: {all:?} in {text:?}", isa.name());
            let Some((index, at)) = actual else { break };
            from = at + all[index].len();
        }
    }
}

#[test]
fn the_search_finds_what_a_naive_search_finds() {
    let mut random = Random::new(1);
    for round in 0..2000 {
        let (letters, min_len, more) = (1 + random.below(5), 1 + random.below(20), 1 + random.below(20));
        let all = (0..1 + round % 40).map(|_| random.word(min_len, more, letters)).collect();
        let all = distinct(all, &mut random);
        check(&all, &random.word(0, 400, letters));
    }
}

#[test]
fn tokens_in_tokens_and_near_misses_are_found_as_defined() {
    let mut random = Random::new(2);
    for _ in 0..300 {
        // The tokens are prefixes, suffixes and parts of one word; the text is made of the same.
        let letters = 1 + random.below(3);
        let word = random.word(1, 128, letters);
        let part = |random: &mut Random| {
            let from = random.below(word.len());
            let to = from + 1 + random.below(word.len() - from);
            match random.below(3) {
                0 => word[..to].to_vec(),
                1 => word[from..].to_vec(),
                _ => word[from..to].to_vec(),
            }
        };
        let all = (0..1 + random.below(80)).map(|_| part(&mut random)).collect();
        let all = distinct(all, &mut random);
        let text: Vec<u8> = (0..random.below(12))
            .flat_map(|_| {
                let mut part = part(&mut random);
                if random.below(2) == 0 {
                    part.push(b'z');
                }
                part
            })
            .collect();
        check(&all, &text);
    }
}

#[test]
fn tokens_of_every_first_byte_and_many_lengths_are_found() {
    let mut random = Random::new(4);
    let bytes =
        |random: &mut Random, len: usize| (0..len).map(|_| random.below(256) as u8).collect::<Vec<u8>>();
    for min_len in [1, 2, 3, 4, 6, 7, 9, 12, 16, 40] {
        let mut all: Vec<Vec<u8>> =
            (0..=255).map(|byte| [vec![byte], bytes(&mut random, min_len - 1)].concat()).collect();
        all.extend((min_len..min_len + 70).map(|len| bytes(&mut random, len)));
        all.extend((min_len..min_len + 70).map(|len| vec![0; len]));
        let all = distinct(all, &mut random);
        let mut text = Vec::new();
        for _ in 0..30 {
            let len = random.below(30);
            text.extend(bytes(&mut random, len));
            let token = &all[random.below(all.len())];
            text.extend_from_slice(&token[..token.len() - random.below(2)]);
        }
        text.extend([0; 90]);
        check(&all, &text);
    }
}
