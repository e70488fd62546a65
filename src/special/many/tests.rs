use super::*;
use crate::random::Random;
use crate::special::tests::{distinct, naive};

/// Finds all tokens of a text, none of them long, with every instruction set.
pub(in crate::special) fn check(all: &[Vec<u8>], text: &[u8]) {
    for isa in Isa::available() {
        let many = ManyTokens::with_isa(all, isa);
        let mut from = 0;
        let matches = std::iter::from_fn(|| {
            let (index, at) = many.find(all, text, from)?;
            from = at + all[index].len();
            Some((index, at))
        });
        assert_eq!(matches.collect::<Vec<_>>(), naive(all, text), "{}: {all:?} in {text:?}", isa.name());
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
        let all = distinct(all);
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
