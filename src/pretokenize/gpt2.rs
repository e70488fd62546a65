//! The rules of GPT-2's pattern.

use super::bits::{Carry, next_byte};
use super::block::BlockClasses;
use super::rules::{BlockPosition, NO_FALLBACK, Rules, Starts, last_spaces, with_contractions};

pub(super) struct Gpt2;

impl Rules for Gpt2 {
    const CASE: bool = false;

    #[inline(always)]
    fn starts(block: &BlockClasses, position: BlockPosition<'_>, carry: &mut Carry) -> Starts {
        let BlockClasses { letters, numbers, others, whitespace, .. } = *block;
        let same = letters & next_byte(letters, &mut carry.letters)
            | numbers & next_byte(numbers, &mut carry.numbers)
            | others & next_byte(others, &mut carry.others);
        let text = block.valid & !whitespace & !same & !next_byte(block.spaces, &mut carry.spaces);
        let first = whitespace & !next_byte(whitespace, &mut carry.whitespace);
        let starts = text | first | last_spaces(block, position);
        let bits = with_contractions(starts, starts & block.apostrophes, false, position, carry);
        Starts { bits, fallback_at: NO_FALLBACK }
    }
}
