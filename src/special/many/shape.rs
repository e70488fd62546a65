//! Which grams a group of tokens is told by.

use super::bloom::Bloom;
use super::grams::{Grams, MAX_GRAM_BYTES};
use super::group::ByteSets;

/// A sample of English text. The choice of grams goes by the number of its places that they leave to be checked.
const SAMPLE: &str = "The first of the two was built in 1897, when the company’s owners had moved to London; it is \
    still in use today. \"Nobody knows,\" she said, \"why they aren't interested in what we've been asking for.\"\n\n\
    Researchers at the University of California have shown that higher temperatures lead to significantly \
    different patterns of behaviour (see https://www.example.com/reports/2021/index.html), although others \
    disagree. Visit our website, or call us before Friday: prices start at $19.99 each.\n";

/// The cost of a gram that the filter knows, as a multiple of the cost of looking at a gram.
const KNOWN_GRAM_COST: f64 = 8.0;
/// Where grams are looked at in less than this share of places, fewer places are not worth a search for better grams.
const NEGLIGIBLE_SHARE: f64 = 0.01;

/// The cheapest grams for tokens that have at least `shortest` bytes.
pub(super) fn choose(shortest: usize, tokens: &[&[u8]]) -> Grams {
    let mut best = (f64::INFINITY, Grams { len: shortest.min(MAX_GRAM_BYTES), stride: 1 });
    for stride in [1, 2, 3, 4, 6, 8] {
        let len = (shortest + 1).saturating_sub(stride).min(MAX_GRAM_BYTES);
        // Shorter ones are in every text.
        if stride > 1 && len < 4 {
            break;
        }
        let grams = Grams { len, stride };
        let looks = looks(grams, tokens);
        let known = shared(grams, tokens) + Bloom::wrong(tokens.len() * stride);
        let cost = looks * (1.0 + KNOWN_GRAM_COST * stride as f64 * known);
        if cost < best.0 {
            best = (cost, grams);
        }
        if looks < NEGLIGIBLE_SHARE {
            break;
        }
    }
    best.1
}

/// At how many places of a text a gram is looked at.
fn looks(grams: Grams, tokens: &[&[u8]]) -> f64 {
    let sets = ByteSets::new(grams, tokens.iter().copied());
    let places = SAMPLE.as_bytes().windows(grams.len);
    let all = places.len() as f64;
    places.filter(|gram| sets.have(gram)).count() as f64 / all / grams.stride as f64
}

/// How many of the grams more than one token has. One that is shared is likely to be in text, too: random letters share
/// few, words many.
fn shared(grams: Grams, tokens: &[&[u8]]) -> f64 {
    let mut keys: Vec<u64> = tokens.iter().flat_map(|token| grams.of(token)).collect();
    keys.sort_unstable();
    let alone: usize = keys.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).count();
    1.0 - alone as f64 / keys.len() as f64
}
