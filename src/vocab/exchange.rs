//! A list of merges in the place of ranks, and ranks in the place of a list, for formats that have the other kind.
//!
//! If every ordinary token re-encodes to itself by merging, under a merges list and under ranks in the same order, both give
//! the same ids for every text, by the substring property of BPE: a pair that one of them merges and the other does not would
//! be a token that does not re-encode to itself.

use super::vocabulary::{Semantics, Vocab, special_indices};
use crate::error::{Error, Result};
use crate::room;

impl Vocab {
    /// A list of merges, as pairs of indices, that stands for the vocabulary, and whether a pretoken that is a token
    /// skips it.
    ///
    /// Under rank semantics only one pair of parts of each token can ever meet ([`super::reach`]): the list has these pairs,
    /// by the ids of the tokens that they make. Skipping it has no effect if the bytes of every token merge to that token.
    ///
    /// # Errors
    /// Same as [`Vocab::last_pairs`].
    pub fn listed_merges(&self) -> Result<(Vec<(u32, u32)>, bool)> {
        if self.semantics == Semantics::Merges {
            return Ok((room::copied(&self.merges)?, self.whole));
        }
        let merges = room::collected(self.last_pairs()?.into_iter().flatten())?;
        let as_list = self.without_specials(Some(&merges))?;
        Ok((merges, as_list.first_unmergeable().is_some()))
    }

    /// Checks that a list of the merges alone gives the same ids for every text: that ranks do, or `ignore_merges`, is
    /// of no effect.
    ///
    /// # Errors
    /// [`Error::Unwritable`], which names a token; [`Error::OutOfMemory`].
    pub fn check_as_list(&self) -> Result<()> {
        match self.semantics {
            Semantics::Merges if !self.whole => Ok(()),
            Semantics::Merges => self.check_reachable(),
            Semantics::Ranks => {
                self.check_reachable()?;
                self.without_specials(Some(&self.merges))?.check_reachable()
            }
        }
    }

    /// Checks that the ids as ranks give the same ids for every text as a list of merges does.
    ///
    /// # Errors
    /// [`Error::Unwritable`], which names a merge or a token; [`Error::OutOfMemory`].
    pub fn check_as_ranks(&self) -> Result<()> {
        if self.semantics == Semantics::Ranks {
            return Ok(());
        }
        let mut last = None;
        for &(left, right) in self.merges.iter() {
            let (left, right) = (self.tokens.bytes_at(left), self.tokens.bytes_at(right));
            let id = self.ordinary_id(&[left, right].concat());
            if let (Some(last), Some(id)) = (last, id)
                && id <= last
            {
                let merge = format!("the merge ({}, {})", shown(left), shown(right));
                return Err(Error::Unwritable(format!(
                    "{merge} makes id {id}, which does not come after {last}"
                )));
            }
            last = id.or(last);
        }
        self.check_reachable()?;
        self.without_specials(None)?.check_reachable()
    }

    /// Checks that every ordinary token re-encodes to itself by merging.
    fn check_reachable(&self) -> Result<()> {
        let Some(id) = self.first_unmergeable() else { return Ok(()) };
        let token = shown(self.token_bytes(id)?);
        Err(Error::Unwritable(format!("token {id} ({token}) does not re-encode to itself")))
    }

    /// The vocabulary of the ordinary tokens, with a list of merges, or with ranks.
    fn without_specials(&self, merges: Option<&[(u32, u32)]>) -> Result<Vocab> {
        let special = special_indices(&self.tokens, &self.special_ids);
        let ordinary = (0..self.tokens.len() as u32).filter(|index| special.binary_search(index).is_err());
        let bytes = |index| self.tokens.bytes_at(index);
        let tokens = room::collected(ordinary.map(|index| (self.tokens.id_at(index), bytes(index))))?;
        let pair = |&(left, right): &(u32, u32)| (bytes(left), bytes(right));
        let listed = merges.map(|merges| room::collected(merges.iter().map(pair))).transpose()?;
        Vocab::of_views(tokens, listed, &[])
    }
}

/// Bytes as messages show them.
pub(super) fn shown(token: &[u8]) -> String {
    match token.get(..60) {
        Some(start) if token.len() > 60 => format!("b'{}…' ({} bytes)", start.escape_ascii(), token.len()),
        _ => format!("b'{}'", token.escape_ascii()),
    }
}
