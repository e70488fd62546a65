//! What merging reaches: under rank semantics, the pair that makes each token; for both, the tokens that none does.
//!
//! Rank semantics merges any pair whose bytes are a token. But of all the ways to cut a token in two only one can ever
//! be met: as long as a text's merges stay inside the bytes of a token, they are those of the token's bytes alone
//! (lowest rank first, leftmost first), so two parts of it that stand side by side are the last two of that one
//! sequence. So one pair a token is all that the table needs, a third of all ways.

use super::TokenBytes;
use super::ordinary::Ordinary;
use crate::control::Control;
use crate::error::Result;
use crate::merge::{Merger, Pairs};
use crate::simd::Isa;

/// Pairs of tokens, and tokens, by index.
type PairsAndRest = (Vec<(u32, u32)>, Vec<u32>);

/// Under rank semantics: adds to `pairs` the pair of each ordinary token, ranked by the token's place among all.
///
/// Returns the pairs that lower ranks make, by ascending token, and the tokens that no pair makes.
pub(super) fn ranked(tokens: &TokenBytes, ordinary: &Ordinary, pairs: &mut Pairs) -> Result<PairsAndRest> {
    let (mut reached, mut unreachable) = (Vec::with_capacity(tokens.len()), Vec::new());
    let (mut merger, mut parts) = (Merger::new(Isa::best()), Vec::new());
    let longest = tokens.iter().map(|(_, bytes)| bytes.len()).max().unwrap_or(0);
    for index in 0..tokens.len() as u32 {
        let bytes = tokens.bytes_at(index);
        if bytes.len() < 2 || ordinary.get(tokens, bytes) != Some(index) {
            continue;
        }
        parts.clear();
        merger.merge_below(pairs, bytes, index, &mut parts, &Control::none())?;
        let pair = match parts[..] {
            [left, right] => {
                reached.push((left, right));
                Some((left, right))
            }
            // Made, if at all, with the help of higher ranks, which are not in the table yet.
            _ => last_two(tokens, ordinary, longest, bytes),
        };
        match pair {
            // Each token has other bytes, so no pair comes twice.
            Some((left, right)) => drop(pairs.insert(left, right, index, index)),
            None => unreachable.push(index),
        }
    }
    Ok((reached, unreachable))
}

/// The last two parts that the bytes of a token merge to, by the definition: any pair whose bytes are a token.
fn last_two(tokens: &TokenBytes, ordinary: &Ordinary, longest: usize, bytes: &[u8]) -> Option<(u32, u32)> {
    let look_up = |range: std::ops::Range<usize>| {
        let whole = range.len() == bytes.len() || range.len() > longest;
        if whole { None } else { ordinary.get(tokens, &bytes[range]) }
    };
    let ends = crate::merge::by_definition(bytes.len(), look_up);
    let [first, _] = ends[..] else { return None };
    Some((ordinary.get(tokens, &bytes[..first])?, ordinary.get(tokens, &bytes[first..])?))
}

/// Under merges semantics: the ordinary tokens that merging their own bytes does not make.
pub(super) fn listed(tokens: &TokenBytes, ordinary: &Ordinary, pairs: &Pairs) -> Result<Vec<u32>> {
    let mut unreachable = Vec::new();
    let (mut merger, mut parts) = (Merger::new(Isa::best()), Vec::new());
    for index in 0..tokens.len() as u32 {
        let bytes = tokens.bytes_at(index);
        if bytes.len() < 2 || ordinary.get(tokens, bytes) != Some(index) {
            continue;
        }
        parts.clear();
        merger.merge(pairs, bytes, &mut parts, &Control::none())?;
        if parts != [index] {
            unreachable.push(index);
        }
    }
    Ok(unreachable)
}
