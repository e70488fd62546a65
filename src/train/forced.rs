//! Forced tokens: tokens that are made whatever the counts are.

use super::options::Merge;
use super::tokens::BYTE_TOKENS;
use crate::control::Control;
use crate::error::{Error, Result, show};
use crate::merge::{Merger, Pairs};
use crate::simd::Isa;
use crate::vocab::Vocab;

/// The merges that make the tokens, one token after the other: as long as a token is encoded as several
/// tokens, the first two of them merge.
///
/// Later merges have a lower priority, so they do not change how earlier tokens are encoded, and in the end
/// each token encodes to itself.
pub(super) fn merges(base: Option<&Vocab>, tokens: &[Vec<u8>]) -> Result<Vec<Merge>> {
    if tokens.is_empty() {
        return Ok(Vec::new());
    }
    // A merge could complete a token of the vocabulary that no merge made, and start other merges of its
    // list.
    check_mergeable(base, |token| {
        format!(
            "forced tokens cannot be added to a tokenizer with tokens that merging does not make, such as {token}: \
             train without forced tokens"
        )
    })?;
    let room = tokens.iter().map(Vec::len).sum();
    let mut pairs = match base {
        Some(base) => base.pairs().ok_or(Error::BrokenState)?.with_room(room),
        None => Pairs::new(std::array::from_fn(|byte| byte as u32), room),
    };
    let mut next = base.map_or(BYTE_TOKENS, |base| base.tokens().len() as u32);
    let (mut merger, mut parts, mut merges) = (Merger::new(Isa::best()), Vec::new(), Vec::new());
    for token in tokens {
        loop {
            parts.clear();
            merger.merge(&pairs, token, &mut parts, &Control::none())?;
            let &[left, right, ..] = parts.as_slice() else { break };
            if pairs.insert(left, right, pairs.ranks() as u32, next).is_err() {
                return Err(Error::BrokenState);
            }
            merges.push(Merge { left, right, token: next, count: 0 });
            next += 1;
        }
    }
    Ok(merges)
}

/// Fails if the vocabulary has tokens that merging does not make; `message` takes the first of them.
pub(super) fn check_mergeable(vocab: Option<&Vocab>, message: impl Fn(String) -> String) -> Result<()> {
    match vocab.and_then(|vocab| Some((vocab, vocab.first_unmergeable()?))) {
        Some((vocab, id)) => {
            Err(Error::Vocab(message(format!("{} (id {id})", show(vocab.token_bytes(id)?)))))
        }
        None => Ok(()),
    }
}
