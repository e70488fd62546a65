//! The model of a `tokenizer.json`: named tokens, merges of names, and options; and the vocabulary that it
//! becomes.
//!
//! Most models become a vocabulary of bytes ([`Vocab::new`]) or of characters ([`Vocab::of_characters`]),
//! which merge fast. The others keep the names and merge by them ([`SpelledBpe`]).

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::build::{SpecialSpec, memory_of, placed_as_given, ready};
use super::model::{CharacterTokens, Model};
use super::reach;
use super::tokens::{Ordinary, TokenBytes};
use super::vocabulary::Vocab;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::merge::{BpeOptions, SpelledBpe};
use crate::names::Names;
use crate::room;
use crate::spelling::{META_TEXT, TextSpelling, byte_name, unspell};

/// A model whose merges are all of known tokens, each pair once.
#[derive(Clone, Debug, Default)]
pub(crate) struct BpeModel {
    pub(crate) names: Names,
    /// The id of each name; all are different.
    pub(crate) ids: Vec<u32>,
    /// The left part, the right part and the result of each merge, as places among the names.
    pub(crate) merges: Vec<[u32; 3]>,
    /// The places of the merges that have the rank of the merge before them.
    pub(crate) ties: Vec<u32>,
    pub(crate) options: BpeOptions,
}

/// Added tokens, and what is known about the tokens of a model because of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Additions {
    /// The special tokens of the vocabulary, with their ids.
    pub(crate) specials: Vec<SpecialSpec>,
    /// Ids that the model does not have, with the texts that these tokens stand for.
    pub(crate) beside: Vec<(u32, String)>,
    /// Texts that tokens of the model stand for, in place of their names, by place among the names.
    pub(crate) texts: Vec<(u32, String)>,
    /// Places of names that no pretoken becomes without merging.
    pub(crate) never_whole: Vec<u32>,
}

impl BpeModel {
    /// Whether the options allow merging that begins with the bytes or the characters of a text.
    fn is_plain(&self) -> bool {
        let BpeOptions { prefix, suffix, dropout, .. } = &self.options;
        prefix.is_empty() && suffix.is_empty() && dropout.is_never()
    }

