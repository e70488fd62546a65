//! Which long pretokens are worth caching: those that occur a second time.
//!
//! Most pretokens of a text occur once. One whose record takes much room, or that costs little without a
//! record, is cached only when the filter has seen its hash before.

/// Words of the overflow ring for each mark, as a power of two.
const RING_WORDS_PER_MARK: u32 = 4;
/// The bit of a mark that says that another hash has wanted the mark's place since. A mark with this bit
/// alone is a free place.
const CHALLENGED: u8 = 0x80;

/// Marks of hashes that were seen once. It is allocated when the first hash is seen.
pub(super) struct AdmissionFilter {
    /// Seven bits of a hash that was seen, at a place that its upper bits choose, and [`CHALLENGED`].
    marks: Vec<u8>,
    /// A hash shifted right by this many bits is the place of its mark.
    shift: u32,
}

impl AdmissionFilter {
    /// An empty filter beside an overflow ring of `1 << ring_bits` words.
    pub(super) fn for_ring(ring_bits: u32) -> Self {
        AdmissionFilter { marks: Vec::new(), shift: 64 + RING_WORDS_PER_MARK - ring_bits }
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    /// Whether this hash was seen before, and not too many others since. If so, the filter forgets the hash,
    /// because its pretoken is cached from now on. Otherwise the filter marks the hash.
    ///
    /// A mark gives way to the second hash that wants its place, not to the first. Otherwise two pretokens
    /// with one place that occur in turn would never be admitted: a fifth of those that the filter sees in a
    /// text of many languages.
    #[inline]
    pub(super) fn admits(&mut self, hash: u64) -> bool {
        if self.marks.is_empty() {
            // All marks are written at once, like the ring's index: see `overflow::FREE_SLOT`.
            self.marks = vec![CHALLENGED; 1 << (64 - self.shift)];
        }
        let (place, tag) = (self.place(hash), (hash as u8 & !CHALLENGED).max(1));
        let mark = &mut self.marks[place];
        let again = *mark & !CHALLENGED == tag;
        *mark = match *mark & CHALLENGED {
            _ if again => CHALLENGED,
            CHALLENGED => tag,
            _ => *mark | CHALLENGED,
        };
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashing::{GOLDEN, fold};

    #[test]
    fn a_hash_is_admitted_the_second_time() {
        let mut filter = AdmissionFilter::for_ring(12);
        let hashes: Vec<u64> = (0..30).map(|number: u64| fold(number + 1, GOLDEN)).collect();
        let admitted =
            |filter: &mut AdmissionFilter| hashes.iter().filter(|&&hash| filter.admits(hash)).count();
        assert!(admitted(&mut filter) < 3);
        assert!(admitted(&mut filter) > 15);
    }

    #[test]
    fn hashes_that_come_in_turn_are_admitted() {
        let mut filter = AdmissionFilter::for_ring(12);
        // The marks of the two share a place.
        let mut left = vec![1_u64, 2];
        for round in 0..9 {
            left.retain(|&hash| !filter.admits(hash));
            assert!(round > 0 || left.len() == 2);
        }
        assert!(left.is_empty());
        assert!(!filter.admits(2), "a hash that was admitted is forgotten");
    }
}
