//! Functions and types that the rules of the patterns share.

use super::bits::Carry;
use super::block::BlockClasses;
use super::class::{ASCII, Class, decode_char};
use super::named::contraction;
use crate::simd::BLOCK_BYTES;

/// The rules of one pattern, or of a family of them: from the classes of a block to the starts of its
/// pretokens.
pub(super) trait Rules {
    /// Whether upper and lower case, and marks, make a difference.
    const CASE: bool;

    /// Which bytes of the block start pretokens.
    fn starts(block: &BlockClasses, position: BlockPosition<'_>, carry: &mut Carry) -> Starts;
}

/// The block of a text that is looked at.
#[derive(Clone, Copy)]
pub(super) struct BlockPosition<'t> {
    pub(super) text: &'t [u8],
    pub(super) base: usize,
}

impl BlockPosition<'_> {
    /// The end of the block's last character, which may be after the block.
    #[inline(always)]
    fn end(self, block: &BlockClasses) -> usize {
        (self.base + BLOCK_BYTES + block.split_char.len as usize).min(self.text.len())
    }

    /// All ones if something other than whitespace follows the block's last character, else zeros. The result
    /// only matters if this last character is whitespace.
    #[inline(always)]
    fn text_behind(self, block: &BlockClasses) -> u64 {
        let Some(&byte) = self.text.get(self.base + BLOCK_BYTES) else { return 0 };
        // No branch for the usual case: one block in five ends in a space.
        match ASCII.get(usize::from(byte)) {
            Some(class) => 0_u64.wrapping_sub((!class.is_space()).into()),
            None if block.whitespace >> 63 == 0 => 0,
            None => match self.first_behind(block, |_, _| false) {
                Some(class) if !class.is_space() => !0,
                _ => 0,
            },
        }
    }

    /// The first character after the block that `passes` does not take.
    #[inline(always)]
    pub(super) fn first_behind(
        self,
        block: &BlockClasses,
        passes: impl Fn(Class, u8) -> bool,
    ) -> Option<Class> {
        let mut at = self.end(block);
        while at < self.text.len() {
            let (class, len) = decode_char(self.text, at);
            if !passes(class, self.text[at]) {
                return Some(class);
            }
            at += len;
        }
        None
    }
}

/// The starts in a block.
#[derive(Clone, Copy)]
pub(super) struct Starts {
    pub(super) bits: u64,
    /// From this byte of the text on, the starts may be wrong, and the plain matcher must be used.
    /// [`NO_FALLBACK`] if all are right.
    pub(super) fallback_at: usize,
}

pub(super) const NO_FALLBACK: usize = usize::MAX;

/// The last characters of runs of whitespace that something else follows.
#[inline(always)]
pub(super) fn last_spaces(block: &BlockClasses, position: BlockPosition<'_>) -> u64 {
    let text = block.valid & !block.whitespace;
    let behind = position.text_behind(block);
    let (two, three) = (block.spaces_of_two, block.spaces_of_three);
    let ends_here = block.whitespace & !block.continuing & !two & !three;
    let mut last = ends_here & (text >> 1 | behind << 63);
    if two | three != 0 {
        last |= two & (text >> 2 | behind << 62) | three & (text >> 3 | behind << 61);
    }
    last
}

/// Adds the contractions that begin at one of `apostrophes`. Each of them is a pretoken of its own.
#[inline(always)]
pub(super) fn with_contractions(
    starts: u64,
    mut apostrophes: u64,
    fold: bool,
    position: BlockPosition<'_>,
    carry: &mut Carry,
) -> u64 {
    let (mut set, mut clear) = (0, 0);
    while apostrophes != 0 {
        let offset = apostrophes.trailing_zeros() as usize;
        apostrophes &= apostrophes - 1;
        let at = position.base + offset;
        if let Some(end) = contraction(position.text, at, fold) {
            set |= 1_u128 << (end - position.base);
            clear |= (1_u128 << (end - position.base)) - (2_u128 << offset);
        }
    }
    edited(starts, set, clear, carry)
}

/// `starts`, changed by the contractions of this block and of the one before.
#[inline(always)]
pub(super) fn edited(starts: u64, set: u128, clear: u128, carry: &mut Carry) -> u64 {
    let starts = starts & !(clear as u64 | carry.clear) | set as u64 | carry.set;
    (carry.set, carry.clear) = ((set >> 64) as u64, (clear >> 64) as u64);
    starts
}
