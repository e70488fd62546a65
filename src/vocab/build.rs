//! From ids, bytes, merges and special tokens to a validated [`Vocab`].

use rustc_hash::FxBuildHasher;
use std::collections::{HashMap, HashSet};

use super::{PairMerge, Semantics, TokenBytes, Vocab, pair_key};
use crate::error::{Error, Result};
use crate::special::Specials;

/// A special token as a caller names it: its bytes, and its id where the caller gives one.
pub type SpecialSpec = (Vec<u8>, Option<u32>);

type Merges<'a> = Option<&'a [(Vec<u8>, Vec<u8>)]>;
type Ordinary = HashMap<Box<[u8]>, u32, FxBuildHasher>;
type Pairs = HashMap<u64, PairMerge, FxBuildHasher>;

pub(super) fn build(
    mut tokens: Vec<(u32, Vec<u8>)>,
    merges: Merges<'_>,
    specials: Vec<SpecialSpec>,
) -> Result<Vocab> {
    tokens.sort_by_key(|(id, _)| *id);
    check_tokens(&tokens)?;
    let finder = Specials::new(specials.iter().map(|(name, _)| name.clone()).collect())?;
    let special_ids = place_specials(&mut tokens, merges, &specials)?;
    let ordinary = ordinary_tokens(&tokens, &special_ids)?;
    let byte_ids = byte_ids(&ordinary)?;
    let (merge_ids, pairs) = match merges {
        Some(list) => listed_pairs(list, &ordinary)?,
        None => (Vec::new(), rank_pairs(&tokens, &ordinary)),
    };
    let views: Vec<(u32, &[u8])> = tokens.iter().map(|(id, bytes)| (*id, bytes.as_slice())).collect();
    Ok(Vocab {
        tokens: TokenBytes::new(&views),
        ordinary,
        pairs,
        byte_ids,
        semantics: if merges.is_some() { Semantics::Merges } else { Semantics::Ranks },
        merges: merge_ids,
        specials: finder,
        special_ids,
    })
}

fn check_tokens(tokens: &[(u32, Vec<u8>)]) -> Result<()> {
    if let Some((id, _)) = tokens.iter().find(|(_, bytes)| bytes.is_empty()) {
        return Err(Error::EmptyToken { id: *id });
    }
    match tokens.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            Err(Error::IdTaken { id: pair[0].0, token: pair[1].1.clone(), owner: pair[0].1.clone() })
        }
        None => Ok(()),
    }
}

/// Gives every special token its id, adding those that the vocabulary lacks to `tokens`.
fn place_specials(
    tokens: &mut Vec<(u32, Vec<u8>)>,
    merges: Merges<'_>,
    specials: &[SpecialSpec],
) -> Result<Vec<u32>> {
    let mut of_bytes: HashMap<&[u8], Vec<u32>> =
        specials.iter().map(|(name, _)| (name.as_slice(), Vec::new())).collect();
    for (id, bytes) in tokens.iter() {
        if let Some(ids) = of_bytes.get_mut(bytes.as_slice()) {
            ids.push(*id);
        }
    }
    let needed = needed_by_merges(merges, &of_bytes);
    let is_needed = |name: &[u8]| name.len() == 1 || needed.contains(name);

    let mut ids = vec![None; specials.len()];
    let mut added: Vec<(u32, Vec<u8>)> = Vec::new();
    for (slot, (name, wanted)) in ids.iter_mut().zip(specials) {
        let present = &of_bytes[name.as_slice()];
        *slot = match *wanted {
            Some(id) if present.contains(&id) && present.len() == 1 && is_needed(name) => {
                return Err(Error::SpecialIsOrdinary { token: name.clone(), id });
            }
            Some(id) => {
                if !present.contains(&id) {
                    added.push((id, name.clone()));
                }
                Some(id)
            }
            None => present.first().copied().filter(|_| present.len() > 1 || !is_needed(name)),
        };
    }
    for (id, name) in &added {
        let taken = tokens.binary_search_by_key(id, |(id, _)| *id).ok().map(|i| &tokens[i].1);
        let other =
            || added.iter().find(|(other, token)| other == id && token != name).map(|(_, token)| token);
        if let Some(owner) = taken.or_else(other) {
            return Err(Error::IdTaken { id: *id, token: name.clone(), owner: owner.clone() });
        }
    }
    let highest = tokens.iter().chain(&added).map(|(id, _)| u64::from(*id) + 1).max().unwrap_or(0);
    let placed = number_the_rest(ids, specials, highest, &mut added)?;
    tokens.append(&mut added);
    tokens.sort_by_key(|(id, _)| *id);
    Ok(placed)
}

