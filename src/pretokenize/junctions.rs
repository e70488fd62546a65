//! Pretokens that end between two characters that never merge.
//!
//! In a vocabulary of characters the text between two special tokens is one pretoken. A merge across the
//! place between two characters makes a token with the last byte of the one and the first byte of the other
//! in the middle. If the parts of no merge meet with these two bytes, no merge ever crosses such a place, and
//! both sides can be encoded separately. So cutting there changes no id, and the text between two such
//! places, mostly a word, is seen again and again.

use crate::simd::ENDS;

/// A set of pairs of bytes: the last byte of a character and the first byte of the next. Between the bytes of
/// such a pair a pretoken ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Junctions {
    /// A bit for each pair, as a little-endian number: so the two bytes are read at once.
    cuts: Box<[u64; PAIRS / 64]>,
}

const PAIRS: usize = 1 << 16;

impl Junctions {
    /// Pretokens that end nowhere, or before each space.
    pub fn new(before_spaces: bool) -> Self {
        let mut none = Junctions { cuts: Box::new([0; PAIRS / 64]) };
        if before_spaces {
            (0..=255).for_each(|before| none.set(before, b' '));
        }
        none
    }

    /// Pretokens that end between all characters, except between the pairs of bytes that are `joined`.
    pub(crate) fn all_but(joined: impl Iterator<Item = (u8, u8)>) -> Self {
        let mut all = Junctions::new(false);
        for before in 0..=255 {
            // A byte of 0x80 to 0xBF is inside a character.
            (0..=255).filter(|after| after & 0xC0 != 0x80).for_each(|after| all.set(before, after));
        }
        for (before, after) in joined {
            let at = pair(before, after);
            all.cuts[at / 64] &= !(1 << (at % 64));
        }
        all
    }

    /// The pairs of both sets.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let cuts = Box::new(std::array::from_fn(|at| self.cuts[at] | other.cuts[at]));
        Junctions { cuts }
    }

    fn set(&mut self, before: u8, after: u8) {
        let at = pair(before, after);
        self.cuts[at / 64] |= 1 << (at % 64);
    }

    /// Whether a pretoken ends between two bytes.
    #[inline(always)]
    pub(crate) fn is_cut(&self, before: u8, after: u8) -> bool {
        let at = pair(before, after);
        self.cuts[at / 64] >> (at % 64) & 1 == 1
    }

    /// Whether a pretoken ends at a place in a text; false at both ends.
    #[inline(always)]
    pub(crate) fn is_cut_at(&self, text: &[u8], at: usize) -> bool {
        let pair = text.get(at.wrapping_sub(1)..).and_then(<[u8]>::first_chunk);
        pair.is_some_and(|&[before, after]| self.is_cut(before, after))
    }
}

#[inline(always)]
fn pair(before: u8, after: u8) -> usize {
    usize::from(u16::from_le_bytes([before, after]))
}

/// The pretokens of a text.
pub(crate) struct JunctionScanner<'a> {
    junctions: &'a Junctions,
    text: &'a [u8],
    /// The place that is looked at next; beyond the text after the last end.
    at: usize,
}

impl<'a> JunctionScanner<'a> {
    pub(crate) fn new(junctions: &'a Junctions, text: &'a [u8]) -> Self {
        JunctionScanner { junctions, text, at: if text.is_empty() { 1 } else { 0 } }
    }

    /// Writes where the next pretokens end and returns how many: 0 only at the end of the text.
    #[inline]
    pub(crate) fn fill(&mut self, ends: &mut [usize; ENDS]) -> usize {
        let JunctionScanner { junctions, text, at } = self;
        let mut count = 0;
        // Each place is written, and kept only if it is an end, so that no branch depends on the text.
        while *at + 1 < text.len() && count < ENDS {
            let last = text.len().min(*at + 1 + ENDS - count);
            for (place, pair) in (*at + 1..last).zip(text[*at..last].windows(2)) {
                ends[count] = place;
                count += usize::from(junctions.is_cut(pair[0], pair[1]));
            }
            *at = last - 1;
        }
        if *at + 1 == text.len() && count < ENDS {
            ends[count] = text.len();
            count += 1;
            *at = text.len() + 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretokens<'t>(junctions: &Junctions, text: &'t str) -> Vec<&'t str> {
        let mut scanner = JunctionScanner::new(junctions, text.as_bytes());
        let (mut parts, mut ends, mut start) = (Vec::new(), [0; ENDS], 0);
        while let count @ 1.. = scanner.fill(&mut ends) {
            parts.extend(ends[..count].iter().map(|&end| &text[std::mem::replace(&mut start, end)..end]));
        }
        parts
    }

    #[test]
    fn pretokens_end_where_nothing_merges() {
        let joined = [(b'a', b'b'), (b' ', b'a'), (0xA9, b'a')];
        let junctions = Junctions::all_but(joined.into_iter());
        assert_eq!(pretokens(&junctions, "ab ab  éa漢a"), ["ab", " ab", " ", " ", "éa", "漢", "a"]);
        assert_eq!(pretokens(&junctions, ""), [""; 0]);
        assert_eq!(pretokens(&junctions, "a"), ["a"]);
        let spaces = Junctions::new(true);
        assert_eq!(pretokens(&spaces, "ab  c é "), ["ab", " ", " c", " é", " "]);
        assert_eq!(pretokens(&junctions.union(&spaces), "ab ab"), ["ab", " ab"]);
    }

    #[test]
    fn all_ends_of_a_long_text_are_found() {
        let junctions = Junctions::all_but([(b'a', b'a')].into_iter());
        for len in [1, 2, ENDS - 1, ENDS, ENDS + 1, 3 * ENDS, 3 * ENDS + 7] {
            let single = "ab".repeat(len);
            assert_eq!(pretokens(&junctions, &single).len(), 2 * len);
            assert_eq!(pretokens(&junctions, &"a".repeat(len)), ["a".repeat(len)]);
        }
    }
}