    /// Places of the names that a merge takes or makes, and of no others.
    pub(crate) fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.ids.len()];
        self.merges.as_flattened().iter().for_each(|&at| needed[at as usize] = true);
        needed
    }

    /// The vocabulary of bytes, where each byte has a token, and all tokens but `left_out` are spelled in
    /// bytes; else `None`. `left_out` are places of names that no merge takes or makes.
    pub(crate) fn bytes_vocab(&self, left_out: &[u32], specials: &[SpecialSpec]) -> Result<Option<Vocab>> {
        if !self.is_plain() {
            return Ok(None);
        }
        let left_out: FxHashSet<u32> = left_out.iter().copied().collect();
        let texts = self.names.texts();
        let (mut bytes, mut ends) = (Vec::new(), room::for_items(texts.len())?);
        room::reserve(&mut bytes, texts.iter().map(str::len).sum())?;
        for (at, name) in (0..).zip(texts.iter()) {
            if !left_out.contains(&at) && !unspell(name, &mut bytes) {
                return Ok(None);
            }
            ends.push(bytes.len());
        }
        let token = |at: u32| {
            let start = (at as usize).checked_sub(1).map_or(0, |before| ends[before]);
            &bytes[start..ends[at as usize]]
        };
        let mut tokens = room::for_items(texts.len())?;
        let kept = (0..texts.len() as u32).filter(|at| !left_out.contains(at));
        tokens.extend(kept.map(|at| (self.ids[at as usize], token(at))));
        let single: FxHashSet<&[u8]> =
            tokens.iter().map(|(_, bytes)| *bytes).filter(|b| b.len() == 1).collect();
        if single.len() < 256 {
            return Ok(None);
        }
        let merges =
            room::collected(self.merges.iter().map(|&[left, right, _]| (token(left), token(right))))?;
        let vocab = Vocab::of_views(tokens, Some(merges), specials, false)?;
        Ok(Some(if self.options.ignore_merges { vocab.ignoring_merges() } else { vocab }))
    }

    /// The vocabulary of characters, where unknown characters become the tokens of their bytes, which no
    /// merge takes; else `None`.
    pub(crate) fn characters_vocab(
        &self,
        spelling: TextSpelling,
        additions: &Additions,
    ) -> Result<Option<Vocab>> {
        let bytes = self.byte_places();
        let needed = self.needed();
        let is_needed = |at: &u32| needed[*at as usize];
        let has_spaces = spelling == TextSpelling::Spaces;
        let holds_space = |name: &str| has_spaces && name.contains(' ');
        if !self.is_plain()
            || (has_spaces && self.names.find(META_TEXT).is_none())
            || self.options.ignore_merges
            || bytes.len() < 256
            || bytes.iter().any(is_needed)
            || self.names.texts().iter().any(holds_space)
        {
            return Ok(None);
        }
        let texts = self.texts(spelling, additions)?;
        let tokens = self.tokens(&texts, additions)?;
        let id = |at: u32| self.ids[at as usize];
        let merges = room::collected(self.merges.iter().map(|&[left, right, _]| (id(left), id(right))))?;
        let characters = CharacterTokens {
            bytes: bytes.into_iter().map(id).collect(),
            unknown: None,
            outside: additions.beside.iter().map(|(id, _)| *id).collect(),
            ties: room::copied(&self.ties)?,
        };
        match Vocab::of_characters(tokens, &merges, characters, &additions.specials) {
            // Two tokens that stand for one text.
            Err(Error::Vocab(_)) => Ok(None),
            made => made.map(Some),
        }
    }

    /// Places of the tokens for bytes that the options allow to use, by byte; all 256 or none are of use.
    fn byte_places(&self) -> Vec<u32> {
        let bytes = (0..=255).filter(|_| self.options.byte_fallback);
        bytes.filter_map(|byte| self.names.find(&byte_name(byte))).collect()
    }

    /// The bytes of text that each name stands for.
    fn texts(&self, spelling: TextSpelling, additions: &Additions) -> Result<Vec<Vec<u8>>> {
        let plain = |name: &str| spelling.unspelled(name).unwrap_or_else(|| name.into());
        let mut texts = room::collected(self.names.texts().iter().map(plain))?;
        for (at, text) in &additions.texts {
            texts[*at as usize] = text.as_bytes().to_vec();
        }
        if spelling != TextSpelling::Bytes && self.options.byte_fallback {
            for byte in 0..=255 {
                if let Some(at) = self.names.find(&byte_name(byte)) {
                    texts[at as usize] = vec![byte];
                }
            }
        }
        Ok(texts)
    }

    /// The tokens of the model, with their texts, and those beside it.
    fn tokens<'t>(&self, texts: &'t [Vec<u8>], additions: &'t Additions) -> Result<Vec<(u32, &'t [u8])>> {
        let own = self.ids.iter().copied().zip(texts.iter().map(Vec::as_slice));
        room::collected(own.chain(additions.beside.iter().map(|(id, text)| (*id, text.as_bytes()))))
    }

    pub(crate) fn spelled_vocab(self, spelling: TextSpelling, additions: &Additions) -> Result<Vocab> {
        let texts = self.texts(spelling, additions)?;
        let tokens = self.tokens(&texts, additions)?;
        let outside = additions.beside.iter().map(|(id, _)| *id).collect();
        let never_whole = additions.never_whole.iter().map(|&at| self.ids[at as usize]).collect();
        Vocab::of_spelled(spelling, self, (tokens, outside, never_whole), &additions.specials)
    }
}

/// All tokens with the bytes that they stand for; the ids of those without a name, and of those that no
/// pretoken becomes without merging.
type SpelledTokens<'a> = (Vec<(u32, &'a [u8])>, BTreeSet<u32>, Vec<u32>);

