//! A list of merges in the place of ranks, and ranks in the place of a list, for formats that have the other
//! kind.
//!
//! If every ordinary token re-encodes to itself by merging, under a merges list and under ranks in the same
//! order, both give the same ids for every text, by the substring property of BPE: a pair that one of them
//! merges and the other does not would be a token that does not re-encode to itself.

use crate::error::{Error, Result, show};
use crate::room;
use crate::spelling::{spelled, unspelled};
use crate::vocab::{Semantics, Vocab};

impl Vocab {
    /// A list of merges, as pairs of indices, that stands for the vocabulary, and whether a pretoken that is
    /// a token skips it.
    ///
    /// Under rank semantics only one pair of parts of each token can ever meet ([`crate::vocab::reach`]): the
    /// list has these pairs, by the ids of the tokens that they make. Skipping it has no effect if the bytes
    /// of every token merge to that token.
    pub fn listed_merges(&self) -> Result<(Vec<(u32, u32)>, bool)> {
        if self.semantics() == Semantics::Merges {
            return Ok((room::copied(self.merges_by_index())?, self.ignores_merges()));
        }
        let merges = room::collected(self.last_pairs()?.into_iter().flatten())?;
        let as_list = self.without_specials(Some(&merges))?;
        Ok((merges, as_list.first_unmergeable().is_some()))
    }

    /// The ordinary tokens with a character for each byte, and special tokens by their `names`, with ids, by
    /// which they are sorted.
    ///
    /// # Errors
    /// [`Error::Unwritable`] for a name that spells bytes: it would be read as another token;
    /// [`Error::OutOfMemory`].
    pub fn spelled_with(&self, mut names: Vec<(String, u32)>) -> Result<Vec<(String, u32)>> {
        names.sort_unstable_by_key(|(_, id)| *id);
        for (name, id) in &names {
            let Some(bytes) = unspelled(name) else { continue };
            let reason = match self.ordinary_id(&bytes) {
                Some(other) => format!(
                    ", id {id}: tokenizer.json would take it for the ordinary token of id {other}, which has this spelling there"
                ),
                None if bytes != name.as_bytes() => {
                    format!(
                        ": in tokenizer.json this spells the bytes {}, and would be decoded to them",
                        show(&bytes)
                    )
                }
                None => continue,
            };
            let name = name.escape_debug();
            return Err(Error::Unwritable(format!("special token '{name}'{reason}: give it another name")));
        }
        room::reserve(&mut names, self.tokens().len())?;
        for index in self.tokens().indices_but(self.special_indices()) {
            names.push((spelled(self.tokens().bytes_at(index)), self.tokens().id_at(index)));
        }
        names.sort_unstable_by_key(|(_, id)| *id);
        Ok(names)
    }

    /// Checks that a list of the merges alone gives the same ids for every text: that ranks do, or
    /// `ignore_merges`, is of no effect.
    pub fn check_as_list(&self, format: &str) -> Result<()> {
        let because =
            |why, error| because(&format!("{format} holds a merges list, and this tokenizer {why}"), error);
        match self.semantics() {
            Semantics::Merges if !self.ignores_merges() => Ok(()),
            Semantics::Merges => self
                .check_reachable()
                .map_err(|error| because("ignores it for pretokens that are tokens", error)),
            Semantics::Ranks => self
                .check_reachable()
                .and_then(|()| self.without_specials(Some(self.merges_by_index()))?.check_reachable())
                .map_err(|error| because("has ranks", error)),
        }
    }

    /// Checks that the ids as ranks give the same ids for every text as a list of merges does.
    pub fn check_as_ranks(&self, format: &str) -> Result<()> {
        let why = format!("{format} holds ranks, and this tokenizer has a merges list");
        match self.semantics() {
            Semantics::Ranks => Ok(()),
            Semantics::Merges => self.check_merges_in_order().map_err(|error| because(&why, error)),
        }
    }

    fn check_merges_in_order(&self) -> Result<()> {
        let mut last = None;
        for &(left, right) in self.merges_by_index() {
            let (left, right) = (self.tokens().bytes_at(left), self.tokens().bytes_at(right));
            let id = self.ordinary_id(&[left, right].concat());
            if let (Some(last), Some(id)) = (last, id)
                && id <= last
            {
                let merge = format!("the merge ({}, {})", show(left), show(right));
                return Err(Error::Unwritable(format!(
                    "{merge} makes id {id}, which does not come after {last}"
                )));
            }
            last = id.or(last);
        }
        self.check_reachable()?;
        self.without_specials(None)?.check_reachable()
    }

    fn check_reachable(&self) -> Result<()> {
        let Some(id) = self.first_unmergeable() else { return Ok(()) };
        let token = show(self.token_bytes(id)?);
        Err(Error::Unwritable(format!("token {id} ({token}) does not re-encode to itself")))
    }

    /// The vocabulary of the ordinary tokens, with a list of merges, or with ranks.
    fn without_specials(&self, merges: Option<&[(u32, u32)]>) -> Result<Vocab> {
        let bytes = |index| self.tokens().bytes_at(index);
        let ordinary = self.tokens().indices_but(self.special_indices());
        let tokens = room::collected(ordinary.map(|index| (self.tokens().id_at(index), bytes(index))))?;
        let pair = |&(left, right): &(u32, u32)| (bytes(left), bytes(right));
        let listed = merges.map(|merges| room::collected(merges.iter().map(pair))).transpose()?;
        Vocab::new(&tokens, listed.as_deref(), &[])
    }
}

fn because(why: &str, error: Error) -> Error {
    match error {
        Error::Unwritable(reason) => Error::Unwritable(format!("{why}: {reason}")),
        other => other,
    }
}
