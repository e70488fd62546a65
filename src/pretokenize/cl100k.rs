//! The rules of the patterns that resemble cl100k, and the rules that o200k shares with them.

use super::bits::{Carry, fill, next_byte, next_char, reaches_end, without_runs_into};
use super::block::BlockClasses;
use super::rules::{BlockPosition, NO_FALLBACK, Rules, Starts, last_spaces, with_contractions};

/// `DIGITS`: the maximum number of digits of a group, 1 to 3. `TRAILING`: whether whitespace at the end of
/// the text is one pretoken (`\s++$`), with or without newlines. `MARKS`: whether marks count as letters, not
/// as punctuation.
pub(super) struct Cl100k<const DIGITS: u32, const TRAILING: bool, const MARKS: bool>;

impl<const DIGITS: u32, const TRAILING: bool, const MARKS: bool> Rules for Cl100k<DIGITS, TRAILING, MARKS> {
    const CASE: bool = MARKS;

    #[inline(always)]
    fn starts(block: &BlockClasses, position: BlockPosition<'_>, carry: &mut Carry) -> Starts {
        let (letters, others) = match MARKS {
            true => (block.letters | block.marks, block.others & !block.marks),
            false => (block.letters, block.others),
        };
        let after_others = next_byte(others, &mut carry.others);
        let tail = tail(block.newlines, block.newlines & after_others, &mut carry.tail);
        let lines = WhitespaceStarts::<TRAILING>::new(block, tail, position, carry);
        let after_space = next_byte(block.spaces, &mut carry.spaces);
        let others = others & !after_others & !after_space;
        let prefixed = lines.after_blank | next_char(others, block.continuing, &mut carry.lone);
        let letters = letters & !next_byte(letters, &mut carry.letters) & !prefixed;
        let starts = lines.starts | others | letters | numbers::<DIGITS>(block, carry);
        let bits = with_contractions(starts, others & block.apostrophes, true, position, carry);
        Starts { bits, fallback_at: NO_FALLBACK }
    }
}

/// The newlines (and slashes) that belong to the punctuation before them: in the runs of `takes`, the bits at
/// or after a bit of `seeds`.
#[inline(always)]
pub(super) fn tail(takes: u64, seeds: u64, carry: &mut u64) -> u64 {
    let tail = fill(takes, seeds | takes & *carry);
    *carry = tail >> 63;
    tail
}

/// The starts of the pretokens of whitespace.
pub(super) struct WhitespaceStarts<const TRAILING: bool> {
    pub(super) starts: u64,
    /// The bytes directly after a whitespace character that can be the prefix of a word.
    pub(super) after_blank: u64,
}

impl<const TRAILING: bool> WhitespaceStarts<TRAILING> {
    /// `tail`: newlines that belong to punctuation.
    #[inline(always)]
    pub(super) fn new(
        block: &BlockClasses,
        tail: u64,
        position: BlockPosition<'_>,
        carry: &mut Carry,
    ) -> Self {
        let whitespace = block.whitespace & !tail;
        let blanks = whitespace & !block.newlines;
        let first = whitespace & !next_byte(whitespace, &mut carry.whitespace);
        let after_blank = next_byte(blanks, &mut carry.blanks);
        let after_newline = next_byte(block.newlines & !tail, &mut carry.newlines);
        let last = last_spaces(block, position) & blanks;
        let mut after_lines = blanks & after_newline;
        if after_lines != 0 {
            after_lines = Self::after_last_newline(after_lines, blanks, block, position);
        }
        WhitespaceStarts { starts: first | after_lines | last, after_blank }
    }

    /// The bits of `after_lines`, all of which follow newlines, after which the same run of whitespace has no
    /// further newline.
    #[inline(always)]
    fn after_last_newline(
        after_lines: u64,
        blanks: u64,
        block: &BlockClasses,
        position: BlockPosition<'_>,
    ) -> u64 {
        let end_of_text = if TRAILING { !block.valid } else { 0 };
        let mut in_block = without_runs_into(after_lines, blanks, block.newlines | end_of_text);
        if reaches_end(after_lines, blanks) && Self::newline_behind(block, position) {
            in_block &= !(1 << (63 - after_lines.leading_zeros()));
        }
        in_block
    }

    fn newline_behind(block: &BlockClasses, position: BlockPosition<'_>) -> bool {
        let is_newline = |byte| matches!(byte, b'\r' | b'\n');
        position
            .first_behind(block, |class, byte| class.is_space() && !is_newline(byte))
            .map_or(TRAILING, super::class::Class::is_space)
    }
}

/// The first digits of groups of `DIGITS`.
#[inline(always)]
pub(super) fn numbers<const DIGITS: u32>(block: &BlockClasses, carry: &mut Carry) -> u64 {
    let numbers = block.numbers;
    if DIGITS == 1 {
        return numbers & !block.continuing;
    }
    let first = numbers & !next_byte(numbers, &mut carry.numbers);
    let continues = numbers & 1 & !first;
    let pair_before = numbers & numbers << 1 & numbers << 2;
    let beyond = if DIGITS == 2 { pair_before } else { pair_before & numbers << 3 };
    if beyond | continues == 0 && numbers >> 63 == 0 {
        return first;
    }
    let (starts, room) = groups(first, numbers & !block.continuing, carry.room, DIGITS);
    carry.room = room;
    starts
}

/// The first digit of each group of `digits`. `room` is how many digits the last group of the block before
/// may still take. Also returns this number for the last group of this block.
fn groups(first: u64, mut left: u64, mut room: u32, digits: u32) -> (u64, u32) {
    let mut starts = 0;
    while left != 0 {
        let digit = left & left.wrapping_neg();
        left ^= digit;
        if first & digit != 0 || room == 0 {
            starts |= digit;
            room = digits;
        }
        room -= 1;
    }
    (starts, room)
}
