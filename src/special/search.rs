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
    /// The best for few: vector code finds their first bytes.
    Automaton(AhoCorasick),
    ManyTokens(ManyTokens),
    /// For tokens of any length.
    Long(BackwardAutomaton),
}

/// From so many tokens on [`ManyTokens`] is used.
pub(super) const MIN_FILTERED_TOKENS: usize = 64;
/// Bytes of a token up to which text is searched forward. A forward search reads a byte again for up to so many tokens
/// that could have started before it.
pub(super) const MAX_FORWARD_BYTES: usize = 128;

impl SearchMethod {
    pub(super) fn new(tokens: &[Vec<u8>], max_len: usize) -> Result<Self> {
        if tokens.is_empty() {
            return Ok(SearchMethod::None);
        }
        if max_len > MAX_FORWARD_BYTES {
            return Ok(SearchMethod::Long(BackwardAutomaton::new(
                tokens,
                (0..tokens.len() as u32).collect(),
            )));
        }
        if tokens.len() >= MIN_FILTERED_TOKENS {
            return Ok(SearchMethod::ManyTokens(ManyTokens::new(tokens)));
        }
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(tokens);
        built
            .map(SearchMethod::Automaton)
            .map_err(|error| Error::TooManySpecials { reason: error.to_string() })
    }
}
