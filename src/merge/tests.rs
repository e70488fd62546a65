use super::{Merger, NEVER, Pairs, short};
use crate::control::Control;
use crate::simd::Isa;

/// Random numbers without a dependency: the quality is enough to pick cases.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

type Listed = Vec<((u32, u32), u32)>;

/// Pairs over a few letters, some of which no text reaches; the rank of a pair is its place.
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

/// BPE from its definition: the lowest rank below `limit`, leftmost first, until nothing merges.
fn by_definition(listed: &Listed, limit: u32, text: &[u8]) -> Vec<u32> {
    let mut tokens: Vec<u32> = text.iter().map(|&byte| u32::from(byte)).collect();
    for _ in 0..text.len() {
        let best = listed.iter().take(limit as usize).find_map(|&(pair, result)| {
            let at = tokens.windows(2).position(|p| (p[0], p[1]) == pair)?;
            Some((at, result))
        });
        let Some((at, result)) = best else { break };
        tokens.splice(at..at + 2, [result]);
    }
    tokens
}

#[test]
fn scan_and_heap_merge_as_the_definition_says() {
    let mut random = Random(1);
    let mut merger = Merger::new(Isa::best());
    for round in 0..600 {
        let (listed, pairs) = random_pairs(&mut random);
        let limit = if round % 3 == 0 { random.below(listed.len() + 1) as u32 } else { NEVER };
        for _ in 0..20 {
            let len = 1 + random.below(80);
            let text: Vec<u8> = (0..len).map(|_| b"aab "[random.below(4)]).collect();
            let expected = by_definition(&listed, limit, &text);
            let (mut heap, mut either) = (vec![], vec![]);
            merger.long.merge(&pairs, &text, limit, &mut heap, &Control::none()).unwrap();
            merger.merge_below(&pairs, &text, limit, &mut either, &Control::none()).unwrap();
            assert_eq!(heap, expected, "{}", text.escape_ascii());
            assert_eq!(either, expected, "{}", text.escape_ascii());
            if len <= short::LONGEST {
                for isa in Isa::available() {
                    let mut scan = vec![];
                    short::merge(isa, &pairs, &text, limit, &mut scan);
                    assert_eq!(scan, expected, "{} {}", isa.name(), text.escape_ascii());
                }
            }
        }
    }
}

#[test]
fn a_long_pretoken_merges_in_little_time() {
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
