//! Ids → bytes: a table from which decoding copies, for dense and for sparse ids; and bytes → tokens.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result, show};

/// Ids with their bytes, by ascending id.
///
/// Memory: 16 bytes for each id up to the highest, and the bytes of tokens longer than 15. If ids are sparse,
/// the table has one slot for each token instead. Ids after the first gap are also in a list.
#[derive(Clone, Debug, Default)]
pub struct TokenBytes {
    slots: Vec<TokenSlot>,
    /// Whether slots are indexed by id; otherwise by the token's index.
    by_id: bool,
    /// The number of tokens, from the first on, whose id is their index.
    dense: u32,
    /// The ids of all tokens after these.
    later_ids: Vec<u32>,
    /// Bytes of the tokens that are too long for a slot.
    long: Vec<u8>,
    len: usize,
}

/// One token: its bytes and a tag, or for a long one its length, its offset in the long bytes and a tag.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub(crate) struct TokenSlot([u8; SLOT_BYTES]);

pub(crate) const SLOT_BYTES: usize = 16;
/// The offset of the tag in a slot. The tag tells what kind of token the slot holds.
pub(crate) const TAG_OFFSET: usize = SLOT_BYTES - 1;
/// The bits of a tag that are the length of a short token; 0 for a long token, the empty token and an empty
/// slot.
pub(crate) const TAG_LENGTH_MASK: u8 = 0x0f;
pub(crate) const TAG_NOT_ASCII: u8 = 0x80;
const TAG_LONG: u8 = 0x40;
/// The bit of a tag for the empty token: the only bit that is set in its slot.
const TAG_EMPTY: u8 = 0x20;

/// A table is indexed by id if it has at most this many slots for each token, beyond [`FREE_SLOTS`].
const MAX_SPARSENESS: usize = 2;
/// Slots that a table may have in any case to be indexed by id: 1 MB.
const FREE_SLOTS: usize = 1 << 16;

impl TokenSlot {
    /// The bytes of the slot: those of a short token at the front, the tag at the end.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8; SLOT_BYTES] {
        &self.0
    }

    /// The slot of a token. The bytes of a long token are appended to `long`.
    fn new(token: &[u8], long: &mut Vec<u8>) -> Self {
        let mut slot = TokenSlot::default();
        slot.0[TAG_OFFSET] = if token.is_ascii() { 0 } else { TAG_NOT_ASCII };
        if token.len() < SLOT_BYTES {
            slot.0[..token.len()].copy_from_slice(token);
            slot.0[TAG_OFFSET] |= if token.is_empty() { TAG_EMPTY } else { token.len() as u8 };
        } else {
            // 8 bytes for the length and 5 for the offset are more than a vocabulary can need.
            slot.0[..8].copy_from_slice(&(token.len() as u64).to_le_bytes());
            slot.0[8..13].copy_from_slice(&(long.len() as u64).to_le_bytes()[..5]);
            slot.0[TAG_OFFSET] |= TAG_LONG;
            long.extend_from_slice(token);
        }
        slot
    }
}

impl TokenBytes {
    /// A table of tokens. Ids must ascend without repetition.
    pub(super) fn new(tokens: &[(u32, &[u8])]) -> Self {
        let Some(&(max_id, _)) = tokens.last() else { return Self::default() };
        let mut long = Vec::new();
        let size = max_id as usize + 1;
        let by_id = size <= MAX_SPARSENESS * tokens.len() + FREE_SLOTS;
        let mut slots = vec![TokenSlot::default(); if by_id { size } else { tokens.len() }];
        for (index, (id, token)) in tokens.iter().enumerate() {
            slots[if by_id { *id as usize } else { index }] = TokenSlot::new(token, &mut long);
        }
        let dense = (0..).zip(tokens).take_while(|&(index, &(id, _))| id == index).count();
        let later_ids = tokens[dense..].iter().map(|(id, _)| *id).collect();
        TokenBytes { slots, by_id, dense: dense as u32, later_ids, long, len: tokens.len() }
    }

    /// The table with more tokens after its last one; `None` if their ids do not ascend from there, or the
    /// table would have to be indexed otherwise.
    pub(super) fn extended(&self, more: &[(u32, &[u8])]) -> Option<Self> {
        let tokens: Vec<(u32, &[u8])> = self.iter().chain(more.iter().copied()).collect();
        let made = tokens.is_sorted_by(|token, next| token.0 < next.0).then(|| TokenBytes::new(&tokens));
        made.filter(|made| made.by_id == self.by_id)
    }

    /// About how many bytes a table with that many more tokens takes, besides the bytes of these.
    pub(super) fn memory_with(&self, more: usize) -> usize {
        let slots = self.slots.len().max(MAX_SPARSENESS * (self.len + more) + FREE_SLOTS);
        SLOT_BYTES * slots + self.long.len() + 4 * (self.len + more)
    }

