//! Which tokens merging makes. Under rank semantics this also finds the pair that makes each token.
//!
//! Rank semantics merges any pair whose bytes are a token, but of all ways to cut a token in two only one can
//! ever occur. As long as the merges of a text stay inside the bytes of a token, they are the merges of these
//! bytes alone (the lowest rank first, then the leftmost), so if two parts that make up the token are
//! neighbours, they are the last two parts of that one sequence of merges. So the table needs one pair for
//! each token, about a third of all ways. The merges inside a token make shorter tokens only, so with the
//! pairs of all shorter tokens in the table, merging its bytes leaves exactly these two parts.

use super::tokens::TokenBytes;
use crate::control::Control;
use crate::error::Result;
use crate::merge::{Merger, NEVER, Pairs};
use crate::room;
use crate::simd::Isa;

/// Pairs of tokens, and other tokens, as indices.
type PairsAndTokens = (Vec<(u32, u32)>, Vec<u32>);

/// The two tokens, as indices, that the last merge of a token's own bytes joins.
pub(super) type LastPair = Option<(u32, u32)>;

/// Under rank semantics: adds the pair of each ordinary token to `pairs`, with the index of the token as its
/// rank. `special` are the special tokens, in ascending order.
///
/// Returns the pairs of the tokens that lower ranks make, by ascending token, and the tokens that no pair
/// makes.
pub(super) fn ranked(tokens: &TokenBytes, special: &[u32], pairs: &mut Pairs) -> Result<PairsAndTokens> {
    // The pair that makes each token, and whether all ranks before its own are lower; the highest rank among
    // the merges that make it, including its own, 0 for a byte.
    let (mut made, mut highest) = (vec![None; tokens.len()], vec![0; tokens.len()]);
    let (mut merger, mut parts) = (Merger::new(Isa::best()), Vec::new());
    for &index in &by_length(tokens, special) {
        parts.clear();
        merger.merge(pairs, tokens.bytes_at(index), &mut parts, &Control::none())?;
        if let [left, right] = parts[..] {
            // All tokens have different bytes, so no pair is inserted twice.
            let _ = pairs.insert(left, right, index, index);
            let before = highest[left as usize].max(highest[right as usize]);
            highest[index as usize] = index.max(before);
            made[index as usize] = Some(((left, right), before < index));
        }
    }
    let (mut reached, mut unmergeable) = (Vec::with_capacity(tokens.len()), Vec::new());
    for index in candidates(tokens, special) {
        match made[index as usize] {
            Some((pair, true)) => reached.push(pair),
            // A pair makes this token, but only with the help of a higher rank.
            Some((_, false)) => {}
            None => unmergeable.push(index),
        }
    }
    Ok((reached, unmergeable))
}

/// For each token by index, the pair of its last merge; `None` for a token that no merge makes.
///
/// `merges` are pairs of indices, none under rank semantics, and `all` is the table. Pairs are added by the
/// length of the tokens that they make. Merging the bytes of a token with the pairs of all shorter tokens
/// does all its merges but the last, and leaves the two parts of that last merge.
pub(super) fn last_pairs(
    tokens: &TokenBytes,
    special: &[u32],
    merges: &[(u32, u32)],
    all: &Pairs,
) -> Result<Vec<LastPair>> {
    let length = |index: u32| tokens.bytes_at(index).len();
    let mut by_result = room::collected(merges.iter().map(|&pair| (pair, all.made(pair))))?;
    by_result.sort_by_key(|&(_, made)| length(made));
    let mut waiting = by_result.into_iter().peekable();
    let (mut last, mut pairs) =
        (vec![None; tokens.len()], all.without_merges(tokens.len().max(merges.len())));
    let (mut merger, mut parts) = (Merger::new(Isa::best()), Vec::new());
    for &index in &by_length(tokens, special) {
        while let Some(((left, right), _)) = waiting.next_if(|&(_, made)| length(made) < length(index)) {
            pairs.insert_from(all, left, right);
        }
        parts.clear();
        merger.merge(&pairs, tokens.bytes_at(index), &mut parts, &Control::none())?;
        if let [left, right] = parts[..] {
            let rank = all.rank_of_symbols(left, right);
            if rank != NEVER && all.result(rank, (left, right)) == index {
                last[index as usize] = Some((left, right));
                if merges.is_empty() {
                    pairs.insert_from(all, left, right);
                }
            }
        }
    }
    Ok(last)
}

/// The ordinary tokens of more than one byte, by ascending index.
fn candidates<'a>(tokens: &'a TokenBytes, special: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    tokens.indices_but(special.iter().copied()).filter(|&index| tokens.bytes_at(index).len() > 1)
}

/// The ordinary tokens of more than one byte, the shortest first.
fn by_length(tokens: &TokenBytes, special: &[u32]) -> Vec<u32> {
    let mut lens: Vec<u64> = candidates(tokens, special)
        .map(|index| (tokens.bytes_at(index).len() as u64) << 32 | u64::from(index))
        .collect();
    lens.sort_unstable();
    lens.into_iter().map(|entry| entry as u32).collect()
}

/// Under merges semantics: the ordinary tokens that merging their own bytes does not make. `special` are the
/// special tokens, in ascending order.
pub(super) fn listed(tokens: &TokenBytes, special: &[u32], pairs: &Pairs) -> Result<Vec<u32>> {
    unmade(tokens, candidates(tokens, special), by_pairs(pairs))
}

/// Merging by a table.
pub(super) fn by_pairs(pairs: &Pairs) -> impl FnMut(&[u8], &mut Vec<u32>) -> Result<()> {
    let mut merger = Merger::new(Isa::best());
    move |bytes, parts| merger.merge(pairs, bytes, parts, &Control::none())
}

/// The tokens that merging their own bytes does not make. `merge` appends what it makes of bytes.
pub(super) fn unmade(
    tokens: &TokenBytes,
    indices: impl Iterator<Item = u32>,
    mut merge: impl FnMut(&[u8], &mut Vec<u32>) -> Result<()>,
) -> Result<Vec<u32>> {
    let (mut unmergeable, mut parts) = (Vec::new(), Vec::new());
    for index in indices {
        parts.clear();
        merge(tokens.bytes_at(index), &mut parts)?;
        if parts != [index] {
            unmergeable.push(index);
        }
    }
    Ok(unmergeable)
}
