//! Search for many special tokens: filters first, then hash tables.
//!
//! An automaton of 100,000 words takes 30 MB and half a second to build, and searches 50 to 100 MB/s, since
//! its states fit no cache. Here, vector code skips most of a text without tokens, and a Bloom filter most of
//! the rest: 0.7 to 5 GB/s of English that has none of 1,100 tokens.

mod bloom;
mod group;
mod table;
#[cfg(test)]
pub(super) mod tests;

use group::{Group, Search};

use crate::simd::{BLOCK_BYTES, Isa};

/// Tokens in hash tables behind filters.
#[derive(Clone, Debug)]
pub(super) struct ManyTokens {
    /// Groups of tokens by length, the longest first.
    groups: Vec<Group>,
    isa: Isa,
}

/// The length of the shortest token of each group. A longer prefix lets fewer places through, and a prefix
/// cannot be longer than the shortest token of its group.
const GROUP_MIN_BYTES: [usize; 4] = [6, 3, 2, 1];

/// Bytes of the first window that is searched for all groups, and of the largest one: windows double, so that
/// a token that is near is found soon and a long search starts the groups rarely. Both end 8 bytes before a
/// block does, so that a prefix that reaches beyond a window stays in the block.
const FIRST_WINDOW_BYTES: usize = BLOCK_BYTES - 8;
const MAX_WINDOW_BYTES: usize = 64 * BLOCK_BYTES - 8;

/// The maximum number of different lengths of tokens with the same prefix, since each of them may be tried at
/// one place of a text.
const MAX_LENGTHS: u32 = 32;

impl ManyTokens {
    /// A search for tokens, none of them empty. `None` if a token is longer than [`table::MAX_LENGTH`], or if
    /// tokens of more than [`MAX_LENGTHS`] lengths have the same prefix, which could make a search slow.
    pub(super) fn new(all: &[Vec<u8>]) -> Option<Self> {
        if all.iter().any(|token| token.len() > table::MAX_LENGTH) {
            return None;
        }
        let many = Self::with_isa(all, Isa::best());
        many.groups.iter().all(|group| group.max_lengths() <= MAX_LENGTHS).then_some(many)
    }

    fn with_isa(all: &[Vec<u8>], isa: Isa) -> Self {
        let mut groups = Vec::new();
        let mut below = usize::MAX;
        for min_bytes in GROUP_MIN_BYTES {
            let within = |index: &u32| (min_bytes..below).contains(&all[*index as usize].len());
            let members: Vec<u32> = (0..all.len() as u32).filter(within).collect();
            if !members.is_empty() {
                groups.push(Group::new(all, &members));
            }
            below = min_bytes;
        }
        ManyTokens { groups, isa }
    }

    /// The leftmost token that starts at `from` or later, the longest one there: its index and its start.
    pub(super) fn find(&self, all: &[Vec<u8>], text: &[u8], from: usize) -> Option<(usize, usize)> {
        let (mut from, mut len) = (from, FIRST_WINDOW_BYTES);
        while from < text.len() {
            let end = text.len().min(from + len);
            let (mut to, mut best) = (end, None);
            for group in &self.groups {
                let check = |at: usize| self.longest(all, &text[at..]).map(|index| (index, at));
                if let Some((index, at)) = self.isa.run(Search { group, text, from, to, check }) {
                    (to, best) = (at, Some((index, at)));
                }
            }
            if best.is_some() {
                return best;
            }
            (from, len) = (end, (2 * len).min(MAX_WINDOW_BYTES));
        }
        None
    }

    /// The longest token that `text` begins with.
    fn longest(&self, all: &[Vec<u8>], text: &[u8]) -> Option<usize> {
        self.groups.iter().find_map(|group| group.longest(all, text))
    }
}