    /// The bytes of the token of an id.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&[u8]> {
        let place = if self.by_id { id } else { self.index_of(id)? };
        self.token(self.slots.get(place as usize)?)
    }

    /// The slots by id, if they are indexed by id.
    #[inline]
    pub(crate) fn by_id(&self) -> Option<&[TokenSlot]> {
        self.by_id.then_some(&self.slots)
    }

    /// The bytes of the token at `index`; empty if there is none.
    #[inline]
    pub fn bytes_at(&self, index: u32) -> &[u8] {
        let place = if self.by_id { self.id_at(index) } else { index };
        self.slots.get(place as usize).and_then(|slot| self.token(slot)).unwrap_or_default()
    }

    /// The id of the token at `index`.
    ///
    /// # Panics
    /// If `index` is not less than the number of tokens.
    #[inline]
    pub fn id_at(&self, index: u32) -> u32 {
        // Published vocabularies have a gap before their special tokens alone, so most ids need no list.
        if index < self.dense { index } else { self.later_ids[(index - self.dense) as usize] }
    }

    /// The index of the token of an id.
    pub(crate) fn index_of(&self, id: u32) -> Option<u32> {
        if id < self.dense {
            return Some(id);
        }
        let later = self.later_ids.binary_search(&id).ok()?;
        Some(self.dense + later as u32)
    }

    /// The bytes of a slot; `None` if it is empty.
    #[inline]
    fn token<'a>(&'a self, slot: &'a TokenSlot) -> Option<&'a [u8]> {
        let tag = slot.0[TAG_OFFSET];
        match tag & TAG_LENGTH_MASK {
            0 if tag & TAG_EMPTY != 0 => Some(&[]),
            0 if tag & TAG_LONG == 0 => None,
            0 => {
                let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
                let (len, start) = (number(&slot.0[..8]), number(&slot.0[8..13]));
                self.long.get(start..start + len)
            }
            len => slot.0.get(..usize::from(len)),
        }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are not tokens.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The highest id; `None` for an empty table.
    #[inline]
    pub fn max_id(&self) -> Option<u32> {
        (self.len as u32).checked_sub(1).map(|last| self.id_at(last))
    }

    /// The indices of all tokens but of `others`, which ascend.
    pub(crate) fn indices_but(&self, others: impl IntoIterator<Item = u32>) -> impl Iterator<Item = u32> {
        let mut others = others.into_iter().peekable();
        (0..self.len as u32).filter(move |index| others.next_if_eq(index).is_none())
    }

    /// Ids and bytes by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..self.len as u32).map(|index| (self.id_at(index), self.bytes_at(index)))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_length_at_dense_and_sparse_ids() {
        for stride in [1, 3, 50_000_000] {
            let tokens: Vec<(u32, Vec<u8>)> =
                (0..80).map(|i| (stride * i, vec![i as u8 | (i as u8 % 2) << 7; i as usize + 1])).collect();
            let views: Vec<(u32, &[u8])> = tokens.iter().map(|(id, token)| (*id, token.as_slice())).collect();
            let table = TokenBytes::new(&views);
            assert_eq!(table.by_id().is_none(), stride > 3);
            assert_eq!(table.iter().collect::<Vec<_>>(), views);
            assert_eq!((table.len(), table.max_id()), (80, Some(79 * stride)));
            for (id, token) in views {
                assert_eq!(table.get(id), Some(token));
                assert_eq!(table.get(id + 1).is_some(), stride == 1 && id < 79);
            }
        }
        // A gap in the middle, small and so large that slots are not indexed by id.
        for gap in [1, 3_000_000] {
            let ids: Vec<u32> = (0..80).map(|index| if index < 40 { index } else { index + gap }).collect();
            let table = TokenBytes::new(&ids.iter().map(|&id| (id, &b"token"[..])).collect::<Vec<_>>());
            for (index, id) in (0..).zip(ids) {
                assert_eq!((table.id_at(index), table.index_of(id)), (id, Some(index)));
                assert_eq!((table.get(id), table.bytes_at(index)), (Some(&b"token"[..]), &b"token"[..]));
            }
            for id in [40, 39 + gap, 80 + gap] {
                assert_eq!((table.get(id), table.index_of(id)), (None, None));
            }
        }
        let with_empty = TokenBytes::new(&[(0, b"a"), (2, b"")]);
        assert_eq!([0, 1, 2].map(|id| with_empty.get(id)), [Some(&b"a"[..]), None, Some(b"")]);
        let empty = TokenBytes::new(&[]);
        assert!(empty.is_empty() && empty.max_id().is_none() && empty.get(0).is_none());
    }
}
