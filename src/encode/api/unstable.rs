//! Text that may continue: which ids at its end could be changed by text that follows, and what these ids
//! could become.
//!
//! The rules are those of tiktoken, although they are rough and tiktoken itself calls them unstable: a caller
//! who switches between the two libraries gets the same answers.

use std::collections::HashSet;
use std::ops::Range;

use crate::control::Control;
use crate::decode::decode;
use crate::encode::encoder::{Encoder, Request};
use crate::encode::special_set::{ActiveSpecials, SpecialTokens};
use crate::error::Result;
use crate::pretokenize::class::{char_start, decode_char};
use crate::room;
use crate::special::Segment;
use crate::vocab::Vocab;

/// The ordinary tokens in the order of their bytes, to find those that begin with given bytes.
pub(super) struct SortedTokens {
    indices: Vec<u32>,
}

/// Ids that stay, and the sequences of ids that may follow them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The ids that stay.
    pub stable: Vec<u32>,
    /// Each is the first ids of a text that begins with the rest of this text, as many as are needed to cover
    /// that rest. No sequence occurs twice.
    pub completions: HashSet<Vec<u32>>,
}

impl SortedTokens {
    /// Sorts the tokens of a vocabulary.
    pub(super) fn new(vocab: &Vocab) -> Self {
        let tokens = vocab.tokens();
        // In SentencePiece's models and others, special tokens are in the vocabulary, too.
        let special: HashSet<u32> = vocab.special_ids().iter().copied().collect();
        let mut indices: Vec<u32> = (0..tokens.len() as u32)
            .filter(|&index| vocab.ordinary_index(tokens.bytes_at(index)) == Some(index))
            .filter(|&index| !special.contains(&tokens.id_at(index)))
            .collect();
        indices.sort_unstable_by_key(|&index| tokens.bytes_at(index));
        SortedTokens { indices }
    }

    /// The bytes of all tokens, in order.
    pub(super) fn iter<'a>(&'a self, vocab: &'a Vocab) -> impl Iterator<Item = &'a [u8]> {
        self.indices.iter().map(|&index| vocab.tokens().bytes_at(index))
    }

    /// The tokens that begin with `prefix`: their ids and bytes.
    pub(super) fn beginning<'a>(
        &'a self,
        vocab: &'a Vocab,
        prefix: &'a [u8],
    ) -> impl Iterator<Item = (u32, &'a [u8])> {
        let tokens = vocab.tokens();
        let first = self.indices.partition_point(|&index| tokens.bytes_at(index) < prefix);
        self.indices[first..]
            .iter()
            .map(|&index| (tokens.id_at(index), tokens.bytes_at(index)))
            .take_while(move |(_, token)| token.starts_with(prefix))
    }
}

