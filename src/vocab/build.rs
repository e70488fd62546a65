//! Ids, bytes, merges and special tokens → a validated [`Vocab`].

use std::collections::HashSet;
use std::sync::Arc;

use once_cell::race::OnceBox;
use rustc_hash::FxHashMap;

use super::model::{CharacterTokens, Model, Table};
use super::reach;
use super::tokens::{Ordinary, TokenBytes};
use super::vocabulary::{Vocab, indices_of, memory_of_pairs};
use crate::error::{Error, Result, show};
use crate::merge::Pairs;
use crate::room;
use crate::special::Specials;

/// A special token: its bytes, and its id if the caller chooses one.
pub type SpecialSpec = (Vec<u8>, Option<u32>);

type TokenList<'a> = Vec<(u32, &'a [u8])>;
/// The bytes of each special token, with the ids of all tokens with these bytes.
type Names<'a> = FxHashMap<&'a [u8], Vec<u32>>;

/// About how many bytes building a vocabulary takes.
pub(super) fn memory_of(tokens: &[(u32, &[u8])], merges: usize) -> usize {
    let bytes: usize = tokens.iter().map(|(_, bytes)| bytes.len()).sum();
    2 * bytes + 128 * tokens.len() + memory_of_pairs(tokens.len(), merges) + (2 << 20)
}

impl Vocab {
    /// Validates and indexes a vocabulary.
    ///
    /// `tokens` are ids with their bytes. `merges` is the list of merges, or `None` for rank semantics. A
    /// special token without an id takes the id that the vocabulary has for its bytes (the lower of two),
    /// unless this is the only ordinary token with these bytes and merging needs it; otherwise it gets the
    /// next id above all others.
    ///
    /// # Errors
    /// The variants of [`Error`] for vocabularies; each names the token or the merge.
    pub fn new<B: AsRef<[u8]>>(
        tokens: &[(u32, B)],
        merges: Option<&[(B, B)]>,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        let tokens = room::collected(tokens.iter().map(|(id, bytes)| (*id, bytes.as_ref())))?;
        let pairs = merges.map(|list| list.iter().map(|(left, right)| (left.as_ref(), right.as_ref())));
        Vocab::of_views(tokens, pairs.map(room::collected).transpose()?, specials, false)
    }

    /// [`Vocab::new`] of views, which are not copied: lists of 200,000 of them take 11 MB.
    ///
    /// `is_proper` says that merging its bytes makes each token, which is then not checked. So it is for the
    /// merges of a training that began with the bytes, or with a vocabulary all of whose tokens its merges
    /// make: the two parts of a token are neighbours only if nothing made the token before, and a later merge
    /// does not change the earlier ones. The check would take long after a training on one giant pretoken,
    /// which can make tokens of a megabyte.
    pub(crate) fn of_views(
        tokens: Vec<(u32, &[u8])>,
        merges: Option<Vec<(&[u8], &[u8])>>,
        specials: &[SpecialSpec],
        is_proper: bool,
    ) -> Result<Self> {
        room::check_available(memory_of(&tokens, merges.as_ref().map_or(0, Vec::len)))?;
        let needed = |names: &Names<'_>| needed_by_merges(merges.iter().flatten(), names);
        let (tokens, specials, special_ids) = placed(tokens, needed, specials)?;
        let special = indices_of(&tokens, &special_ids);
        let ordinary = Ordinary::new(&tokens, tokens.indices_but(special.iter().copied()))?;
        let mut pairs =
            Pairs::new(byte_tokens(&tokens, &ordinary)?, merges.as_ref().map_or(tokens.len(), Vec::len));
        let (model, merges, unmergeable) = match merges {
            Some(list) => {
                let part = |index, pair, part: &[u8]| {
                    let token = ordinary.get(&tokens, part).filter(|_| !part.is_empty());
                    token.ok_or_else(|| unknown_part(index, pair, part))
                };
                let pair = |(index, &(left, right))| {
                    Ok((part(index, (left, right), left)?, part(index, (left, right), right)?))
                };
                let merges = list.iter().enumerate().map(pair);
                let merges = add_merges(&mut pairs, merges, &[], &tokens, &ordinary)?;
                let unmergeable =
                    if is_proper { Vec::new() } else { reach::listed(&tokens, &special, &pairs)? };
                let table = Table::Checked(Arc::new(pairs));
                (Model::Merges { table, ignored: false }, merges, unmergeable)
            }
            None => {
                let (merges, unmergeable) = reach::ranked(&tokens, &special, &mut pairs)?;
                (Model::Ranks(Arc::new(pairs)), merges, unmergeable)
            }
        };
        let (ordinary, merges) = (ready(ordinary), Arc::new(merges));
        Ok(Vocab { tokens, ordinary, model, merges, unmergeable, specials, special_ids })
    }

