//! The pretoken cache: short pretokens → their few ids. Bounded, direct-mapped, invisible in results.

/// log2 of the number of slots; a slot is 40 bytes.
const BITS: u32 = 15;
/// Pretokens of up to this many bytes are kept.
const KEY_BYTES: usize = 15;
/// Pretokens of up to this many ids are kept (98% of all have at most two).
const MAX_IDS: usize = 4;

/// A short pretoken as a number: its bytes, zero-filled, and its length on top, so that different
/// pretokens are different keys. No key is 0.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Key(u64, u64);

impl Key {
    /// `None` for a pretoken that is too long to keep.
    #[inline]
    pub(super) fn new(pretoken: &[u8]) -> Option<Self> {
        if pretoken.is_empty() || pretoken.len() > KEY_BYTES {
            return None;
        }
        let length = (pretoken.len() as u64) << 56;
        let (low, high) = match pretoken.first_chunk::<8>() {
            Some(first) => (u64::from_le_bytes(*first), up_to_eight(&pretoken[8..])),
            None => (up_to_eight(pretoken), 0),
        };
        Some(Key(low, high | length))
    }

    #[inline]
    fn slot(self) -> usize {
        let mixed = (self.0 ^ self.1.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32) ^ self.1).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed >> (64 - BITS)) as usize
    }
}

/// Fewer than eight bytes as a little-endian number, from two overlapping loads instead of a loop.
#[inline]
fn up_to_eight(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let shift = 8 * (bytes.len() - 4) as u32;
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift;
    }
    match *bytes {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(a) | u64::from(b) << 8,
        [a, b, c, ..] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
    }
}

#[derive(Clone, Copy, Default)]
struct Slot {
    key: Key,
    len: u32,
    ids: [u32; MAX_IDS],
}

/// The slots are made at the first insertion, so that a single small call stays small.
#[derive(Default)]
pub(super) struct Cache(Vec<Slot>);

impl Cache {
    /// Where the ids of this pretoken are, if they are.
    #[inline]
    pub(super) fn slot_of(&self, key: &Key) -> Option<usize> {
        let slot = key.slot();
        (self.0.get(slot)?.key == *key).then_some(slot)
    }

    /// The ids in a slot that [`Cache::slot_of`] named.
    #[inline]
    pub(super) fn ids(&self, slot: usize) -> &[u32] {
        let slot = &self.0[slot];
        &slot.ids[..slot.len as usize]
    }

    /// Keeps the ids of a pretoken in place of what was there.
    #[inline]
    pub(super) fn insert(&mut self, key: &Key, ids: &[u32]) {
        if ids.len() > MAX_IDS {
            return;
        }
        if self.0.is_empty() {
            self.0.resize(1 << BITS, Slot::default());
        }
        let slot = &mut self.0[key.slot()];
        slot.key = *key;
        slot.len = ids.len() as u32;
        slot.ids[..ids.len()].copy_from_slice(ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_pretokens_have_different_keys() {
        let bytes: Vec<u8> = (1..=15).collect();
        let mut keys = std::collections::HashSet::new();
        for len in 1..=KEY_BYTES {
            for zeroed in 0..=len {
                let mut pretoken = bytes[..len].to_vec();
                pretoken[zeroed..].fill(0);
                let key = Key::new(&pretoken).map(|Key(low, high)| (low, high));
                assert!(key.is_some_and(|key| keys.insert(key)), "{pretoken:?}");
            }
        }
        assert!(Key::new(&[0; 16]).is_none());
    }
}
