//! Many short texts in one memory, and the index of each by its text.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::error::Result;
use crate::room;

/// A list of texts, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    text: String,
    ends: Vec<u32>,
}

impl Texts {
    /// Adds a text. All texts together must have less than 4 GiB.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(crate) fn push(&mut self, text: &str) -> Result<()> {
        if self.text.capacity() - self.text.len() < text.len() {
            room::grow_text(&mut self.text, text.len())?;
        }
        self.text.push_str(text);
        room::push(&mut self.ends, self.text.len() as u32)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text at an index, which must be below [`Texts::len`].
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[index] as usize]
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// Texts, all different, that are found by their text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    texts: Texts,
    index: HashTable<u32>,
}

impl Names {
    /// Indexes a list of texts. Of equal texts the first is found, and the index of the first later one is
    /// returned.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`].
    pub(crate) fn new(texts: Texts) -> Result<(Self, Option<usize>)> {
        room::check_available(8 * texts.len())?;
        let (mut index, mut repeated) = (HashTable::with_capacity(texts.len()), None);
        for at in 0..texts.len() as u32 {
            let text = texts.get(at as usize);
            let entry = index.entry(
                hash(text),
                |&other: &u32| texts.get(other as usize) == text,
                |&other| hash(texts.get(other as usize)),
            );
            match entry {
                hashbrown::hash_table::Entry::Occupied(_) => repeated = repeated.or(Some(at as usize)),
                hashbrown::hash_table::Entry::Vacant(place) => drop(place.insert(at)),
            }
        }
        Ok((Names { texts, index }, repeated))
    }

    /// The texts in their order.
    pub(crate) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The index of a text.
    #[inline]
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.index.find(hash(text), |&at| self.texts.get(at as usize) == text).copied()
    }
}

#[inline]
fn hash(text: &str) -> u64 {
    FxBuildHasher.hash_one(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_text() {
        let mut texts = Texts::default();
        ["a", "", "日本", "a", "b"].iter().for_each(|text| texts.push(text).unwrap());
        let (names, repeated) = Names::new(texts).unwrap();
        assert_eq!(repeated, Some(3));
        assert_eq!(
            ["a", "", "日本", "b", "c"].map(|text| names.find(text)),
            [Some(0), Some(1), Some(2), Some(4), None]
        );
        assert_eq!(names.texts().iter().collect::<Vec<_>>(), ["a", "", "日本", "a", "b"]);
    }
}