/// The next ids above all others, in list order.
fn number_the_rest(
    ids: Vec<Option<u32>>,
    specials: &[SpecialSpec],
    mut next: u64,
    added: &mut Vec<(u32, Vec<u8>)>,
) -> Result<Vec<u32>> {
    let mut placed = Vec::with_capacity(ids.len());
    for (id, (name, _)) in ids.into_iter().zip(specials) {
        placed.push(match id {
            Some(id) => id,
            None => {
                let id = u32::try_from(next).map_err(|_| Error::NoIdLeft { token: name.clone() })?;
                next += 1;
                added.push((id, name.clone()));
                id
            }
        });
    }
    Ok(placed)
}

/// Which of the special tokens' bytes are also parts or results of merges.
fn needed_by_merges(merges: Merges<'_>, names: &HashMap<&[u8], Vec<u32>>) -> HashSet<Vec<u8>> {
    let mut needed = HashSet::new();
    for (left, right) in merges.unwrap_or_default() {
        let result = [left.as_slice(), right].concat();
        needed
            .extend([left, right, &result].into_iter().filter(|b| names.contains_key(b.as_slice())).cloned());
    }
    needed
}

fn ordinary_tokens(tokens: &[(u32, Vec<u8>)], special_ids: &[u32]) -> Result<Ordinary> {
    let special: HashSet<u32> = special_ids.iter().copied().collect();
    let mut ordinary = Ordinary::with_capacity_and_hasher(tokens.len(), FxBuildHasher);
    for (id, bytes) in tokens.iter().filter(|(id, _)| !special.contains(id)) {
        if let Some(first) = ordinary.insert(bytes.as_slice().into(), *id) {
            return Err(Error::RepeatedToken { token: bytes.clone(), first, second: *id });
        }
    }
    Ok(ordinary)
}

fn byte_ids(ordinary: &Ordinary) -> Result<[u32; 256]> {
    let mut ids = [0; 256];
    for byte in 0..=255u8 {
        ids[usize::from(byte)] = *ordinary.get([byte].as_slice()).ok_or(Error::MissingByte { byte })?;
    }
    Ok(ids)
}

fn listed_pairs(list: &[(Vec<u8>, Vec<u8>)], ordinary: &Ordinary) -> Result<(Vec<(u32, u32)>, Pairs)> {
    let mut ids = Vec::with_capacity(list.len());
    let mut pairs = Pairs::with_capacity_and_hasher(list.len(), FxBuildHasher);
    for (index, (left, right)) in list.iter().enumerate() {
        let unknown = |token: &[u8]| Error::MergeUnknown {
            index,
            left: left.clone(),
            right: right.clone(),
            unknown: token.to_vec(),
        };
        let find = |token: &[u8]| ordinary.get(token).copied().ok_or_else(|| unknown(token));
        let pair = (find(left)?, find(right)?);
        let merge = PairMerge { rank: index as u32, id: find(&[left.as_slice(), right].concat())? };
        if let Some(first) = pairs.insert(pair_key(pair.0, pair.1), merge) {
            let first = first.rank as usize;
            return Err(Error::RepeatedMerge { index, first, left: left.clone(), right: right.clone() });
        }
        ids.push(pair);
    }
    Ok((ids, pairs))
}

/// Every way to make a token of two others, ranked by the token's place among all: as the ids order them,
/// and never `u32::MAX`, which an id may be. Only lengths that tokens have are tried, so that a hostile
/// token of a megabyte does not cost a lookup for each of its bytes.
fn rank_pairs(tokens: &[(u32, Vec<u8>)], ordinary: &Ordinary) -> Pairs {
    let mut lengths: Vec<usize> = ordinary.keys().map(|token| token.len()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let mut pairs = Pairs::with_capacity_and_hasher(3 * ordinary.len(), FxBuildHasher);
    for (rank, (id, token)) in (0..).zip(tokens) {
        if ordinary.get(token.as_slice()) != Some(id) {
            continue;
        }
        for &cut in lengths.iter().take_while(|&&cut| cut < token.len()) {
            let (left, right) = token.split_at(cut);
            if let (Some(&left), Some(&right)) = (ordinary.get(left), ordinary.get(right)) {
                pairs.insert(pair_key(left, right), PairMerge { rank, id: *id });
            }
        }
    }
    pairs
}
