//! The rules of GPT-2's pattern.

use super::bits::{Carry, next_byte};
use super::block::Block;
use super::rules::{NO_TROUBLE, Place, Rules, Starts, last_spaces, with_contractions};

pub(super) struct Gpt2;

impl Rules for Gpt2 {
    const CASE: bool = false;

    #[inline(always)]
    fn starts(block: &Block, place: Place<'_>, carry: &mut Carry) -> Starts {
        let Block { letters, numbers, others, whitespace, .. } = *block;
        let same = letters & next_byte(letters, &mut carry.letters)
            | numbers & next_byte(numbers, &mut carry.numbers)
            | others & next_byte(others, &mut carry.others);
        let text = block.valid & !whitespace & !same & !next_byte(block.spaces, &mut carry.spaces);
        let first = whitespace & !next_byte(whitespace, &mut carry.whitespace);
        let starts = text | first | last_spaces(block, place);
        let bits = with_contractions(starts, starts & block.apostrophes, false, place, carry);
        Starts { bits, trouble: NO_TROUBLE }
    }
}
