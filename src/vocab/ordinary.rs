//! Ordinary tokens by their bytes.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::tokens::TokenBytes;
use crate::error::{Error, Result, show};

/// Maps bytes to the index of an ordinary token. Takes five bytes for each token, since it refers to the
/// table of tokens for their bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordinary(HashTable<u32>);

impl Ordinary {
    pub(super) fn with_room(count: usize) -> Self {
        Ordinary(HashTable::with_capacity(count))
    }

    /// Indexes tokens.
    pub(super) fn new(tokens: &TokenBytes, indices: impl Iterator<Item = u32>) -> Result<Self> {
        let mut ordinary = Ordinary::with_room(tokens.len());
        for index in indices {
            ordinary.insert(tokens, index).map_err(|first| {
                let (token, first, second) =
                    (show(tokens.bytes_at(index)), tokens.id_at(first), tokens.id_at(index));
                Error::Vocab(format!(
                    "the token {token} has two ids, {first} and {second}: drop one, or list it as a special token"
                ))
            })?;
        }
        Ok(ordinary)
    }

    /// Adds the token at `index`. If another token has the same bytes, returns its index as an error.
    pub(super) fn insert(&mut self, tokens: &TokenBytes, index: u32) -> std::result::Result<(), u32> {
        let bytes = tokens.bytes_at(index);
        let entry = self.0.entry(
            hash(bytes),
            |&other| tokens.bytes_at(other) == bytes,
            |&other| hash(tokens.bytes_at(other)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(other) => Err(*other.get()),
            hashbrown::hash_table::Entry::Vacant(place) => {
                place.insert(index);
                Ok(())
            }
        }
    }

    /// The index of the token with these bytes.
    #[inline]
    pub(super) fn get(&self, tokens: &TokenBytes, bytes: &[u8]) -> Option<u32> {
        self.0.find(hash(bytes), |&index| tokens.bytes_at(index) == bytes).copied()
    }
}

#[inline]
fn hash(bytes: &[u8]) -> u64 {
    FxBuildHasher.hash_one(bytes)
}
