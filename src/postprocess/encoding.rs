//! Ids with what is known of each: tokens, places, words, types and masks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::run::{Run, RunSource, Span, SpanEdit};
use crate::error::{Error, Result};

/// The ids of one or several texts, as runs of tokens. Tokens, places and words are made from the texts when
/// they are asked for.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Encoding {
    pub(super) runs: Vec<Run>,
    /// The range of the tokens of each sequence, by its number, in the order in which they were set.
    ranges: Vec<(usize, Range<usize>)>,
    /// The parts that truncation has cut off.
    pub overflowing: Vec<Encoding>,
}

impl Encoding {
    /// The encoding of some runs, whose tokens have a type id.
    pub fn of_runs(runs: Vec<Run>, type_id: u32) -> Self {
        let mut encoding = Encoding { runs, ..Encoding::default() };
        encoding.set_type_id(type_id);
        encoding
    }

    /// The number of tokens.
    pub fn token_count(&self) -> usize {
        self.runs.iter().map(Run::len).sum()
    }

    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.runs.iter().flat_map(|run| run.ids().iter().copied())
    }

    pub fn type_ids(&self) -> impl Iterator<Item = u32> {
        self.runs.iter().flat_map(|run| std::iter::repeat_n(run.type_id, run.len()))
    }

    /// Whether each token is not padding.
    pub fn is_attended(&self) -> impl Iterator<Item = bool> {
        self.runs.iter().flat_map(|run| std::iter::repeat_n(run.is_attended, run.len()))
    }

    /// Whether each token was added by a template or by padding.
    pub fn is_added(&self) -> impl Iterator<Item = bool> {
        self.runs.iter().flat_map(|run| std::iter::repeat_n(run.is_added, run.len()))
    }

    /// The token, the span and the word of each id.
    pub fn columns(&self) -> Result<impl Iterator<Item = (&str, Span, Option<u32>)>> {
        let columns = self.runs.iter().map(Run::columns).collect::<Result<Vec<_>>>()?;
        Ok(columns.into_iter().flatten())
    }

    pub fn spans(&self) -> Result<Vec<Span>> {
        Ok(self.columns()?.map(|(_, span, _)| span).collect())
    }

    pub fn words(&self) -> Result<Vec<Option<u32>>> {
        Ok(self.columns()?.map(|(.., word)| word).collect())
    }

    pub fn set_sequence(&mut self, number: usize) {
        self.set_range(number, 0..self.token_count());
    }

    pub(crate) fn set_range(&mut self, number: usize, range: Range<usize>) {
        match self.ranges.iter_mut().find(|(known, _)| *known == number) {
            Some((_, known)) => *known = range,
            None => self.ranges.push((number, range)),
        }
    }

    /// Makes all tokens those of one sequence alone, and of no template.
    pub(super) fn set_only_sequence(&mut self, number: usize) {
        self.ranges = vec![(number, 0..self.token_count())];
        self.runs.iter_mut().for_each(|run| run.is_added = false);
    }

    pub(super) fn set_type_id(&mut self, type_id: u32) {
        self.runs.iter_mut().for_each(|run| run.type_id = type_id);
    }

    /// Sets the number of the text that all runs of a text are from.
    pub(super) fn set_text(&mut self, number: usize) {
        self.runs.iter_mut().for_each(|run| run.text = run.text.map(|_| number));
    }

    /// Leaves whitespace at the ends of tokens out of their spans, in overflowing parts too.
    pub(super) fn trim(&mut self, is_prefixed: bool) {
        let mut at = 0;
        for run in &mut self.runs {
            run.trim(is_prefixed, at == 0);
            at += run.len();
        }
        self.overflowing.iter_mut().for_each(|part| part.trim(is_prefixed));
    }

    fn slice(&self, range: &Range<usize>) -> Encoding {
        let (mut runs, mut at) = (Vec::new(), 0);
        for run in &self.runs {
            let (low, high) = (range.start.saturating_sub(at), range.end.saturating_sub(at).min(run.len()));
            if low < high {
                runs.push(run.part(low..high));
            }
            at += run.len();
        }
        Encoding { runs, ..Encoding::default() }
    }

    /// Keeps `max` tokens at the start, or at the end if `from_left`; the others become
    /// [overflowing](Self::overflowing) parts, each with `stride` tokens of the one before.
    ///
    /// # Errors
    /// [`Error::Invalid`], if `stride` is not below `max`.
    pub fn truncate(&mut self, max: usize, stride: usize, from_left: bool) -> Result<()> {
        let count = self.token_count();
        if max >= count {
            return Ok(());
        }
        if max == 0 {
            let whole = std::mem::take(self);
            self.overflowing = vec![whole];
            return Ok(());
        }
        if stride >= max {
            return Err(Error::Invalid(format!(
                "stride ({stride}) must be less than the length to truncate to ({max})"
            )));
        }
        let windows = windows(count, max, max - stride, from_left);
        let mut parts: Vec<_> = windows.map(|range| self.slice(&range)).collect();
        *self = parts.remove(0);
        self.overflowing = parts;
        Ok(())
    }

    /// Fills up to `length` tokens, and so each overflowing part.
    pub fn pad(&mut self, length: usize, on_left: bool, id: u32, type_id: u32, token: &str) {
        self.overflowing.iter_mut().for_each(|part| part.pad(length, on_left, id, type_id, token));
        let missing = length.saturating_sub(self.token_count());
        if missing == 0 {
            return;
        }
        let run = Run::of_added(vec![id; missing], RunSource::Repeated(token.into()), type_id);
        let run = Run { is_attended: false, ..run };
        if !on_left {
            self.runs.push(run);
            return;
        }
        self.runs.insert(0, run);
        for (_, range) in &mut self.ranges {
            *range = range.start + missing..range.end + missing;
        }
    }

    /// Appends another encoding; every overflowing part of each is combined with every part of the other.
    /// With `is_growing` the spans continue after the last one.
    pub(crate) fn append(&mut self, other: &Encoding, is_growing: bool) -> Result<()> {
        let mut overflowing = Vec::new();
        for part in &self.overflowing {
            for follower in std::iter::once(other).chain(&other.overflowing) {
                overflowing.push(part.clone());
                overflowing.last_mut().into_iter().try_for_each(|last| last.append(follower, is_growing))?;
            }
        }
        for follower in &other.overflowing {
            let mut whole = self.clone();
            whole.append(follower, is_growing)?;
            overflowing.push(whole);
        }
        let count = self.token_count();
        for (number, range) in &other.ranges {
            self.set_range(*number, range.start + count..range.end + count);
        }
        let by = if is_growing { self.spans()?.last().map_or(0, |span| span.1) } else { 0 };
        for run in &other.runs {
            let mut run = run.clone();
            if by > 0 {
                run.edits.push(SpanEdit::Shift(by));
            }
            self.runs.push(run);
        }
        self.overflowing = overflowing;
        Ok(())
    }

    pub fn merged<'e>(encodings: impl IntoIterator<Item = &'e Encoding>, is_growing: bool) -> Result<Self> {
        let mut merged = Encoding::default();
        encodings.into_iter().try_for_each(|encoding| merged.append(encoding, is_growing))?;
        Ok(merged)
    }

    // Where something is: tokens of characters and words, and the other way round.

    pub fn sequences(&self) -> usize {
        self.ranges.len().max(1)
    }

    /// The number of the sequence of each token.
    pub fn sequence_ids(&self) -> Vec<Option<usize>> {
        let mut ids = vec![None; self.token_count()];
        for number in 0..self.sequences() {
            for id in ids.get_mut(self.range_of(number)).into_iter().flatten() {
                *id = Some(number);
            }
        }
        ids
    }

    /// The range of the tokens of a sequence: all of them, if it has none of its own.
    fn range_of(&self, sequence: usize) -> Range<usize> {
        let range = self.ranges.iter().find(|(number, _)| *number == sequence);
        range.map_or(0..self.token_count(), |(_, range)| range.start..range.end.min(self.token_count()))
    }

    pub fn token_to_sequence(&self, token: usize) -> Option<usize> {
        if token > self.token_count() {
            return None;
        }
        if self.ranges.is_empty() {
            return Some(0);
        }
        self.ranges.iter().find(|(_, range)| range.contains(&token)).map(|(number, _)| *number)
    }

    pub fn token_to_chars(&self, token: usize) -> Result<Option<Span>> {
        let is_known = self.token_to_sequence(token).is_some();
        Ok(if is_known { self.spans()?.get(token).copied() } else { None })
    }

    pub fn token_to_word(&self, token: usize) -> Result<Option<u32>> {
        let is_known = self.token_to_sequence(token).is_some();
        Ok(if is_known { self.words()?.get(token).copied().flatten() } else { None })
    }

    pub fn char_to_token(&self, character: usize, sequence: usize) -> Result<Option<usize>> {
        let spans = self.spans()?;
        Ok(self.range_of(sequence).find(|&at| (spans[at].0..spans[at].1).contains(&character)))
    }

    pub fn char_to_word(&self, character: usize, sequence: usize) -> Result<Option<u32>> {
        match self.char_to_token(character, sequence)? {
            Some(token) => self.token_to_word(token),
            None => Ok(None),
        }
    }

    /// The first token of a word, and the one after its last.
    pub fn word_to_tokens(&self, word: u32, sequence: usize) -> Result<Option<Span>> {
        let words = self.words()?;
        let until = self.range_of(sequence).take_while(|&at| words[at].is_none_or(|other| other <= word));
        let mut tokens = until.filter(|&at| words[at] == Some(word));
        let first = tokens.next();
        Ok(first.map(|first| (first, tokens.last().unwrap_or(first) + 1)))
    }

    pub fn word_to_chars(&self, word: u32, sequence: usize) -> Result<Option<Span>> {
        let Some((first, end)) = self.word_to_tokens(word, sequence)? else { return Ok(None) };
        let spans = self.spans()?;
        Ok(Some((spans[first].0, spans[end - 1].1)))
    }
}

/// The parts of `count` tokens: of `size`, each `step` further, up to the first that reaches the end.
fn windows(count: usize, size: usize, step: usize, from_left: bool) -> impl Iterator<Item = Range<usize>> {
    (0..=(count - size).div_ceil(step)).map(move |number| {
        let (start, end) = (number * step, count.min(number * step + size));
        if from_left { count - end..count - start } else { start..end }
    })
}