    /// A vocabulary of a training that began with the bytes alone. `merges` are pairs of ids, and each makes
    /// a new token: the first one that of the id `first`, each later one that of the next id.
    pub(crate) fn of_training(
        tokens: Vec<(u32, &[u8])>,
        merges: &[(u32, u32)],
        first: u32,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        room::check_available(memory_of(&tokens, merges.len()))?;
        // Merging needs every token here: each one is a byte or the result of a merge.
        let needed = |names: &Names<'_>| {
            names.iter().filter(|(_, ids)| !ids.is_empty()).map(|(name, _)| name.to_vec()).collect()
        };
        let (tokens, specials, special_ids) = placed(tokens, needed, specials)?;
        let index = |id: u32| tokens.index_of(id).ok_or(Error::BrokenState);
        let first = if merges.is_empty() { 0 } else { index(first)? };
        let merges =
            merges.iter().map(|&(left, right)| Ok((index(left)?, index(right)?))).collect::<Result<_>>()?;
        let (ordinary, merges, unmergeable) = (Arc::default(), Arc::new(merges), Vec::new());
        let model = Model::Merges { table: Table::Trained { first, pairs: Arc::default() }, ignored: false };
        Ok(Vocab { tokens, ordinary, model, merges, unmergeable, specials, special_ids })
    }
}

/// An index that needs not be made later.
pub(super) fn ready(ordinary: Ordinary) -> Arc<OnceBox<Ordinary>> {
    Arc::new(OnceBox::with_value(Box::new(ordinary)))
}

/// The tokens of a vocabulary, its special tokens, and the ids of these.
type Placed = (TokenBytes, Specials, Vec<u32>);

/// Gives every special token its id. `needed` are those of the names that merging needs.
fn placed(
    tokens: TokenList<'_>,
    needed: impl FnOnce(&Names<'_>) -> HashSet<Vec<u8>>,
    specials: &[SpecialSpec],
) -> Result<Placed> {
    let mut tokens: TokenList<'_> = tokens; // shortened to live as long as the special tokens
    sort(&mut tokens)?;
    let finder = Specials::new(specials.iter().map(|(name, _)| name.clone()).collect())?;
    let names = ids_of(specials, &tokens);
    let special_ids = place_specials(&mut tokens, &names, &needed(&names), specials)?;
    Ok((TokenBytes::new(&tokens), finder, special_ids))
}

/// The same where each special token has the id of a token.
pub(super) fn placed_as_given(mut tokens: TokenList<'_>, specials: &[SpecialSpec]) -> Result<Placed> {
    sort(&mut tokens)?;
    let tokens = TokenBytes::new(&tokens);
    let id = |id: &Option<u32>| id.filter(|&id| tokens.index_of(id).is_some()).ok_or(Error::BrokenState);
    let special_ids = specials.iter().map(|(_, given)| id(given)).collect::<Result<_>>()?;
    let finder = Specials::new(specials.iter().map(|(name, _)| name.clone()).collect())?;
    Ok((tokens, finder, special_ids))
}

/// Sorts tokens by id, and checks that no id is given twice. A token may be empty: published vocabularies
/// have one (Whisper's), which no text is encoded to and which decodes to nothing.
fn sort(tokens: &mut [(u32, &[u8])]) -> Result<()> {
    if !tokens.is_sorted_by_key(|(id, _)| *id) {
        tokens.sort_by_key(|(id, _)| *id);
    }
    match tokens.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(id_taken(pair[0].0, pair[1].1, pair[0].1)),
        None => Ok(()),
    }
}

fn id_taken(id: u32, token: &[u8], owner: &[u8]) -> Error {
    let (token, owner) = (show(token), show(owner));
    Error::Vocab(format!(
        "id {id} is given to {token} but belongs to {owner}: every token needs an id of its own"
    ))
}

fn ids_of<'a>(specials: &'a [SpecialSpec], tokens: &[(u32, &[u8])]) -> Names<'a> {
    let mut of_bytes: Names<'_> = specials.iter().map(|(name, _)| (name.as_slice(), Vec::new())).collect();
    // The length alone rules most tokens out.
    let mut has_length = [false; 64];
    specials.iter().for_each(|(name, _)| has_length[name.len() % 64] = true);
    for (id, bytes) in tokens.iter().filter(|(_, bytes)| has_length[bytes.len() % 64]) {
        if let Some(ids) = of_bytes.get_mut::<[u8]>(bytes) {
            ids.push(*id);
        }
    }
    of_bytes
}

