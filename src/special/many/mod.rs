//! Search for many special tokens: filters, then tables.
//!
//! An automaton of 100,000 words takes 30 MB and half a second to build, and is walked at 50 to 100 MB/s: its states do
//! not fit any cache. Here text without tokens is passed over in vector code as far as its bytes tell, and what is left
//! by a filter of hashes: 1 to 4 GB/s.

mod bloom;
mod group;
mod table;
#[cfg(test)]
mod tests;

use group::{Group, Search};

use crate::simd::{BLOCK_BYTES, Isa};

/// Tokens by their bytes, behind filters.
#[derive(Clone, Debug)]
pub(super) struct ManyTokens {
    /// By length, the longest first.
    groups: Vec<Group>,
    isa: Isa,
}

/// Bytes of the shortest tokens of the groups: a prefix tells the better the longer it is, and none is longer than the
/// shortest token of its group.
const GROUP_MIN_BYTES: [usize; 4] = [6, 3, 2, 1];

/// Bytes searched at first, and at the most, before the places of all groups are compared.
const FIRST_WINDOW_BYTES: usize = BLOCK_BYTES - 8;
const MAX_WINDOW_BYTES: usize = 64 * BLOCK_BYTES - 8;

/// Lengths of tokens with the same prefix at the most: each may be tried at one place of a text.
const MAX_LENGTHS: u32 = 32;

impl ManyTokens {
    /// The tokens, which are not empty. `None` where one is longer than 128 bytes, or where a search could take long
    /// because tokens of more than [`MAX_LENGTHS`] lengths begin alike.
    pub(super) fn new(all: &[Vec<u8>]) -> Option<Self> {
        if all.iter().any(|token| token.len() > table::MAX_LENGTH) {
            return None;
        }
        let many = Self::with_isa(all, Isa::best());
        many.groups.iter().all(|group| group.most_lengths() <= MAX_LENGTHS).then_some(many)
    }

    fn with_isa(all: &[Vec<u8>], isa: Isa) -> Self {
        let mut groups = Vec::new();
        let mut below = usize::MAX;
        for least in GROUP_MIN_BYTES {
            let within = |index: &u32| (least..below).contains(&all[*index as usize].len());
            let members: Vec<u32> = (0..all.len() as u32).filter(within).collect();
            if !members.is_empty() {
                groups.push(Group::new(all, &members));
            }
            below = least;
        }
        ManyTokens { groups, isa }
    }

    /// The leftmost token from `from` on, of those the longest: its index and where it starts.
    pub(super) fn find(&self, all: &[Vec<u8>], text: &[u8], from: usize) -> Option<(usize, usize)> {
        let (mut from, mut len) = (from, FIRST_WINDOW_BYTES);
        while from < text.len() {
            let end = text.len().min(from + len);
            let (mut to, mut found) = (end, None);
            for group in &self.groups {
                let check = |at: usize| self.longest(all, &text[at..]).map(|index| (index, at));
                if let Some((index, at)) = self.isa.run(Search { group, text, from, to, check }) {
                    (to, found) = (at, Some((index, at)));
                }
            }
            if found.is_some() {
                return found;
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
