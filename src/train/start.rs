//! The state that a training begins with or continues from.

use std::borrow::Cow;

use super::forced;
use super::options::{Merge, Options, Ties};
use super::tokens::{BYTE_TOKENS, TokenInfo};
use crate::count::MAX_COUNT;
use crate::error::{Error, Result};
use crate::room;
use crate::vocab::{Model, SpecialSpec, Vocab};

/// What exists before the first merge is learned. The default is the 256 bytes alone.
#[derive(Clone, Copy, Default)]
pub struct Start<'a> {
    /// A vocabulary to extend: its tokens and merges are kept, and words are laid out as it encodes them. One
    /// that merges by names cannot be extended.
    pub base: Option<&'a Vocab>,
    /// Tokens that are made before any pair is counted, whatever the counts are.
    pub forced: &'a [Vec<u8>],
    /// The merges of an interrupted training of the same start.
    pub made: &'a [Merge],
}

impl<'a> Start<'a> {
    /// The number of tokens before the first merge.
    pub(super) fn tokens(&self) -> u32 {
        self.base.map_or(BYTE_TOKENS, |base| base.tokens().len() as u32)
    }

    /// The options for this start. If a vocabulary is extended, its bytes are in its own order.
    pub(super) fn adapted(&self, options: &Options) -> Options {
        match options.ties {
            Ties::HuggingFace if self.base.is_some() => Options { ties: Ties::SmallestIds, ..*options },
            Ties::PrintableIds if self.base.is_some() => Options { ties: Ties::Ids, ..*options },
            _ => *options,
        }
    }

    /// The merges that exist before the first one is learned.
    pub(super) fn first_merges(&self, options: &Options) -> Result<Vec<Merge>> {
        if self.base.is_some_and(|base| !base.covers_text_exactly()) {
            return Err(Error::BrokenState);
        }
        if self.made.is_empty() {
            let merges = forced::merges(self.base, self.forced)?;
            let room = options.max_merges;
            if merges.len() > room {
                return Err(Error::Vocab(format!(
                    "the forced tokens need {} new tokens, and there is room for {room}: raise vocab_size",
                    merges.len()
                )));
            }
            return Ok(merges);
        }
        // Ids are checked first: if each part is made before it is used, the bytes of every token can be
        // joined.
        let mut next = self.tokens();
        for merge in self.made {
            let known = merge.left < next && merge.right < next && merge.token <= next;
            if !known || merge.count > MAX_COUNT {
                return Err(Error::BrokenState);
            }
            next += u32::from(merge.token == next);
        }
        room::copied(self.made)
    }

    /// The vocabulary that lays out the words; `None` for bytes alone. A token's index in it is its internal
    /// id.
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
                checked(base, merges, |token| token, &specials).map(|vocab| Some(Cow::Owned(vocab)))
            }
        }
    }
}

/// Builds the vocabulary of a training: `base`, or the 256 bytes, and what `merges`, the result of the
/// training, add to it.
///
/// `id_of` maps internal ids to ids; `specials` are all special tokens, including those of `base`.
///
/// # Errors
/// Those of [`Vocab::new`]; [`Error::BrokenState`] if a merge makes a token of other bytes, or `base` merges
/// by names.
pub fn build_vocab(
    base: Option<&Vocab>,
    merges: &[Merge],
    id_of: impl Fn(u32) -> u32,
    specials: &[SpecialSpec],
) -> Result<Vocab> {
    let first = id_of(BYTE_TOKENS);
    let follow =
        |(token, merge): (u32, &Merge)| merge.token == token && id_of(token) == first + token - BYTE_TOKENS;
    if base.is_some() || !(BYTE_TOKENS..).zip(merges).all(follow) {
        return checked(base, merges, id_of, specials);
    }
    let bytes = all_tokens(None, merges)?;
    let tokens = bytes.all().map(|(token, bytes)| (id_of(token), bytes)).collect();
    let pairs: Vec<(u32, u32)> = merges.iter().map(|merge| (id_of(merge.left), id_of(merge.right))).collect();
    Vocab::of_training(tokens, &pairs, first, specials)
}

/// [`build_vocab`] for merges that may come from a file, with all checks.
fn checked(
    base: Option<&Vocab>,
    merges: &[Merge],
    id_of: impl Fn(u32) -> u32,
    specials: &[SpecialSpec],
) -> Result<Vocab> {
    let bytes = all_tokens(base, merges)?;
    let tokens: Vec<_> = bytes.all().map(|(token, bytes)| (id_of(token), bytes)).collect();
    let old_merges = base.map_or(&[][..], Vocab::merges_by_index);
    let all = old_merges.iter().copied().chain(merges.iter().map(|merge| (merge.left, merge.right)));
    let listed = || all.clone().map(|(left, right)| (bytes.of(left), bytes.of(right))).collect::<Vec<_>>();
    match base.map(|base| (base, base.model())) {
        Some((_, Model::Spelled { .. })) => Err(Error::BrokenState),
        Some((_, Model::Ranks(_))) => Vocab::new(&tokens, None, specials),
        Some((base, Model::Characters { tokens: characters, .. })) => {
            let characters = characters.moved(|&id| base.tokens().index_of(id).map(&id_of));
            let pairs: Vec<(u32, u32)> = all.map(|(left, right)| (id_of(left), id_of(right))).collect();
            Vocab::of_characters(tokens, &pairs, characters, specials)
        }
        Some((base, Model::Merges { ignored, .. })) => {
            let vocab = Vocab::of_views(tokens, Some(listed()), specials, !base.has_unmergeable())?;
            Ok(if *ignored { vocab.ignoring_merges() } else { vocab })
        }
        None => Vocab::of_views(tokens, Some(listed()), specials, true),
    }
}

/// The tokens of `base`, or the 256 bytes, and those that the merges make, by internal id.
fn all_tokens(base: Option<&Vocab>, merges: &[Merge]) -> Result<TokenInfo> {
    // About the memory of the bytes, and of the lists of tokens that refer to them.
    room::check_available((base.map_or(256, |base| base.tokens().len()) + merges.len()) * 80)?;
    let mut tokens = TokenInfo::new(base, Ties::Bytes);
    for merge in merges {
        let next = tokens.len() as u32;
        if merge.left >= next || merge.right >= next {
            return Err(Error::BrokenState);
        }
        if merge.token == next {
            tokens.push(merge.left, merge.right)?;
        } else if merge.token > next || tokens.of(merge.token) != tokens.joined(merge.left, merge.right) {
            return Err(Error::BrokenState);
        }
    }
    Ok(tokens)
}
