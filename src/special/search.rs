//! How the tokens of a set are searched for.

use aho_corasick::{AhoCorasick, MatchKind};

use super::backward::BackwardAutomaton;
use super::many::ManyTokens;
use crate::error::{Error, Result};

/// How tokens are searched for.
#[derive(Clone, Debug, Default)]
pub(super) enum SearchMethod {
    #[default]
    None,
    /// The fastest for few tokens: vector code finds their first bytes.
    Automaton(AhoCorasick),
    /// For many tokens.
    ManyTokens(ManyTokens),
    /// For tokens of any length, and any number that begin alike.
    Long(BackwardAutomaton),
}

/// From so many tokens on an automaton may have too many first bytes to look for, and is then slower than
/// [`ManyTokens`].
pub(super) const MIN_FILTERED_TOKENS: usize = 64;
/// Bytes of a token up to which text is searched forward. A forward search reads a byte again for up to so many tokens
/// that could have started before it.
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
            .map_err(|error| Error::TooManySpecials { reason: error.to_string() })
    }
}
