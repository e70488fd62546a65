//! The bytes and the rank of each token.

use std::cmp::Ordering;

use super::options::Ties;
use crate::error::Result;
use crate::room;
use crate::vocab::Vocab;

/// Ids below this are the byte values.
pub(super) const BYTE_TOKENS: u32 = 256;

/// The tokens so far, by id.
pub(super) struct TokenInfo {
    lengths: Vec<u32>,
    /// The bytes of all tokens, one after the other; kept only where they are compared.
    bytes: Vec<u8>,
    /// Where each token ends in `bytes`.
    ends: Vec<usize>,
    /// The first eight bytes of each token, big-endian, zeros after its end.
    prefixes: Vec<u64>,
    ties: Ties,
    keeps_bytes: bool,
}

impl TokenInfo {
    /// The 256 bytes, or the tokens of `vocab`. The bytes of all are kept where they will be asked for.
    pub(super) fn new(vocab: Option<&Vocab>, ties: Ties) -> Self {
        let mut tokens = TokenInfo {
            lengths: Vec::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            prefixes: Vec::new(),
            ties,
            keeps_bytes: ties == Ties::Bytes || vocab.is_some_and(Vocab::has_unreachable),
        };
        match vocab {
            None => (0..=255).for_each(|byte| tokens.add(&[byte])),
            Some(vocab) => vocab.tokens().iter().for_each(|(_, bytes)| tokens.add(bytes)),
        }
        tokens
    }

    fn add(&mut self, bytes: &[u8]) {
        self.lengths.push(bytes.len() as u32);
        if self.keeps_bytes {
            self.bytes.extend_from_slice(bytes);
            self.ends.push(self.bytes.len());
            self.prefixes.push(prefix(bytes));
        }
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// The tie rule that the tokens are kept for.
    pub(super) fn ties(&self) -> Ties {
        self.ties
    }

    /// Bytes of a token.
    #[inline]
    pub(super) fn length(&self, id: u32) -> u32 {
        self.lengths[id as usize]
    }

    /// Adds the token that a merge makes; returns its id.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(super) fn push(&mut self, left: u32, right: u32) -> Result<u32> {
        let id = self.len() as u32;
        let length = self.length(left) + self.length(right);
        room::push(&mut self.lengths, length)?;
        if self.keeps_bytes {
            let start = self.bytes.len();
            room::reserve(&mut self.bytes, length as usize)?;
            room::reserve(&mut self.ends, 1)?;
            room::reserve(&mut self.prefixes, 1)?;
            for part in [left, right] {
                let range = self.range(part);
                self.bytes.extend_from_within(range);
            }
            self.ends.push(self.bytes.len());
            self.prefixes.push(prefix(&self.bytes[start..]));
        }
        Ok(id)
    }

    /// The bytes of a pair; only where those of tokens are kept.
    pub(super) fn joined(&self, left: u32, right: u32) -> Vec<u8> {
        [&self.bytes[self.range(left)], &self.bytes[self.range(right)]].concat()
    }

    fn range(&self, id: u32) -> std::ops::Range<usize> {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        start..self.ends[id]
    }

    /// The number that ranks a pair among equally frequent ones; the greater comes first. Under [`Ties::Bytes`] it is
    /// the first bytes of both tokens, and equal ones say nothing yet. Under [`Ties::First`] it would be a position:
    /// until that is looked up, the best one possible.
    pub(super) fn key(&self, left: u32, right: u32) -> [u64; 2] {
        match self.ties {
            Ties::Bytes => [self.prefixes[left as usize], self.prefixes[right as usize]],
            Ties::Ids => [pack(left, right), 0],
            Ties::SmallestIds => [!pack(left, right), 0],
            Ties::HuggingFace => [!pack(printable_rank(left), printable_rank(right)), 0],
            Ties::First => [u64::MAX, 0],
        }
    }

    /// Compares two tokens by their bytes.
    pub(super) fn compare(&self, one: u32, other: u32) -> Ordering {
        self.bytes[self.range(one)].cmp(&self.bytes[self.range(other)])
    }
}

/// A pair as one number, ordered as the pair.
#[inline]
pub(super) fn pack(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

pub(super) fn prefix(bytes: &[u8]) -> u64 {
    let mut head = [0; 8];
    let length = bytes.len().min(8);
    head[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(head)
}

/// The rank of a token where the bytes stand in the order of GPT-2's files: first those that print
/// (33..=126, 161..=172, 174..=255), then the others. Merges follow by age.
fn printable_rank(id: u32) -> u32 {
    match id {
        0..=32 => 188 + id,
        33..=126 => id - 33,
        127..=160 => 221 + (id - 127),
        161..=172 => 94 + (id - 161),
        173 => 255,
        174..=255 => 106 + (id - 174),
        _ => id,
    }
}
