//! Short pretokens as numbers.

use crate::simd;

/// Pretokens of up to this many bytes have a key.
pub(crate) const KEY_BYTES: usize = 15;

/// A short pretoken as a number: its bytes, zero-filled, and its length in the upper half of the last byte. So
/// different pretokens have different keys, and the other half of the last byte is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// Where the length is in [`Key::high`].
const LENGTH: u32 = 56;

/// How a key is made of the 16 bytes at a pretoken: what is kept of them, and what is added.
struct Row {
    keep: [u64; 2],
    add: [u64; 2],
}

/// By length. The last row is that of all pretokens that are too long.
static ROWS: [Row; KEY_BYTES + 2] = {
    let mut rows = [const { Row { keep: [0; 2], add: [u64::MAX, 0] } }; KEY_BYTES + 2];
    let mut len = 0;
    while len <= KEY_BYTES {
        rows[len].keep[0] = if len < 8 { (1 << (8 * len)) - 1 } else { u64::MAX };
        rows[len].keep[1] = if len > 8 { (1 << (8 * (len - 8))) - 1 } else { 0 };
        rows[len].add = [0, (len as u64) << LENGTH];
        len += 1;
    }
    rows
};

impl Key {
    /// What no pretoken has: stands for those that are too long.
    pub(crate) const NONE: Key = Key { low: u64::MAX, high: 0 };

    /// The key of `text[start..end]`, or [`Key::NONE`] if that is too long.
    ///
    /// # Panics
    /// If the range does not lie in `text`.
    #[inline(always)]
    pub(crate) fn new(text: &[u8], start: usize, end: usize) -> Self {
        let len = (end - start).min(KEY_BYTES + 1);
        let [low, high] = match simd::sixteen(text, start) {
            Some(bytes) => words(&bytes),
            None => {
                let mut bytes = [0; 16];
                let rest = &text[start..end];
                bytes[..rest.len()].copy_from_slice(rest);
                words(&bytes)
            }
        };
        let Row { keep, add } = &ROWS[len];
        Key { low: low & keep[0] | add[0], high: high & keep[1] | add[1] }
    }

    /// A number that depends on all of the key; the upper bits are the better ones.
    #[inline(always)]
    pub(crate) fn hash(self) -> u64 {
        fold(self.low ^ 0x9E37_79B9_7F4A_7C15, self.high ^ 0xD1B5_4A32_D192_ED03)
    }
}

#[inline(always)]
fn words(bytes: &[u8; 16]) -> [u64; 2] {
    let all = u128::from_le_bytes(*bytes);
    [all as u64, (all >> 64) as u64]
}

/// The two halves of the product, mixed: one multiplication.
#[inline(always)]
pub(crate) fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_pretokens_have_different_keys() {
        let bytes: Vec<u8> = (1..=40).collect();
        let mut keys = std::collections::HashSet::new();
        for len in 1..=KEY_BYTES {
            for zeroed in 0..=len {
                let mut text = bytes.clone();
                text[zeroed..len].fill(0);
                let key = Key::new(&text, 0, len);
                assert!(keys.insert((key.low, key.high)), "{len} {zeroed}");
                assert_eq!(key, Key::new(&text[..len], 0, len), "what follows does not matter");
            }
        }
        assert_eq!(Key::new(&bytes, 3, 19), Key::NONE);
        assert!(!keys.contains(&(Key::NONE.low, Key::NONE.high)));
    }
}
