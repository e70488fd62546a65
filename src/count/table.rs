//! The table of pretoken counts.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};

/// The largest count that is kept exact.
const LIMIT: u64 = 1 << 63;

/// How often each pretoken occurs, and where it occurs first.
///
/// Keys lie in one arena; an entry is 40 bytes beside its key.
#[derive(Clone, Debug, Default)]
pub struct PretokenCounts {
    entries: HashTable<Entry>,
    keys: Vec<u8>,
    total: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    start: usize,
    len: usize,
    count: u64,
    /// Place of the first occurrence, in units that only have an order.
    first: u64,
}

impl Entry {
    fn key<'k>(&self, keys: &'k [u8]) -> &'k [u8] {
        &keys[self.start..self.start + self.len]
    }
}

#[inline]
fn hash(pretoken: &[u8]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(pretoken);
    hasher.finish()
}

impl PretokenCounts {
    /// Adds `count` occurrences of a pretoken, the first of them at `place`.
    ///
    /// # Errors
    /// [`Error::CountOverflow`] where its count, or the total, passes 2^63.
    #[inline]
    pub fn add(&mut self, pretoken: &[u8], count: u64, place: u64) -> Result<()> {
        let total = self.total.checked_add(count).filter(|&total| total <= LIMIT);
        let Some(total) = total else { return Err(overflow(pretoken)) };
        self.total = total;
        let hash = hash(pretoken);
        let keys = &mut self.keys;
        let found = self.entries.find_mut(hash, |e| e.hash == hash && e.key(keys) == pretoken);
        match found {
            Some(entry) => {
                entry.count += count;
                entry.first = entry.first.min(place);
            }
            None => {
                let entry = Entry { hash, start: keys.len(), len: pretoken.len(), count, first: place };
                keys.extend_from_slice(pretoken);
                self.entries.insert_unique(hash, entry, |e| e.hash);
            }
        }
        Ok(())
    }

    /// Adds all counts of another table, with `shift` added to its places.
    ///
    /// # Errors
    /// [`Error::CountOverflow`].
    pub fn add_all(&mut self, other: &PretokenCounts, shift: u64) -> Result<()> {
        for entry in &other.entries {
            self.add(entry.key(&other.keys), entry.count, entry.first.saturating_add(shift))?;
        }
        Ok(())
    }

    /// How many different pretokens there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many pretokens were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The count of a pretoken; 0 for one that does not occur.
    pub fn get(&self, pretoken: &[u8]) -> u64 {
        let hash = hash(pretoken);
        let found = self.entries.find(hash, |e| e.hash == hash && e.key(&self.keys) == pretoken);
        found.map_or(0, |entry| entry.count)
    }

    /// A place beyond all that are in the table.
    pub fn end_place(&self) -> u64 {
        self.entries.iter().map(|e| e.first.saturating_add(1)).max().unwrap_or(0)
    }

    /// The pretokens with their counts, in the order of their first occurrence.
    pub fn in_order(&self) -> Vec<(&[u8], u64)> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_unstable_by_key(|entry| entry.first);
        entries.into_iter().map(|entry| (entry.key(&self.keys), entry.count)).collect()
    }
}

fn overflow(pretoken: &[u8]) -> Error {
    Error::CountOverflow { left: pretoken.to_vec(), right: Vec::new() }
}
