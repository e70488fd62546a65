//! The parts of a state: numbers, lists of them, and bytes of a known number; and the state of a vocabulary
//! that merges by names.

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::merge::{BpeOptions, Dropout, SpelledBpe};
use crate::names::{Names, Texts};
use crate::room;
use crate::spelling::TextSpelling;
use crate::vocab::{BpeModel, CharacterTokens, SpecialSpec, Vocab};

/// The spellings by their numbers.
const SPELLINGS: [TextSpelling; 3] = [TextSpelling::Bytes, TextSpelling::Characters, TextSpelling::Spaces];
const FLAGS: u32 = 6;
/// The place of the flag for merges of one rank.
const TIES: usize = 5;

/// Appends what the state of such a vocabulary has besides its tokens.
pub(super) fn put_spelled(
    state: &mut Vec<u8>,
    vocab: &Vocab,
    bpe: &SpelledBpe,
    tokens: Option<&CharacterTokens>,
) {
    let ties = tokens.map_or(&[][..], |tokens| &tokens.ties);
    let options = &bpe.options;
    let BpeOptions { prefix, suffix, unknown, dropout, .. } = options;
    let flags = [
        options.fuse_unknown,
        options.byte_fallback,
        options.ignore_merges,
        unknown.is_some(),
        dropout.seed.is_some(),
        !ties.is_empty(),
    ];
    let flags = flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
    let seed = dropout.seed.unwrap_or(0);
    for number in [bpe.spelling as u32, flags, dropout.rate.to_bits(), seed as u32, (seed >> 32) as u32] {
        put(state, number);
    }
    let id = |index: u32| vocab.tokens().id_at(index);
    let names = bpe.names();
    put(state, names.len() as u32);
    for (name, token) in names {
        put(state, id(token));
        put_text(state, name);
    }
    for text in [prefix.as_str(), suffix.as_str(), unknown.as_deref().unwrap_or_default()] {
        put_text(state, text);
    }
    let merges = bpe.merges();
    put(state, merges.len() as u32);
    for ((left, right), made) in merges {
        [left, right, made].iter().for_each(|&index| put(state, id(index)));
    }
    put_list(state, &tokens.map_or_else(Vec::new, |tokens| tokens.outside.iter().copied().collect()));
    put_list(state, &bpe.never_whole.iter().map(|&index| id(index)).collect::<Vec<u32>>());
    if !ties.is_empty() {
        put_list(state, ties);
    }
}

fn put_text(state: &mut Vec<u8>, text: &str) {
    put(state, text.len() as u32);
    state.extend_from_slice(text.as_bytes());
}

/// Reads what [`put_spelled`] wrote after the tokens.
pub(super) fn read_spelled(
    mut state: StateReader<'_>,
    tokens: Vec<(u32, &[u8])>,
    specials: &[SpecialSpec],
) -> Result<Vocab> {
    let spelling = SPELLINGS.get(state.number()? as usize).ok_or(Error::BrokenState)?;
    let flags = state.number()?;
    let flag = |at: usize| flags >> at & 1 == 1;
    let rate = f32::from_bits(state.number()?);
    let seed = u64::from(state.number()?) | u64::from(state.number()?) << 32;
    if flags >> FLAGS != 0 || !(0.0..=1.0).contains(&rate) {
        return Err(Error::BrokenState);
    }
    let (mut texts, mut ids) = (Texts::default(), Vec::new());
    for _ in 0..state.number()? {
        room::push(&mut ids, state.number()?)?;
        texts.push(text(&mut state)?)?;
    }
    let (names, repeated) = Names::new(texts)?;
    let places: FxHashMap<u32, u32> = ids.iter().copied().zip(0..).collect();
    let [prefix, suffix, unknown] = [(); 3].map(|()| text(&mut state).map(str::to_owned));
    let options = BpeOptions {
        prefix: prefix?,
        suffix: suffix?,
        unknown: Some(unknown?).filter(|_| flag(3)),
        fuse_unknown: flag(0),
        byte_fallback: flag(1),
        ignore_merges: flag(2),
        dropout: Dropout { rate, seed: flag(4).then_some(seed) },
    };
    let count = state.number()?;
    let mut merges = state.rows::<3>(count)?;
    for name in merges.as_flattened_mut() {
        *name = *places.get(name).ok_or(Error::BrokenState)?;
    }
    let outside = state.numbers()?.into_iter().collect();
    let never_whole = state.numbers()?;
    let ties = if flag(TIES) { state.numbers()? } else { Vec::new() };
    if !state.0.is_empty() || repeated.is_some() {
        return Err(Error::BrokenState);
    }
    let model = BpeModel { names, ids, merges, ties, options };
    Vocab::of_spelled(*spelling, model, (tokens, outside, never_whole), specials)
}

fn text<'a>(state: &mut StateReader<'a>) -> Result<&'a str> {
    let len = state.number()?;
    std::str::from_utf8(state.take(len as usize)?).map_err(|_| Error::BrokenState)
}

pub(super) fn put(state: &mut Vec<u8>, number: u32) {
    state.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn put_list(state: &mut Vec<u8>, numbers: &[u32]) {
    put(state, numbers.len() as u32);
    numbers.iter().for_each(|&number| put(state, number));
}

/// Reads the parts of a state from its front.
pub(super) struct StateReader<'a>(pub(super) &'a [u8]);

impl<'a> StateReader<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        self.0.split_off(..len).ok_or(Error::BrokenState)
    }

    /// Rows of `N` numbers.
    pub(super) fn rows<const N: usize>(&mut self, count: u32) -> Result<Vec<[u32; N]>> {
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row = [0; N];
            row.iter_mut().try_for_each(|number| self.number().map(|read| *number = read))?;
            room::push(&mut rows, row)?;
        }
        Ok(rows)
    }

    /// A list of numbers with its length in front.
    pub(super) fn numbers(&mut self) -> Result<Vec<u32>> {
        let count = self.number()?;
        Ok(self.rows::<1>(count)?.into_flattened())
    }

    pub(super) fn number(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        bytes.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes)).ok_or(Error::BrokenState)
    }
}
