//! The kinds of vocabularies: what merging begins with, and which pairs merge.

use std::collections::BTreeSet;
use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::error::{Error, Result};
use crate::merge::{Pairs, SpelledBpe};
use crate::room;

/// The rule that decides which pairs merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Only the pairs of a merges list, in its order (CS336, GPT-2's files, Hugging Face).
    Merges,
    /// Any adjacent pair whose bytes are a token, the lowest id first. A pretoken that is a token becomes
    /// that token without merging (tiktoken's rank files).
    Ranks,
}

/// What merging begins with, and which pairs merge.
#[derive(Clone, Debug)]
pub(crate) enum Model {
    /// Bytes, by [`Semantics::Ranks`].
    Ranks(Arc<Pairs>),
    /// Bytes, by [`Semantics::Merges`].
    Merges {
        table: Table,
        /// Whether a pretoken that is a token becomes that token without merging.
        ignored: bool,
    },
    /// Characters, by [`Semantics::Merges`].
    Characters { pairs: Arc<Pairs>, tokens: CharacterTokens },
    /// The names of the tokens that a pretoken is spelled with, by [`Semantics::Merges`]. `tokens` is `None`
    /// where a name has a character for each byte.
    Spelled { bpe: Arc<SpelledBpe>, tokens: Option<CharacterTokens> },
}

/// The table of a list of merges.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    /// It was made when the list was checked.
    Checked(Arc<Pairs>),
    /// The merges were all trained from the bytes, which needs no checks: the first one makes the token at
    /// the index `first`, later ones make the tokens that follow. The table is made when it is first used.
    Trained { first: u32, pairs: Arc<OnceBox<Pairs>> },
}

/// The special cases of a vocabulary of characters: the tokens for characters that are not tokens, and the
/// tokens that no text becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct CharacterTokens {
    /// The ids of the tokens of the 256 bytes, for characters that are not tokens; empty if they are not all
    /// there.
    pub bytes: Vec<u32>,
    /// The id that stands for a character that is not a token, where not all bytes have tokens.
    pub unknown: Option<u32>,
    /// The ids of tokens that take no part in merging.
    pub outside: BTreeSet<u32>,
    /// The places in the list of merges, in ascending order, of those that have the rank of the merge before
    /// them: of several the leftmost in the text comes first.
    #[serde(skip)]
    pub ties: Vec<u32>,
}

impl CharacterTokens {
    /// The same with other ids, as `moved` gives them; tokens without one are left out. The merges stay.
    pub(crate) fn moved(&self, moved: impl Fn(&u32) -> Option<u32>) -> Self {
        CharacterTokens {
            bytes: self.bytes.iter().filter_map(&moved).collect(),
            unknown: self.unknown.as_ref().and_then(&moved),
            outside: self.outside.iter().filter_map(&moved).collect(),
            ties: self.ties.clone(),
        }
    }

    /// The rank of each merge of a list.
    ///
    /// # Errors
    /// [`Error::BrokenState`] if the ties are not places in the list.
    pub(crate) fn ranks(ties: &[u32], merges: usize) -> Result<Vec<u32>> {
        let mut ranks = room::collected(0..merges as u32)?;
        let ascend = ties.is_sorted_by(|tie, next| tie < next);
        for &place in ties {
            let before = (place as usize).checked_sub(1).and_then(|before| ranks.get(before).copied());
            let rank = ranks.get_mut(place as usize).filter(|_| ascend);
            *rank.ok_or(Error::BrokenState)? = before.ok_or(Error::BrokenState)?;
        }
        Ok(ranks)
    }
}