impl Encoder {
    /// The ids of `text` that no text after it can change, and the sequences of ids that could come next.
    ///
    /// Cost: for each byte of the last pretoken, one encoding for every token that begins with the bytes
    /// after it.
    pub(super) fn encode_with_unstable<'a>(
        &'a self,
        text: &str,
        special: impl Into<SpecialTokens<'a>>,
        sorted: &SortedTokens,
        control: &Control,
    ) -> Result<Completions> {
        let (mut stable, unstable) =
            self.split_unstable(text.as_bytes(), self.active(special.into()), control)?;
        let mut completions = HashSet::new();
        if let Some(tail) = stable.get(unstable..).filter(|tail| !tail.is_empty()) {
            let tail = decode(&self.vocab, tail, control)?;
            self.complete(&tail, sorted, &mut completions, control)?;
        }
        stable.truncate(unstable);
        Ok(Completions { stable, completions })
    }

    /// The ids of bytes that may end, or break, inside a character. The bytes before the first one that is
    /// not UTF-8 are encoded as text; the last pretoken of this text and all bytes after it are encoded as
    /// one piece.
    pub fn encode_broken(&self, data: &[u8], control: &Control) -> Result<Vec<u32>> {
        let valid = match std::str::from_utf8(data) {
            Ok(_) => return self.encode_to_vec(data, false, control),
            Err(error) => error.valid_up_to(),
        };
        let (mut ids, unstable) =
            self.split_unstable(&data[..valid], self.active(SpecialTokens::None), control)?;
        let mut tail = decode(&self.vocab, &ids[unstable..], control)?;
        room::extend(&mut tail, &data[valid..])?;
        ids.truncate(unstable);
        room::extend(&mut ids, &self.encode_as_pretoken(&tail, control)?)?;
        Ok(ids)
    }

    /// All ids of `text`, and how many of them no text that follows can change.
    fn split_unstable(
        &self,
        text: &[u8],
        active: ActiveSpecials<'_>,
        control: &Control,
    ) -> Result<(Vec<u32>, usize)> {
        let mut ids = Vec::new();
        self.answer(Request::alone(text, active, true), &mut ids, control)?;
        let last = match self.last_pretoken(text, active, control)? {
            Some(range) => self.encode_as_pretoken(&text[range], control)?.len(),
            None => 0,
        };
        let mut stable = ids.len() - last;
        // Text that follows may change where runs of whitespace are cut.
        if last > 0 && self.is_blank(ids[stable]) {
            stable = ids[..stable].iter().rposition(|&id| !self.is_blank(id)).map_or(0, |at| at + 1);
        }
        Ok((ids, stable))
    }

    /// The last pretoken after the last special token.
    fn last_pretoken(
        &self,
        text: &[u8],
        active: ActiveSpecials<'_>,
        control: &Control,
    ) -> Result<Option<Range<usize>>> {
        let mut last = None;
        if let Some(Segment::Text(range)) = active.search.segments(text, control).last().transpose()? {
            self.pretokenizer.for_each(&text[range.clone()], |pretoken| {
                last = Some(range.start + pretoken.start..range.start + pretoken.end);
                Ok(())
            })?;
        }
        Ok(last)
    }

    /// Whether an id is an ordinary token of spaces, newlines and tabs alone.
    fn is_blank(&self, id: u32) -> bool {
        let token = self.vocab.tokens().get(id).unwrap_or_default();
        token.iter().all(|byte| b" \n\t".contains(byte)) && self.vocab.ordinary_id(token) == Some(id)
    }

    /// Adds the sequences of ids that could come in place of those of `tail`, which must not be empty.
    fn complete(
        &self,
        tail: &[u8],
        sorted: &SortedTokens,
        completions: &mut HashSet<Vec<u32>>,
        control: &Control,
    ) -> Result<()> {
        completions.extend(sorted.beginning(&self.vocab, tail).map(|(id, _)| vec![id]));
        for at in 1..tail.len() {
            control.check()?;
            for (_, token) in sorted.beginning(&self.vocab, &tail[at..]) {
                let possible = [&tail[..at], token].concat();
                // After the end of `tail` the pattern may cut where it did not cut before.
                let mut ids = match std::str::from_utf8(&possible) {
                    Ok(_) => self.encode_to_vec(&possible, false, control)?,
                    Err(_) => self.merge_bytes(&possible, control)?,
                };
                ids.truncate(self.reaching(&ids, tail.len()));
                completions.insert(ids);
            }
        }
        // The last whitespace character can become a pretoken of its own: "\n\n" is cut in two before "0".
        let last = char_start(tail, tail.len());
        if last > 0 && decode_char(tail, last).0.is_space() {
            let (before, blank) = tail.split_at(last);
            let mut ids = self.merge_bytes(before, control)?;
            room::extend(&mut ids, &self.merge_bytes(blank, control)?)?;
            completions.insert(ids);
        }
        Ok(())
    }

    /// How many of `ids` it takes until they stand for `bytes` bytes.
    fn reaching(&self, ids: &[u32], bytes: usize) -> usize {
        let mut seen = 0;
        let enough = ids.iter().position(|&id| {
            seen += self.vocab.tokens().get(id).map_or(0, <[u8]>::len);
            seen >= bytes
        });
        enough.map_or(ids.len(), |at| at + 1)
    }
}
