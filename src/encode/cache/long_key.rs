//! Keys of pretokens that are too long for a key of their bytes.

use crate::pretokenize::key::{KEY_BYTES, Key, fold};

/// Longer pretokens have no record: they are hardly ever met again.
pub(in crate::encode) const MAX_RECORDED_BYTES: usize = 1024;

/// The key of a pretoken of any length.
pub(in crate::encode) fn key_of(pretoken: &[u8]) -> Key {
    if pretoken.len() > KEY_BYTES { long_key(pretoken) } else { Key::new(pretoken, 0, pretoken.len()) }
}

/// The key of a pretoken that is too long for one of its bytes: a number that depends on all of them, and its length. No
/// short one has it. [`Key::NONE`] if it is longer than [`MAX_RECORDED_BYTES`].
#[cold]
#[inline(never)] // in a hot loop, which has no registers to spare
pub(in crate::encode) fn long_key(pretoken: &[u8]) -> Key {
    if pretoken.len() > MAX_RECORDED_BYTES {
        return Key::NONE;
    }
    Key { low: hash_long(pretoken), high: LONG_KEY_MARK | pretoken.len() as u64 }
}

/// In the second half of all keys of long pretokens, and of no others: those have their length above.
const LONG_KEY_MARK: u64 = 1 << 16;

#[inline]
pub(in crate::encode) fn is_long(key: Key) -> bool {
    key.len() == 0 && key.high != 0
}

/// How long the pretoken is that has such a key.
#[inline]
pub(in crate::encode) fn long_len(key: Key) -> usize {
    (key.high & (LONG_KEY_MARK - 1)) as usize
}

/// A number that depends on all bytes.
#[inline]
pub(super) fn hash_long(pretoken: &[u8]) -> u64 {
    let mut hash = pretoken.len() as u64 ^ 0x9E37_79B9_7F4A_7C15;
    let mut mix = |word: u64| hash = fold(hash ^ word, 0xD6E8_FEB8_6659_FD93);
    let (whole, _) = pretoken.as_chunks::<8>();
    for &eight in whole {
        mix(u64::from_le_bytes(eight));
    }
    if let Some(&last) = pretoken.last_chunk() {
        mix(u64::from_le_bytes(last));
    }
    hash
}
