//! Tokens that merge with each other.

use super::lookup::Lookup;
use crate::error::Result;
use crate::merge::{NEVER, Pairs};
use crate::room;

/// Neighbouring tokens that may merge, but for the last one.
#[derive(Default)]
pub(super) struct OpenTokens {
    tokens: Vec<u32>,
    /// The rank of each token with the next one.
    ranks: Vec<u32>,
}

impl OpenTokens {
    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    #[inline(always)]
    pub(super) fn push(&mut self, token: u32, rank: u32) -> Result<()> {
        room::push(&mut self.tokens, token)?;
        room::push(&mut self.ranks, rank)
    }

    /// Adds the ids of the section, which is empty afterwards. `id` gives the id of a token, and `ids` has
    /// room for all.
    pub(super) fn finish(
        &mut self,
        last: u32,
        pairs: &Pairs,
        id: impl Fn(&u32) -> u32,
        lookup: &mut Lookup<'_>,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let OpenTokens { tokens, ranks } = self;
        match (&**tokens, &**ranks) {
            (&[first], &[rank]) if rank != NEVER => ids.push(id(&pairs.result(rank, (first, last)))),
            (&[first], _) => ids.extend([id(&first), id(&last)]),
            _ => {
                room::push(tokens, last)?;
                lookup.merger.merge_tokens(pairs, tokens, ranks, lookup.control)?;
                ids.extend(tokens.iter().map(id));
            }
        }
        self.clear();
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.ranks.clear();
    }
}