/// Gives every special token its id: its own, or the next above all others, in the order of the list. Special
/// tokens that the vocabulary lacks are added to `tokens`.
fn place_specials<'a>(
    tokens: &mut TokenList<'a>,
    of_bytes: &Names<'_>,
    needed: &HashSet<Vec<u8>>,
    specials: &'a [SpecialSpec],
) -> Result<Vec<u32>> {
    let is_needed = |name: &[u8]| name.len() == 1 || needed.contains(name);
    let mut ids = Vec::with_capacity(specials.len());
    let mut added: TokenList<'a> = Vec::new();
    for (name, wanted) in specials {
        let present = &of_bytes[name.as_slice()];
        ids.push(match *wanted {
            Some(id) if present.contains(&id) && present.len() == 1 && is_needed(name) => {
                return Err(Error::Vocab(format!(
                    "special token {} is given id {id}, which is the ordinary token of these bytes: give the special token an \
                     id of its own",
                    show(name)
                )));
            }
            Some(id) => {
                if !present.contains(&id) {
                    added.push((id, name));
                }
                Some(id)
            }
            None => present.first().copied().filter(|_| present.len() > 1 || !is_needed(name)),
        });
    }
    for &(id, name) in &added {
        if let Ok(taken) = tokens.binary_search_by_key(&id, |(id, _)| *id) {
            return Err(id_taken(id, name, tokens[taken].1));
        }
    }
    sort(&mut added)?;
    let next = tokens.iter().chain(&added).map(|(id, _)| u64::from(*id) + 1).max().unwrap_or(0);
    let missing = ids.iter_mut().zip(specials).filter(|(id, _)| id.is_none());
    for (next, (id, (name, _))) in (next..).zip(missing) {
        let new = u32::try_from(next).map_err(|_| {
            let name = show(name);
            Error::Vocab(format!(
                "there is no id left for special token {name}: the highest id in use is 2^32 - 1"
            ))
        })?;
        added.push((new, name));
        *id = Some(new);
    }
    if !added.is_empty() {
        tokens.append(&mut added);
        tokens.sort_by_key(|(id, _)| *id);
    }
    Ok(ids.into_iter().flatten().collect())
}

/// The special tokens whose bytes are also a part or the result of a merge.
fn needed_by_merges<'a>(
    merges: impl Iterator<Item = &'a (&'a [u8], &'a [u8])>,
    names: &Names<'_>,
) -> HashSet<Vec<u8>> {
    let mut needed = HashSet::new();
    if names.is_empty() {
        return needed;
    }
    let mut result = Vec::new();
    for &(left, right) in merges {
        join(&mut result, left, right);
        for bytes in [left, right, result.as_slice()] {
            if names.contains_key(bytes) {
                needed.insert(bytes.to_vec());
            }
        }
    }
    needed
}

fn byte_tokens(tokens: &TokenBytes, ordinary: &Ordinary) -> Result<[u32; 256]> {
    let mut indices = [0; 256];
    for byte in 0..=255u8 {
        indices[usize::from(byte)] = ordinary.get(tokens, &[byte]).ok_or(Error::MissingByte { byte })?;
    }
    Ok(indices)
}

/// Adds a list of merges to `pairs`, and returns it. Those at the places `ties` have the rank of the one
/// before.
pub(super) fn add_merges(
    pairs: &mut Pairs,
    merges: impl ExactSizeIterator<Item = Result<(u32, u32)>>,
    ties: &[u32],
    tokens: &TokenBytes,
    ordinary: &Ordinary,
) -> Result<Vec<(u32, u32)>> {
    let ranks = CharacterTokens::ranks(ties, merges.len())?;
    let mut listed = room::for_items(merges.len())?;
    let mut result = Vec::new();
    for (index, pair) in merges.enumerate() {
        let pair = pair?;
        let (left, right) = (tokens.bytes_at(pair.0), tokens.bytes_at(pair.1));
        join(&mut result, left, right);
        let made = ordinary.get(tokens, &result);
        let made = made.ok_or_else(|| unknown_part(index, (left, right), &result))?;
        let rank = ranks[index];
        let is_shared = rank < index as u32 || ranks.get(index + 1) == Some(&rank);
        let inserted = match is_shared {
            true => pairs.insert_shared(pair.0, pair.1, rank, made),
            false => pairs.insert(pair.0, pair.1, rank, made),
        };
        inserted.map_err(|first| {
            let (left, right) = (show(left), show(right));
            Error::Vocab(format!(
                "merge number {index} ({left}, {right}) is the same as number {first}: leave one out"
            ))
        })?;
        listed.push(pair);
    }
    Ok(listed)
}

/// The error for a part or the result of a merge that is no token.
pub(super) fn unknown_part(index: usize, (left, right): (&[u8], &[u8]), unknown: &[u8]) -> Error {
    let [left, right, unknown] = [left, right, unknown].map(show);
    Error::Vocab(format!(
        "merge number {index} ({left}, {right}) needs the token {unknown}, which is not in the vocabulary"
    ))
}

fn join(result: &mut Vec<u8>, left: &[u8], right: &[u8]) {
    result.clear();
    result.extend_from_slice(left);
    result.extend_from_slice(right);
}
