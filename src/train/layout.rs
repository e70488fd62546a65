//! The ids of the tokens of a training.

use super::tokens::printable_rank;
use crate::vocab::{SpecialSpec, Vocab};

/// Where the ids of special tokens are, relative to those of the bytes and the merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialIds {
    /// Before both.
    First,
    /// Between them.
    AfterBytes,
    /// Behind both.
    Last,
}

impl SpecialIds {
    /// All values by name.
    pub const NAMES: [(&'static str, Self); 3] =
        [("first", Self::First), ("after_bytes", Self::AfterBytes), ("last", Self::Last)];
}

/// The ids of bytes, merges and new special tokens.
#[derive(Debug)]
pub struct Layout<'v> {
    base: Option<&'v Vocab>,
    /// The ids of the 256 bytes; none with a base.
    bytes: Vec<u32>,
    first_special: u32,
    first_merge: u32,
}

impl<'v> Layout<'v> {
    /// Ids from 0 on, for so many special tokens and tokens that merges add. The bytes are in the order of
    /// their values, or in that of GPT-2's files.
    pub fn new(order: SpecialIds, is_gpt2: bool, specials: u32, merges: u32) -> Self {
        let (first_special, first_byte, first_merge) = match order {
            SpecialIds::First => (0, specials, specials + 256),
            SpecialIds::AfterBytes => (256, 0, 256 + specials),
            SpecialIds::Last => (256 + merges, 0, 256),
        };
        let id = |byte: u32| first_byte + if is_gpt2 { printable_rank(byte) } else { byte };
        Layout { base: None, bytes: (0..256).map(id).collect(), first_special, first_merge }
    }

    /// Ids above those of a base: first so many special tokens, then merges.
    pub fn above(base: &'v Vocab, specials: u32) -> Self {
        let first_special = base.tokens().max_id().map_or(0, |highest| highest + 1);
        Layout { base: Some(base), bytes: Vec::new(), first_special, first_merge: first_special + specials }
    }

    /// The id of a token by its place: among those of the base, or the bytes, and then the added ones.
    pub fn id_of(&self, place: u32) -> u32 {
        let before = self.base.map_or(256, |base| base.tokens().len() as u32);
        match (place.checked_sub(before), self.base) {
            (Some(added), _) => self.first_merge + added,
            (None, Some(base)) => base.tokens().id_at(place),
            (None, None) => self.bytes[place as usize],
        }
    }

    /// All special tokens with their ids: those of the base, and the new ones.
    pub fn specials(&self, names: &[String]) -> Vec<SpecialSpec> {
        let of_base = self.base.into_iter().flat_map(|base| {
            let names = base.specials().tokens().iter().cloned();
            names.zip(base.special_ids().iter().map(|&id| Some(id)))
        });
        let new = names.iter().map(|name| name.clone().into_bytes()).zip((self.first_special..).map(Some));
        of_base.chain(new).collect()
    }
}
