//! Which tokens merging makes: under rank semantics, the pair that makes each token; under both, the tokens that none
//! makes.
//!
//! Rank semantics merges any pair whose bytes are a token. But of all the ways to cut a token in two only one can ever
//! be met: as long as a text's merges stay inside the bytes of a token, they are those of the token's bytes alone
//! (lowest rank first, leftmost first), so two parts of it that stand side by side are the last two of that one
//! sequence. So one pair a token is all that the table needs, a third of all ways. And what is merged inside a token
//! is shorter: with the pairs of all shorter tokens in the table, merging its bytes leaves these two.

use super::tokens::TokenBytes;
use crate::control::Control;
use crate::error::Result;
use crate::merge::{Merger, NEVER, Pairs};
use crate::simd::Isa;

/// Pairs of tokens, and tokens, by index.
type PairsAndRest = (Vec<(u32, u32)>, Vec<u32>);

/// Under rank semantics: adds to `pairs` the pair of each ordinary token, ranked by the token's place among all.
/// `special`: the others, in ascending order.
///
/// Returns the pairs that lower ranks make, by ascending token, and the tokens that no pair makes.
pub(super) fn ranked(tokens: &TokenBytes, special: &[u32], pairs: &mut Pairs) -> Result<PairsAndRest> {
    let mut made = vec![Made::default(); tokens.len()];
    let (mut merger, mut parts) = (Merger::new(Isa::best()), Vec::new());
    for &index in &by_length(tokens, special) {
        parts.clear();
        merger.merge(pairs, tokens.bytes_at(index), &mut parts, &Control::none())?;
        if let [left, right] = parts[..] {
            // Each token has other bytes, so no pair comes twice.
            let _ = pairs.insert(left, right, index, index);
            let highest = made[left as usize].highest.max(made[right as usize].highest);
            made[index as usize] =
                Made { pair: (left, right), highest: highest.max(index), below: highest < index };
        }
    }
    let (mut reached, mut unreachable) = (Vec::with_capacity(tokens.len()), Vec::new());
    for index in candidates(tokens, special) {
        match made[index as usize] {
            Made { pair, below: true, .. } => reached.push(pair),
            Made { pair: (NEVER, _), .. } => unreachable.push(index),
            // With the help of higher ranks.
            Made { .. } => {}
        }
    }
    Ok((reached, unreachable))
}

/// How a token is made.
#[derive(Clone, Copy)]
struct Made {
    pair: (u32, u32),
    /// The highest rank of the merges that it takes, its own included; 0 for a byte.
    highest: u32,
    /// Whether all those before its own have a lower rank than that.
    below: bool,
}

impl Default for Made {
    fn default() -> Self {
        Made { pair: (NEVER, NEVER), highest: 0, below: false }
    }
}

/// The ordinary tokens of more than a byte, by ascending index.
fn candidates<'a>(tokens: &'a TokenBytes, special: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let mut special = special.iter().copied().peekable();
    (0..tokens.len() as u32)
        .filter(move |&index| special.next_if_eq(&index).is_none() && tokens.bytes_at(index).len() > 1)
}

/// The ordinary tokens of more than a byte, the shortest first.
fn by_length(tokens: &TokenBytes, special: &[u32]) -> Vec<u32> {
    let mut lens: Vec<u64> = candidates(tokens, special)
        .map(|index| (tokens.bytes_at(index).len() as u64) << 32 | u64::from(index))
        .collect();
    lens.sort_unstable();
    lens.into_iter().map(|entry| entry as u32).collect()
}

/// Under merges semantics: the ordinary tokens that merging their own bytes does not make. `special` as in [`ranked`].
pub(super) fn listed(tokens: &TokenBytes, special: &[u32], pairs: &Pairs) -> Result<Vec<u32>> {
    let mut unreachable = Vec::new();
    let (mut merger, mut parts) = (Merger::new(Isa::best()), Vec::new());
    for index in candidates(tokens, special) {
        parts.clear();
        merger.merge(pairs, tokens.bytes_at(index), &mut parts, &Control::none())?;
        if parts != [index] {
            unreachable.push(index);
        }
    }
    Ok(unreachable)
}
