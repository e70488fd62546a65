//! The rules of the patterns that resemble o200k, which distinguish upper and lower case and treat marks as
//! letters.
//!
//! A word is `[upper caseless]*[lower caseless]+` or, if that does not match, capitals alone. So a capital
//! starts a new word after a small letter (also if caseless letters stand between the two). It also starts
//! one after a caseless letter, if no small or caseless letter follows the run of capitals.

use super::bits::{Carry, fill, next_byte, next_char, reaches_end, without_runs_into};
use super::block::BlockClasses;
use super::cl100k::{WhitespaceStarts, numbers, tail};
use super::class::{Class, decode_char};
use super::named::contraction;
use super::rules::{BlockPosition, NO_FALLBACK, Rules, Starts, edited};

/// `DIGITS`: how many make a group. `SUFFIXES`: whether contractions belong to the words before them.
pub(super) struct O200k<const DIGITS: u32, const SUFFIXES: bool>;

impl<const DIGITS: u32, const SUFFIXES: bool> Rules for O200k<DIGITS, SUFFIXES> {
    const CASE: bool = true;

    #[inline(always)]
    fn starts(block: &BlockClasses, position: BlockPosition<'_>, carry: &mut Carry) -> Starts {
        let after_space = next_byte(block.spaces, &mut carry.spaces);
        let others =
            if block.marks == 0 { block.others } else { others_with_marks(block, after_space, carry) };
        let letters = block.letters | block.marks & !others;

        let takes = block.newlines | block.slashes;
        let before = *carry;
        let tail = tail(takes, block.newlines & (others << 1 | before.others), &mut carry.tail);
        let others = others & !tail;
        let lines = WhitespaceStarts::<false>::new(block, tail, position, carry);

        let after_others = next_byte(others, &mut carry.others);
        let first_others = others & !after_others & !after_space;
        let prefixed = lines.after_blank | next_char(first_others, block.continuing, &mut carry.lone);
        let after_letters = next_byte(letters, &mut carry.letters);
        let words = letters & !after_letters & !prefixed | capitals(block, letters, position, carry);
        let starts = lines.starts | first_others | words | numbers::<DIGITS>(block, carry);

        let mut result = match SUFFIXES {
            true => with_suffixes(starts, block.apostrophes & after_letters, position, carry),
            // No start changes, except where the plain matcher has found an end: see `Scanner::start_at`.
            false => Starts { bits: edited(starts, 0, 0, carry), fallback_at: NO_FALLBACK },
        };
        if block.marks != 0 && tail & block.slashes != 0 {
            // Whether marks after such slashes are letters was decided as if the slashes were punctuation.
            let slash = position.base + (tail & block.slashes).trailing_zeros() as usize;
            result.fallback_at = result.fallback_at.min(slash);
        }
        result
    }
}

/// Punctuation and the marks that continue a run of it. Marks directly after the first character of a run are
/// not among them, since this character is then the prefix of a word.
#[inline(always)]
fn others_with_marks(block: &BlockClasses, after_space: u64, carry: &Carry) -> u64 {
    let mut others = block.others & !block.marks;
    loop {
        let after = others << 1 | carry.others;
        let first = others & !after & !after_space;
        let prefixed = next_char(first, block.continuing, &mut { carry.lone });
        let run_on = fill(block.marks, block.marks & after & !prefixed);
        if run_on & !others == 0 {
            return others;
        }
        // The added marks may cause further marks to be added.
        others |= run_on;
    }
}

/// The capitals inside a run of letters that start words.
#[inline(always)]
fn capitals(block: &BlockClasses, letters: u64, position: BlockPosition<'_>, carry: &mut Carry) -> u64 {
    let (upper, lower) = (block.upper, block.lower);
    let caseless = letters & !(upper | lower);
    if caseless | carry.caseless == 0 {
        return upper & next_byte(lower, &mut carry.lower);
    }
    let after_lower = fill(caseless, caseless & (lower << 1 | carry.lower));
    let starts = upper & next_byte(lower | after_lower, &mut carry.lower);
    let mut maybe = upper & next_byte(caseless & !after_lower, &mut carry.caseless);
    if maybe != 0 {
        let runs_on = reaches_end(maybe, upper) && word_goes_on_behind(block, position);
        let last = 1 << (63 - maybe.leading_zeros());
        maybe = without_runs_into(maybe, upper, lower | caseless);
        if runs_on {
            maybe &= !last;
        }
    }
    starts | maybe
}

/// Whether the run of capitals that continues after the block is followed by a small or caseless letter, or a
/// mark.
fn word_goes_on_behind(block: &BlockClasses, position: BlockPosition<'_>) -> bool {
    let is_capital = |class| matches!(class, Class::Upper | Class::Title);
    let end = position.first_behind(block, |class, _| is_capital(class));
    end.is_some_and(|class| class.is_letter() || class.is_mark())
}

/// Contractions at the end of words: `apostrophes` are those after letters.
#[inline(always)]
fn with_suffixes(
    starts: u64,
    mut apostrophes: u64,
    position: BlockPosition<'_>,
    carry: &mut Carry,
) -> Starts {
    let (mut set, mut clear) = (u128::from(carry.set), 0);
    let mut fallback_at = NO_FALLBACK;
    while apostrophes != 0 {
        let offset = apostrophes.trailing_zeros() as usize;
        apostrophes &= apostrophes - 1;
        if set >> offset & 1 != 0 {
            continue; // It follows a contraction: it begins a pretoken.
        }
        let Some(end) = contraction(position.text, position.base + offset, true) else { continue };
        set |= 1 << (end - position.base);
        clear |= (1_u128 << (end - position.base)) - (1_u128 << offset);
        let class = if end < position.text.len() { decode_char(position.text, end).0 } else { Class::Other };
        if matches!(class, Class::Modifier | Class::OtherLetter | Class::Mark) {
            // A new word begins here, but the masks have it continue the letters of the contraction.
            fallback_at = fallback_at.min(end);
        }
    }
    Starts { bits: edited(starts, set, clear, carry), fallback_at }
}
