//! How much memory learning takes.

use super::corpus16;
use super::options::{Options, Ties};
use crate::count::Frequent;

/// Bytes of memory of a merge and its token.
pub(super) const BYTES_PER_MERGE: u64 = 64;

/// Bytes of memory for each byte of the distinct pretokens and for each pretoken: bounds that are seldom
/// reached. 12 bytes were measured for each byte of one giant pretoken, and two thirds of the bounds for 3.3
/// million words.
const MOST_BYTES: (u64, u64) = (16, 40);

/// Bytes of memory that learning takes at least, with an index of hardly any pair, and at most, without a
/// limit. `has_vocab` says whether it begins with a vocabulary or with forced tokens.
pub fn memory_to_learn(pretokens: &Frequent, has_vocab: bool, options: &Options) -> (u64, u64) {
    let is_wide = has_vocab || options.ties == Ties::First || options.max_merges > corpus16::MAX_MERGES;
    let cells = pretokens.pretokens + pretokens.bytes;
    let merges = cells.min(options.max_merges as u64);
    let least = (if is_wide { 5 } else { 3 }) * cells + merges * BYTES_PER_MERGE;
    (least, MOST_BYTES.0 * pretokens.bytes + MOST_BYTES.1 * pretokens.pretokens)
}
