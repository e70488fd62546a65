//! The lengths, bytes and tie keys of tokens.

use std::cmp::Ordering;

use super::options::Ties;
use crate::error::Result;
use crate::room;
use crate::vocab::Vocab;

/// The number of byte values. The ids below this number are the bytes.
pub(super) const BYTE_TOKENS: u32 = 256;

/// All tokens that were made so far, by internal id.
pub(super) struct TokenInfo {
    /// The number of cells of each token.
    lengths: Vec<u32>,
    /// The number of bytes of each token.
    sizes: Vec<u32>,
    /// The bytes of all tokens, one after the other; empty unless `keeps_bytes`.
    bytes: Vec<u8>,
    /// The end of each token in `bytes`.
    ends: Vec<usize>,
    /// The first eight bytes of each token as a big-endian number, with zeros after its end.
    prefixes: Vec<u64>,
    ties: Ties,
    /// Whether each byte in `bytes` stands for the rank of its printable character; see [`Ties::Spelling`].
    is_spelled: bool,
    /// Whether `bytes`, `ends` and `prefixes` are kept.
    keeps_bytes: bool,
}

impl TokenInfo {
    /// Starts with the 256 bytes, or with the tokens of `vocab`. Bytes are kept if the tie rule or the
    /// vocabulary needs them.
    pub(super) fn new(vocab: Option<&Vocab>, ties: Ties) -> Self {
        let is_spelled = ties == Ties::Spelling;
        let ties = if is_spelled { Ties::Bytes } else { ties };
        let mut tokens = TokenInfo {
            lengths: Vec::new(),
            sizes: Vec::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            prefixes: Vec::new(),
            ties,
            is_spelled,
            keeps_bytes: ties == Ties::Bytes || vocab.is_some_and(Vocab::has_unmergeable),
        };
        match vocab {
            None => (0..=255).for_each(|byte| tokens.add(&[byte])),
            Some(vocab) => vocab.tokens().iter().for_each(|(_, bytes)| tokens.add(bytes)),
        }
        tokens
    }

    /// Lets each token have one cell.
    pub(super) fn use_token_cells(&mut self) {
        self.lengths.fill(1);
    }

    fn add(&mut self, bytes: &[u8]) {
        self.lengths.push(bytes.len() as u32);
        self.sizes.push(bytes.len() as u32);
        if self.keeps_bytes {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(bytes);
            if self.is_spelled {
                self.bytes[start..]
                    .iter_mut()
                    .for_each(|byte| *byte = printable_rank(u32::from(*byte)) as u8);
            }
            self.ends.push(self.bytes.len());
            self.prefixes.push(prefix(&self.bytes[start..]));
        }
    }

    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// The tie rule.
    pub(super) fn ties(&self) -> Ties {
        self.ties
    }

    /// The number of cells of a token: one for each byte, or for each token that it was made of.
    #[inline]
    pub(super) fn length(&self, id: u32) -> u32 {
        self.lengths[id as usize]
    }

    /// The number of bytes that two tokens have together.
    #[inline]
    pub(super) fn size(&self, left: u32, right: u32) -> u32 {
        self.sizes[left as usize].saturating_add(self.sizes[right as usize])
    }

    /// Adds the token that a merge makes; returns its id.
    pub(super) fn push(&mut self, left: u32, right: u32) -> Result<u32> {
        let id = self.len() as u32;
        let (length, size) = (self.length(left) + self.length(right), self.size(left, right));
        room::push(&mut self.lengths, length)?;
        room::push(&mut self.sizes, size)?;
        if self.keeps_bytes {
            let start = self.bytes.len();
            room::reserve(&mut self.ends, 1)?;
            room::reserve(&mut self.prefixes, 1)?;
            for part in [left, right] {
                let range = self.range(part);
                room::reserve(&mut self.bytes, range.len())?;
                self.bytes.extend_from_within(range);
            }
            self.ends.push(self.bytes.len());
            self.prefixes.push(prefix(&self.bytes[start..]));
        }
        Ok(id)
    }

    /// The bytes of a token, which must be kept.
    pub(super) fn of(&self, id: u32) -> &[u8] {
        &self.bytes[self.range(id)]
    }

    /// All tokens by ascending id. Bytes must be kept.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..self.len() as u32).map(|id| (id, self.of(id)))
    }

    /// The joined bytes of a pair. Bytes must be kept.
    pub(super) fn joined(&self, left: u32, right: u32) -> Vec<u8> {
        [self.of(left), self.of(right)].concat()
    }

    /// The range of a token in `bytes`.
    fn range(&self, id: u32) -> std::ops::Range<usize> {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        start..self.ends[id]
    }

    /// A key that ranks a pair among equally frequent ones; the greater comes first. Under [`Ties::Bytes`] it
    /// holds the first bytes of both tokens, so equal keys decide nothing. Under [`Ties::First`] it will be a
    /// position; until that is looked up, it is the best one possible.
    pub(super) fn key(&self, left: u32, right: u32) -> [u64; 2] {
        match self.ties {
            Ties::Bytes | Ties::Spelling => [self.prefixes[left as usize], self.prefixes[right as usize]],
            Ties::Ids => [pack(left, right), 0],
            Ties::SmallestIds => [!pack(left, right), 0],
            Ties::HuggingFace => [!pack(printable_rank(left), printable_rank(right)), 0],
            Ties::PrintableIds => [pack(printable_rank(left), printable_rank(right)), 0],
            Ties::First => [u64::MAX, 0],
        }
    }

    /// Compares two tokens by their bytes, which must be kept.
    pub(super) fn compare(&self, left: u32, right: u32) -> Ordering {
        self.of(left).cmp(self.of(right))
    }
}

/// A pair as one number. Numbers are ordered like pairs.
#[inline]
pub(super) fn pack(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The first eight bytes as a big-endian number, with zeros after the end.
pub(super) fn prefix(bytes: &[u8]) -> u64 {
    let mut head = [0; 8];
    let length = bytes.len().min(8);
    head[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(head)
}

/// The rank of a token if bytes are in the order of GPT-2's files: first the printable ones (33..=126,
/// 161..=172, 174..=255), then the others. Merges follow by age.
pub(super) fn printable_rank(id: u32) -> u32 {
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
