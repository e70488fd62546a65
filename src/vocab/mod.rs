//! The vocabulary: ids ↔ bytes, pair → merged id, special tokens. Validated once, immutable after.

mod build;
mod state;
mod tokens;

use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

pub use build::SpecialSpec;
pub use tokens::TokenBytes;

use crate::error::{Error, Result};
use crate::special::Specials;

/// What may be merged with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Only the pairs of a merges list, in its order (CS336, GPT-2's files, Hugging Face).
    Merges,
    /// Any adjacent pair whose bytes are a token, the lowest id first; a pretoken that is a token
    /// stands for itself (tiktoken's rank files).
    Ranks,
}

/// What a pair of adjacent tokens merges into, and how early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairMerge {
    /// Lower ranks merge first.
    pub rank: u32,
    /// Id of the result.
    pub id: u32,
}

/// A validated vocabulary.
///
/// Every byte value has a token, no two ordinary tokens have the same bytes, every merge is made of
/// known tokens: so encoding cannot fail for want of a token.
#[derive(Clone, Debug)]
pub struct Vocab {
    tokens: TokenBytes,
    /// Ordinary tokens by their bytes.
    ordinary: HashMap<Box<[u8]>, u32, FxBuildHasher>,
    pairs: HashMap<u64, PairMerge, FxBuildHasher>,
    byte_ids: [u32; 256],
    semantics: Semantics,
    /// The merges list, as ids; empty under rank semantics.
    merges: Vec<(u32, u32)>,
    specials: Specials,
    special_ids: Vec<u32>,
}

impl Vocab {
    /// Validates and indexes a vocabulary.
    ///
    /// `tokens` are ids with their bytes, `merges` the merges list (`None` for rank semantics).
    /// A special token without an id keeps the id that the vocabulary has for its bytes (the lower
    /// of two), unless that is the one ordinary token with these bytes that merging needs; else it
    /// gets the next id above all others.
    ///
    /// # Errors
    /// The vocabulary variants of [`Error`], each naming the token or line.
    pub fn new(
        tokens: Vec<(u32, Vec<u8>)>,
        merges: Option<&[(Vec<u8>, Vec<u8>)]>,
        specials: Vec<SpecialSpec>,
    ) -> Result<Self> {
        build::build(tokens, merges, specials)
    }

    /// The bytes of a token, ordinary or special.
    ///
    /// # Errors
    /// [`Error::UnknownId`].
    pub fn token_bytes(&self, id: u32) -> Result<&[u8]> {
        self.tokens.get(id).ok_or(Error::UnknownId { id: i128::from(id), index: None })
    }

    /// Ids and bytes of all tokens, by ascending id.
    pub fn tokens(&self) -> &TokenBytes {
        &self.tokens
    }

    /// The id of an ordinary token.
    pub fn ordinary_id(&self, bytes: &[u8]) -> Option<u32> {
        self.ordinary.get(bytes).copied()
    }

    /// The id of a special token.
    pub fn special_id(&self, bytes: &[u8]) -> Option<u32> {
        let index = self.specials.tokens().iter().position(|token| token == bytes)?;
        Some(self.special_ids[index])
    }

    /// What the pair merges into, if it merges.
    #[inline]
    pub fn pair(&self, left: u32, right: u32) -> Option<PairMerge> {
        self.pairs.get(&pair_key(left, right)).copied()
    }

    /// The token of a single byte.
    #[inline]
    pub fn byte_id(&self, byte: u8) -> u32 {
        self.byte_ids[usize::from(byte)]
    }

    /// What may be merged with what.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// The special tokens, to search for.
    pub fn specials(&self) -> &Specials {
        &self.specials
    }

    /// Ids of the special tokens, in the order of [`Vocab::specials`].
    pub fn special_ids(&self) -> &[u32] {
        &self.special_ids
    }

    /// The merges list as pairs of ids. Under rank semantics: for each token, by ascending id, the
    /// pair that its bytes reach under lower ranks; a token that no pair reaches has none.
    ///
    /// Cost: free for a merges list; under ranks one small merge for each token.
    pub fn merges(&self) -> Vec<(u32, u32)> {
        match self.semantics {
            Semantics::Merges => self.merges.clone(),
            Semantics::Ranks => self.reached_pairs(),
        }
    }

    /// The lowest id of an ordinary token that merging its own bytes does not make.
    pub fn first_unreachable(&self) -> Option<u32> {
        let mut merger = crate::merge::Merger::default();
        let mut out = Vec::new();
        self.tokens.iter().find_map(|(id, bytes)| {
            out.clear();
            let ordinary = self.ordinary_id(bytes) == Some(id);
            let merged = merger.merge(self, bytes, &mut out, &crate::Control::none());
            (ordinary && (merged.is_err() || out != [id])).then_some(id)
        })
    }

    fn reached_pairs(&self) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        let mut merger = crate::merge::Merger::default();
        let mut out = Vec::new();
        for (rank, (id, bytes)) in (0..).zip(self.tokens.iter()) {
            if bytes.len() < 2 || self.ordinary_id(bytes) != Some(id) {
                continue;
            }
            out.clear();
            merger.merge_below(self, bytes, rank, &mut out);
            if let [left, right] = out[..] {
                pairs.push((left, right));
            }
        }
        pairs
    }
}

/// A pair of ids as one table key.
#[inline]
pub(crate) fn pair_key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
