//! Short pretokens as numbers.

use crate::hashing::fold_words;
use crate::simd::{self, Kernel, Simd};

/// Pretokens of up to this many bytes have a key.
pub(crate) const KEY_BYTES: usize = 15;

/// A short pretoken as a number: its bytes, zero-filled, and its length in the upper half of the last byte.
/// So different pretokens have different keys, and the other half of the last byte is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// Where the length is in [`Key::high`].
const LENGTH_SHIFT: u32 = 56;

/// How a key is made of the 16 bytes at a pretoken: the bits that are kept, and the bits that are added.
#[repr(C, align(32))]
struct KeyMask {
    keep: [u64; 2],
    add: [u64; 2],
}

/// The masks by length, 256 of them, so that a length of one byte needs no check; most are never read. All
/// lengths that are too long have the same mask, and so has length 0, since an empty pretoken has no key.
static KEY_MASKS: [KeyMask; 256] = {
    let mut masks = [const { KeyMask { keep: [0; 2], add: [u64::MAX, 0] } }; 256];
    let mut len = 1;
    while len <= KEY_BYTES {
        masks[len].keep[0] = if len < 8 { (1 << (8 * len)) - 1 } else { u64::MAX };
        masks[len].keep[1] = if len > 8 { (1 << (8 * (len - 8))) - 1 } else { 0 };
        masks[len].add = [0, (len as u64) << LENGTH_SHIFT];
        len += 1;
    }
    masks
};

impl Key {
    /// A key that no pretoken has: for pretokens that are too long, and for empty ones.
    pub(crate) const NONE: Key = Key { low: u64::MAX, high: 0 };

    /// The key of `text[start..end]`, or [`Key::NONE`] if that is too long or empty.
    ///
    /// # Panics
    /// If the range does not lie in `text`.
    #[inline(always)]
    pub(crate) fn new(text: &[u8], start: usize, end: usize) -> Self {
        Self::hashed(simd::Portable, text, start, Length::new(start, end)).0
    }

    /// The key of the pretoken of length `len` at `start`, and a number that depends on all of the key: the
    /// same that [`HashOf`] computes with the same instruction set.
    ///
    /// # Panics
    /// If the range does not lie in `text`.
    #[inline(always)]
    pub(crate) fn hashed(simd: impl Simd, text: &[u8], start: usize, len: Length) -> (Self, u64) {
        let KeyMask { keep, add } = &KEY_MASKS[usize::from(len.0)];
        // Each branch makes the key itself: bytes that a branch only returned would go through memory.
        let ([low, high], hash) = match simd::sixteen(text, start) {
            Some(bytes) => simd.key(&bytes, keep, add),
            None => simd.key(&last(text, start), keep, add),
        };
        (Key { low, high }, hash)
    }

    /// The bytes of the pretoken with this key, written to `room`.
    pub(crate) fn bytes(self, room: &mut [u8; 16]) -> &[u8] {
        *room = (u128::from(self.high) << 64 | u128::from(self.low)).to_le_bytes();
        &room[..self.len()]
    }

    /// The number of bytes of the pretoken with this key.
    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        (self.high >> LENGTH_SHIFT) as usize & KEY_BYTES
    }

    /// A number that depends on all of the key, computed with an instruction set, as [`Key::hashed`] does.
    /// Its upper bits are the better ones.
    #[inline(always)]
    pub(crate) fn hash_by(self, simd: impl Simd) -> u64 {
        let bytes = (u128::from(self.high) << 64 | u128::from(self.low)).to_le_bytes();
        simd.key(&bytes, &[u64::MAX; 2], &[0; 2]).1
    }

    /// A number that depends on all of the key; the upper bits are the better ones.
    #[inline(always)]
    pub(crate) fn hash(self) -> u64 {
        fold_words(self.low, self.high)
    }
}

/// The length of a pretoken, at most 255: lengths above [`KEY_BYTES`] need not be distinguished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Length(u8);

impl Length {
    #[inline(always)]
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Length((end - start).min(usize::from(u8::MAX)) as u8)
    }

    /// Whether a pretoken has no [`Key`] of its bytes.
    #[inline(always)]
    pub(crate) fn is_long(self) -> bool {
        usize::from(self.0) > KEY_BYTES
    }
}

/// The bytes from `start` on, for a text that has fewer than 16 of them, with zeros after them.
#[inline(always)]
fn last(text: &[u8], start: usize) -> [u8; 16] {
    match text.last_chunk() {
        // The bytes before `start` are shifted out, since a copy of a variable size is a call.
        Some(&sixteen) => {
            let before = 16 - text[start..].len() as u32;
            u128::from_le_bytes(sixteen).checked_shr(8 * before).unwrap_or(0).to_le_bytes()
        }
        None => padded(&text[start..]),
    }
}

/// Up to 16 bytes, and zeros after them.
#[cold]
#[inline(never)]
fn padded(bytes: &[u8]) -> [u8; 16] {
    let mut all = [0; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    all
}

/// [`Key::hash_by`], as a kernel.
pub(crate) struct HashOf(pub(crate) Key);

impl Kernel for HashOf {
    type Out = u64;

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> u64 {
        self.0.hash_by(simd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;

    struct Hashed<'t>(&'t [u8], usize, usize);

    impl Kernel for Hashed<'_> {
        type Out = (Key, u64);

        #[inline(always)]
        fn run<L: Simd>(self, simd: L) -> (Key, u64) {
            Key::hashed(simd, self.0, self.1, Length::new(self.1, self.2))
        }
    }

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
        for isa in Isa::available() {
            for len in 1..=KEY_BYTES + 5 {
                for text in [&bytes[..len + 2], &bytes[..]] {
                    let (key, hash) = isa.run(Hashed(text, 2, 2 + len));
                    assert_eq!(key, Key::new(text, 2, 2 + len));
                    assert_eq!(hash, isa.run(HashOf(key)));
                    if len <= KEY_BYTES {
                        assert_eq!(key.bytes(&mut [0; 16]), &bytes[2..2 + len]);
                    }
                }
            }
        }
        assert_eq!(Key::new(&bytes, 3, 19), Key::NONE);
        assert_eq!(Key::new(&bytes, 3, 3), Key::NONE);
        assert!(!keys.contains(&(Key::NONE.low, Key::NONE.high)));
    }
}
