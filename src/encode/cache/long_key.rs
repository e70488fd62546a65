//! Keys of pretokens that have more bytes than a [`Key`] holds.

use crate::hashing::{GOLDEN, MIXER, fold};
use crate::pretokenize::key::Key;

/// Longer pretokens are not cached: they hardly ever occur twice.
pub(in crate::encode) const MAX_RECORDED_BYTES: usize = 1024;

/// The key of a pretoken that is too long to be its own key: a hash of its bytes, and its length. No short
/// pretoken has such a key. [`Key::NONE`] if it is longer than [`MAX_RECORDED_BYTES`].
#[cold]
#[inline(never)] // the hot loop that calls it has no registers to spare
pub(in crate::encode) fn long_key(pretoken: &[u8]) -> Key {
    if pretoken.len() > MAX_RECORDED_BYTES {
        return Key::NONE;
    }
    Key { low: hash_long(pretoken), high: LONG_KEY_MARK | pretoken.len() as u64 }
}

/// A bit that is set only in the second half of the keys of long pretokens. Other keys have their length
/// above this bit, and zeros here.
const LONG_KEY_MARK: u64 = 1 << 16;

#[inline]
pub(in crate::encode) fn is_long(key: Key) -> bool {
    key.len() == 0 && key.high != 0
}

/// A hash of all bytes, eight at a time; the last eight overlap with those before.
#[inline]
pub(super) fn hash_long(pretoken: &[u8]) -> u64 {
    let mut hash = pretoken.len() as u64 ^ GOLDEN;
    let mut mix = |word: u64| hash = fold(hash ^ word, MIXER);
    let (whole, _) = pretoken.as_chunks::<8>();
    for &eight in whole {
        mix(u64::from_le_bytes(eight));
    }
    if let Some(&last) = pretoken.last_chunk() {
        mix(u64::from_le_bytes(last));
    }
    hash
}
