//! A short pretoken: parts and ranks side by side, a scan for each merge.

use super::SHORT;
use super::pairs::{NEVER, Pairs};

/// Appends the tokens of `pretoken`, at most [`SHORT`] bytes, to `out`: every merge of a rank below `limit`.
pub(super) fn merge(pairs: &Pairs, pretoken: &[u8], limit: u32, out: &mut Vec<u32>) {
    let (mut tokens, mut ranks) = ([0; SHORT], [NEVER; SHORT]);
    for (token, &byte) in tokens.iter_mut().zip(pretoken) {
        *token = pairs.byte_token(byte);
    }
    for (rank, pair) in ranks.iter_mut().zip(pretoken.windows(2)) {
        *rank = pairs.rank_of_bytes(pair[0], pair[1]);
    }
    let mut len = pretoken.len().min(SHORT);
    while len > 1 {
        let (at, rank) = lowest(&ranks[..len - 1]);
        if rank >= limit {
            break;
        }
        tokens[at] = pairs.result(rank);
        remove(&mut tokens[..len], at + 1);
        remove(&mut ranks[..len], at);
        len -= 1;
        if at + 1 < len {
            ranks[at] = pairs.rank(tokens[at], tokens[at + 1]);
        }
        if at > 0 {
            ranks[at - 1] = pairs.rank(tokens[at - 1], tokens[at]);
        }
    }
    out.extend_from_slice(&tokens[..len]);
}

/// The place of the lowest rank, the first of several, and that rank.
#[inline(always)]
fn lowest(ranks: &[u32]) -> (usize, u32) {
    let mut best = (0, NEVER);
    for (at, &rank) in ranks.iter().enumerate() {
        if rank < best.1 {
            best = (at, rank);
        }
    }
    best
}

/// Moves what follows `at` one place down.
#[inline(always)]
fn remove(parts: &mut [u32], at: usize) {
    parts.copy_within(at + 1.., at);
}
