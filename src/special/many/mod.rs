//! Search for many special tokens: filters, then tables.
//!
//! An automaton of 100,000 tokens takes 100 MB and most of a second to build, and is slow to walk: its states do
//! not fit any cache. Here text without tokens is passed over in vector code as far as its bytes tell, and what is left
//! by a filter of hashes.

mod bloom;
mod grams;
mod group;
mod heads;
mod shape;
mod sorted;
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

/// The shortest tokens of the groups: what tells a long token tells it the better the more bytes it has, but a short one
/// has no more.
const GROUP_MIN_BYTES: [usize; 4] = [6, 3, 2, 1];

/// Bytes searched at first, and at the most, before the places of all groups are compared.
const FIRST_WINDOW_BYTES: usize = BLOCK_BYTES - 8;
const MAX_WINDOW_BYTES: usize = 64 * BLOCK_BYTES - 8;

impl ManyTokens {
    /// Of tokens that are not empty, and short: at a place that nearly is one, all its bytes may be compared.
    pub(super) fn new(all: &[Vec<u8>]) -> Self {
        Self::with_isa(all, Isa::best())
    }

    fn with_isa(all: &[Vec<u8>], isa: Isa) -> Self {
        let mut groups = Vec::new();
        let mut below = usize::MAX;
        for least in GROUP_MIN_BYTES {
            let within = |index: &u32| (least..below).contains(&all[*index as usize].len());
            let members: Vec<u32> = (0..all.len() as u32).filter(within).collect();
            let tokens: Vec<&[u8]> = members.iter().map(|&index| all[index as usize].as_slice()).collect();
            if let Some(shortest) = tokens.iter().map(|token| token.len()).min() {
                groups.push(Group::new(shape::choose(shortest, &tokens), all, &members));
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
