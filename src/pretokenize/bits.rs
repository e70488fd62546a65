//! Arithmetic on masks of 64 bytes, and the state that one block hands to the next.

/// Moves `mask` on by one byte. The bit that leaves the block enters the next block through `carry`, which is
/// 0 or 1.
#[inline(always)]
pub(super) fn next_byte(mask: u64, carry: &mut u64) -> u64 {
    let moved = mask << 1 | *carry;
    *carry = mask >> 63;
    moved
}

/// Moves from the first bytes of some characters to the first bytes of the characters that follow them.
///
/// `continuing` are all bytes of characters but their first; an addition carries the bits across them.
#[inline(always)]
pub(super) fn next_char(firsts: u64, continuing: u64, carry: &mut u64) -> u64 {
    let (sum, over) = next_byte(firsts, carry).overflowing_add(continuing);
    *carry |= u64::from(over);
    sum & !continuing
}

/// The bits of each run in `mask` that are at or after a bit of `seeds`; all seeds are in `mask`.
#[inline(always)]
pub(super) fn fill(mask: u64, seeds: u64) -> u64 {
    // The sum clears a run from its first seed on, except for further seeds.
    mask & (mask.wrapping_add(seeds) ^ mask | seeds)
}

/// Removes from `starts`, each the first bit of a run in `mask`, those whose run ends directly before a bit
/// of `bad`.
#[inline(always)]
pub(super) fn without_runs_into(mut starts: u64, mask: u64, bad: u64) -> u64 {
    let mut ends = mask.wrapping_add(starts) & !mask & bad;
    // Ends are rare, one or two at a time. Mapping an end back to its start without a loop would take a
    // reversal of all bits.
    while ends != 0 {
        let end = ends & ends.wrapping_neg();
        ends ^= end;
        let before = starts & (end - 1);
        if before != 0 {
            starts ^= 1 << (63 - before.leading_zeros());
        }
    }
    starts
}

/// Whether a run in `mask` that begins at one of `starts` reaches the end of the block.
#[inline(always)]
pub(super) fn reaches_end(starts: u64, mask: u64) -> bool {
    mask.overflowing_add(starts).1
}

/// The state that one block hands to the next: each field is 0 or 1 unless it says otherwise, and all are 0
/// where a pretoken starts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carry {
    pub(super) letters: u64,
    pub(super) numbers: u64,
    pub(super) others: u64,
    pub(super) spaces: u64,
    pub(super) whitespace: u64,
    pub(super) newlines: u64,
    /// Whitespace that is not a newline.
    pub(super) blanks: u64,
    /// Newlines that belong to the punctuation before them.
    pub(super) tail: u64,
    /// The last character is the first one of a run of punctuation: a letter after it takes it as its prefix.
    pub(super) lone: u64,
    /// The word has had a small letter.
    pub(super) lower: u64,
    /// The word has had no small letter, and the last character has no case.
    pub(super) caseless: u64,
    /// How many digits may still join the last group.
    pub(super) room: u32,
    /// Because of a contraction, these bytes of the next block start a pretoken (`set`) or do not start one
    /// (`clear`).
    pub(super) set: u64,
    pub(super) clear: u64,
}
