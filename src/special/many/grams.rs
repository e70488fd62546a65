//! Grams: some neighbouring bytes of a token, as a number.

/// Bytes of a gram at the most.
pub(super) const MAX_GRAM_BYTES: usize = 8;

/// How the grams of a group are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grams {
    /// Bytes of a gram.
    pub(super) len: usize,
    /// From each gram that is looked at to the next.
    pub(super) stride: usize,
}

impl Grams {
    /// The first bytes of a text that has as many, as a number.
    #[inline(always)]
    pub(super) fn key(self, text: &[u8]) -> u64 {
        eight(text) & u64::MAX >> (64 - 8 * self.len)
    }

    /// The grams of a token at the places where one of them is looked at.
    pub(super) fn of(self, token: &[u8]) -> impl Iterator<Item = u64> + '_ {
        (0..self.stride).map(move |at| self.key(&token[at..]))
    }
}

/// The first bytes as a number; zeros behind the end.
#[inline(always)]
pub(super) fn eight(text: &[u8]) -> u64 {
    text.first_chunk().map_or_else(|| short(text), |eight| u64::from_le_bytes(*eight))
}

#[cold]
fn short(text: &[u8]) -> u64 {
    let mut eight = [0; MAX_GRAM_BYTES];
    let len = text.len().min(MAX_GRAM_BYTES);
    eight[..len].copy_from_slice(&text[..len]);
    u64::from_le_bytes(eight)
}