impl Vocab {
    /// A vocabulary that merges by names. All special tokens must have the id of a token.
    pub(crate) fn of_spelled(
        spelling: TextSpelling,
        model: BpeModel,
        (tokens, outside, never_whole): SpelledTokens<'_>,
        specials: &[SpecialSpec],
    ) -> Result<Self> {
        let BpeModel { names, ids, merges, ties, options } = model;
        if spelling == TextSpelling::Bytes && !ties.is_empty() {
            return Err(Error::BrokenState); // the ties are among the `CharacterTokens`
        }
        room::check_available(memory_of(&tokens, merges.len()))?;
        let (tokens, specials, special_ids) = placed_as_given(tokens, specials)?;
        let index = |id: u32| tokens.index_of(id).ok_or(Error::BrokenState);
        let indices: Vec<u32> = ids.into_iter().map(index).collect::<Result<_>>()?;
        let indexed = |merge: [u32; 3]| merge.map(|name| indices[name as usize]);
        let listed = room::collected(merges.into_iter().map(indexed))?;
        let mut never_whole = never_whole.into_iter().map(index).collect::<Result<Vec<u32>>>()?;
        never_whole.sort_unstable();
        let merges = Arc::new(listed.iter().map(|merge| (merge[0], merge[1])).collect());
        let ranks = CharacterTokens::ranks(&ties, listed.len())?;
        let ranked =
            listed.iter().zip(ranks).map(|(&[left, right, made], rank)| ((left, right), (rank, made)));
        let is_random = options.dropout.is_random();
        let bpe = SpelledBpe::new(spelling, options, names, indices, ranked, never_whole)?;
        let characters = characters(&bpe, &tokens, outside, ties);
        let apart =
            characters.iter().flat_map(|characters| characters.bytes.iter().chain(&characters.outside));
        let ordinary = ordinary(&tokens, apart.copied().collect());
        let unmergeable = match is_random {
            true => (0..tokens.len() as u32).collect(),
            false => reach::unmade(&tokens, 0..tokens.len() as u32, |bytes, parts| {
                bpe.merge(bytes, parts, &Control::none())
            })?,
        };
        let (ordinary, model) = (ready(ordinary), Model::Spelled { bpe: Arc::new(bpe), tokens: characters });
        Ok(Vocab { tokens, ordinary, model, merges, unmergeable, specials, special_ids })
    }

    /// The name of a token, for a vocabulary that does not [cover text exactly](Vocab::covers_text_exactly);
    /// `None` for an added token without a name.
    pub fn name(&self, id: u32) -> Option<&str> {
        self.spelled()?.name(self.tokens.index_of(id)?)
    }

    /// Whether the bytes of the ids of a pretoken, joined, are the pretoken.
    pub fn covers_text_exactly(&self) -> bool {
        self.spelled().is_none()
    }

    /// Whether the same pretoken may get other ids each time: it must not be cached.
    pub fn is_random(&self) -> bool {
        self.spelled().is_some_and(|bpe| bpe.options.dropout.is_random())
    }

    /// Appends the ids of a pretoken to `ids`, and for each the bytes of the pretoken that it covers to
    /// `spans`, for a vocabulary that does not [cover text exactly](Vocab::covers_text_exactly). They are
    /// where `tokenizers` has them: a character that is left out moves the spans after it. What would be
    /// beyond the pretoken is at its last byte.
    pub fn pretoken_spans(
        &self,
        pretoken: &[u8],
        ids: &mut Vec<u32>,
        spans: &mut Vec<Range<usize>>,
        control: &Control,
    ) -> Result<()> {
        let Some(bpe) = self.spelled() else { return Err(Error::BrokenState) };
        let first = ids.len();
        bpe.spans(pretoken, ids, spans, control)?;
        ids[first..].iter_mut().for_each(|index| *index = self.tokens.id_at(*index));
        Ok(())
    }

    /// Whether a text may be cut between two characters that no merge joins ([`Vocab::joined_bytes`]).
    pub(crate) fn has_junctions(&self) -> bool {
        match self.model() {
            Model::Ranks(_) | Model::Merges { .. } => false,
            Model::Characters { .. } => true,
            Model::Spelled { bpe, .. } => bpe.may_be_cut(),
        }
    }
}

/// The special cases of a vocabulary that merges characters by names.
fn characters(
    bpe: &SpelledBpe,
    tokens: &TokenBytes,
    outside: BTreeSet<u32>,
    ties: Vec<u32>,
) -> Option<CharacterTokens> {
    if bpe.spelling == TextSpelling::Bytes {
        return None;
    }
    let id = |index: u32| tokens.id_at(index);
    let bytes = (0..=255).filter(|_| bpe.options.byte_fallback);
    let mut bytes: Vec<u32> = bytes.filter_map(|byte| bpe.token(&byte_name(byte)).map(id)).collect();
    let unknown = if bytes.len() == 256 { None } else { bpe.unknown.map(id) };
    if bytes.len() < 256 {
        bytes.clear();
    }
    Some(CharacterTokens { bytes, unknown, outside, ties })
}

/// Indexes the tokens that text can become, by their bytes; of equal ones the lowest id. The tokens of the
/// ids `apart` come last.
fn ordinary(tokens: &TokenBytes, apart: FxHashSet<u32>) -> Ordinary {
    let mut ordinary = Ordinary::with_room(tokens.len());
    for is_apart in [false, true] {
        for index in 0..tokens.len() as u32 {
            if apart.contains(&tokens.id_at(index)) == is_apart {
                let _ = ordinary.insert(tokens, index);
            }
        }
    }
    ordinary
}
