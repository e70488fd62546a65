//! Which ids are those of special tokens.

/// The ids of special tokens.
#[derive(Clone, Debug)]
pub(super) struct SpecialIds {
    sorted: Vec<u32>,
    /// A bit for the last 16 bits of each id: nearly all other ids need no search.
    low_bits: Vec<u64>,
}

impl SpecialIds {
    pub(super) fn new(ids: &[u32]) -> Self {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        let mut low_bits = vec![0; 1 << 10];
        for &id in ids {
            low_bits[usize::from(id as u16) / 64] |= 1 << (id % 64);
        }
        SpecialIds { sorted, low_bits }
    }

    /// How many of `ids` are those of special tokens.
    pub(super) fn count(&self, ids: &[u32]) -> u64 {
        if self.sorted.is_empty() { 0 } else { ids.iter().filter(|&&id| self.contains(id)).count() as u64 }
    }

    /// Whether an id is that of a special token.
    pub(super) fn contains(&self, id: u32) -> bool {
        self.low_bits[usize::from(id as u16) / 64] >> (id % 64) & 1 == 1
            && self.sorted.binary_search(&id).is_ok()
    }
}
