//! Whether a text may begin with a token: by up to 16 bytes of it, in a filter of hashes.
//!
//! Text that begins like many tokens and is none (a word among words) is told from them by a hash of as many bytes as
//! a token has.

use super::bloom::Bloom;
use super::grams::eight;
use crate::simd::{SALT, fold};

/// The first bytes of tokens, up to [`MAX_HEAD_BYTES`] of each.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    bloom: Bloom,
    /// The lengths of heads that there are up to 8 bytes, and those above: bit `n` for `n` bytes.
    lengths: u32,
}

const MAX_HEAD_BYTES: usize = 16;
const HALF_HEAD_BYTES: usize = 8;
/// A bit for each length up to 8.
const SHORT_LENGTHS: u32 = (1 << (HALF_HEAD_BYTES + 1)) - 1;

impl Heads {
    pub(super) fn new<'t>(tokens: impl Iterator<Item = &'t [u8]> + Clone) -> Self {
        let long = tokens.clone().filter(|token| token.len() > HALF_HEAD_BYTES).count();
        let mut heads = Heads { bloom: Bloom::new(tokens.clone().count() + long), lengths: 0 };
        for token in tokens {
            let (len, first) = (token.len().min(MAX_HEAD_BYTES), eight(token));
            heads.lengths |= 1 << len;
            if len <= HALF_HEAD_BYTES {
                heads.bloom.add(short(first, len));
            } else {
                heads.bloom.add(LONG_HEAD_SALT ^ first);
                heads.bloom.add(long_head(first, eight(&token[len - HALF_HEAD_BYTES..]), len));
            }
        }
        heads
    }

    /// `false` where no token begins the text.
    #[inline(always)]
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        let first = eight(text);
        let (mut lengths, mut may) = (self.lengths & SHORT_LENGTHS, false);
        while lengths != 0 {
            may |= self.bloom.may_have(short(first, lengths.trailing_zeros() as usize));
            lengths &= lengths - 1;
        }
        may || self.lengths > SHORT_LENGTHS
            && self.bloom.may_have(LONG_HEAD_SALT ^ first)
            && self.may_begin_long(first, text)
    }

    fn may_begin_long(&self, first: u64, text: &[u8]) -> bool {
        (HALF_HEAD_BYTES + 1..=MAX_HEAD_BYTES.min(text.len())).any(|len| {
            self.lengths >> len & 1 != 0
                && self.bloom.may_have(long_head(first, eight(&text[len - HALF_HEAD_BYTES..]), len))
        })
    }
}

/// What tells the first half of a longer head from a head of 8 bytes.
const LONG_HEAD_SALT: u64 = 0xA076_1D64_78BD_642F;

/// The first `len` bytes of `first`, from 1 to 8, and the length.
#[inline(always)]
fn short(first: u64, len: usize) -> u64 {
    (first & u64::MAX >> (64 - 8 * len)).wrapping_add(SALT[0].wrapping_mul(len as u64))
}

/// The first and the last 8 of `len` bytes.
#[inline(always)]
fn long_head(first: u64, last: u64, len: usize) -> u64 {
    fold(first ^ SALT[1], last ^ LONG_HEAD_SALT).wrapping_add(len as u64)
}
