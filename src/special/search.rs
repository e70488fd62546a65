//! The choice of a search for a set of tokens.

use aho_corasick::{AhoCorasick, MatchKind};

use super::backward::BackwardAutomaton;
use super::many::ManyTokens;
use crate::error::{Error, Result};

/// A search for the tokens of a set.
#[derive(Clone, Debug, Default)]
pub(super) enum SearchMethod {
    #[default]
    None,
    /// For few tokens: vector code finds their first bytes, which is the fastest search.
    Automaton(AhoCorasick),
    /// For [`MIN_FILTERED_TOKENS`] tokens or more, none of them long.
    ManyTokens(ManyTokens),
    /// For tokens of any length, and any number of lengths with one prefix.
    Long(BackwardAutomaton),
}

/// The number of tokens from which [`ManyTokens`] is used: an automaton may then have too many first bytes to
/// look for. With 1,100 random tokens it is ten times slower, with 10 it is faster.
pub(super) const MIN_FILTERED_TOKENS: usize = 64;
/// The maximum number of bytes of a token for which text is searched forward. A forward search may read a
/// byte once for each token that could have started before it, so up to this many times. [`ManyTokens`] has
/// no longer ones.
pub(super) const MAX_FORWARD_BYTES: usize = 128;

impl SearchMethod {
    pub(super) fn new(tokens: &[Vec<u8>], max_len: usize) -> Result<Self> {
        if tokens.is_empty() {
            return Ok(SearchMethod::None);
        }
        let long = || SearchMethod::Long(BackwardAutomaton::new(tokens, (0..tokens.len() as u32).collect()));
        if max_len > MAX_FORWARD_BYTES {
            return Ok(long());
        }
        if tokens.len() >= MIN_FILTERED_TOKENS {
            return Ok(ManyTokens::new(tokens).map_or_else(long, SearchMethod::ManyTokens));
        }
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(tokens);
        built
            .map(SearchMethod::Automaton)
            .map_err(|error| Error::Vocab(format!("too many or too long special tokens: {error}")))
    }
}
