//! What a training begins with, or goes on from.

use std::borrow::Cow;

use super::tokens::BYTES;
use super::{Merge, Options, Ties, forced};
use crate::error::{Error, Result};
use crate::vocab::{Semantics, SpecialSpec, Vocab};

/// What there is before the first merge is learned. By default nothing but the 256 bytes.
#[derive(Clone, Copy, Default)]
pub struct Start<'a> {
    /// A vocabulary to extend: its tokens and merges stay, words are laid out as it encodes them.
    pub base: Option<&'a Vocab>,
    /// Tokens to be there whatever the counts say. They are made before any pair is counted.
    pub forced: &'a [Vec<u8>],
    /// What an interrupted training of the same start had made.
    pub made: &'a [Merge],
}

impl<'a> Start<'a> {
    /// Tokens that are there before the first merge.
    pub(super) fn tokens(&self) -> u32 {
        self.base.map_or(BYTES, |base| base.tokens().len() as u32)
    }

    /// The options for this start. Of a vocabulary the ids are compared as they are.
    pub(super) fn adapted(&self, options: &Options) -> Options {
        match options.ties {
            Ties::HuggingFace if self.base.is_some() => Options { ties: Ties::SmallestIds, ..*options },
            _ => *options,
        }
    }

    /// The merges before the first one that is learned.
    pub(super) fn first_merges(&self, options: &Options) -> Result<Vec<Merge>> {
        if self.made.is_empty() {
            let merges = forced::merges(self.base, self.forced)?;
            let room = options.max_merges;
            if merges.len() > room {
                return Err(Error::TooManyForced { merges: merges.len(), room });
            }
            return Ok(merges);
        }
        // Numbers first: with these in order, the bytes of every token can be put together.
        let mut next = self.tokens();
        for merge in self.made {
            if merge.left >= next || merge.right >= next || merge.token > next {
                return Err(Error::BrokenState);
            }
            next += u32::from(merge.token == next);
        }
        Ok(self.made.to_vec())
    }

    /// What words are laid out by; `None` for the bytes alone. A token's index in it is its internal id.
    pub(super) fn vocab(&self, merges: &[Merge]) -> Result<Option<Cow<'a, Vocab>>> {
        match self.base {
            None if merges.is_empty() => Ok(None),
            Some(base) if merges.is_empty() => Ok(Some(Cow::Borrowed(base))),
            base => {
                let specials = base.map(|base| {
                    let names = base.specials().tokens().iter().cloned();
                    let indices = base.special_ids().iter().map(|&id| base.tokens().index_of(id));
                    names.zip(indices).collect::<Vec<SpecialSpec>>()
                });
                let specials = specials.unwrap_or_default();
                grown(base, merges, |token| token, &specials).map(|vocab| Some(Cow::Owned(vocab)))
            }
        }
    }
}

/// The vocabulary of a training: that of `base`, or the 256 bytes, and what `merges` add to it.
///
/// `id_of` gives the ids of tokens by their internal ids; `specials` are all special tokens, also those of `base`.
///
/// # Errors
/// Those of [`Vocab::new`]; [`Error::BrokenState`] for merges into a token of other bytes.
pub fn grown(
    base: Option<&Vocab>,
    merges: &[Merge],
    id_of: impl Fn(u32) -> u32,
    specials: &[SpecialSpec],
) -> Result<Vocab> {
    let single: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let mut bytes: Vec<Vec<u8>> = Vec::with_capacity(merges.len());
    let first = base.map_or(BYTES, |base| base.tokens().len() as u32);
    let old = |token: u32| match base {
        Some(base) => base.tokens().bytes_at(token),
        None => &single[token as usize],
    };
    for merge in merges {
        let part = |token: u32| match token.checked_sub(first) {
            Some(added) => bytes.get(added as usize).map(Vec::as_slice),
            None => Some(old(token)),
        };
        let (Some(left), Some(right)) = (part(merge.left), part(merge.right)) else {
            return Err(Error::BrokenState);
        };
        let token = [left, right].concat();
        if merge.token == first + bytes.len() as u32 {
            bytes.push(token);
        } else if part(merge.token) != Some(token.as_slice()) {
            return Err(Error::BrokenState);
        }
    }
    let added = (first..).zip(bytes.iter().map(Vec::as_slice));
    let tokens = (0..first).map(|token| (token, old(token))).chain(added).map(|(token, b)| (id_of(token), b));
    let listed = base.is_none_or(|base| base.semantics() == Semantics::Merges).then(|| {
        let part = |token: u32| match token.checked_sub(first) {
            Some(added) => bytes[added as usize].as_slice(),
            None => old(token),
        };
        let old_merges = base.map(|base| base.merges_by_index()).unwrap_or_default();
        let new_merges = merges.iter().map(|merge| (merge.left, merge.right));
        let all = old_merges.iter().copied().chain(new_merges);
        all.map(|(left, right)| (part(left), part(right))).collect()
    });
    match listed {
        Some(merges) if base.is_none_or(|base| !base.has_unreachable()) => {
            Vocab::of_training(tokens.collect(), merges, specials)
        }
        listed => Vocab::of_views(tokens.collect(), listed, specials),
    }
}
